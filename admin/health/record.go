package health

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// ProgressByRecord returns how far a rollout is by its record, for a command that waits
// for its end. kind is the name of the CRD, and done says what the end is.
func ProgressByRecord(r rollout.Record, kind, done string) Progress {
	switch r.State {
	case rollout.Complete:
		return Progress{Done: true, Message: done + r.PassedText()}
	case rollout.Stopped:
		return Progress{Failed: true, Message: "RolloutStopped: " + r.Text(kind)}
	case rollout.Removed:
		return Progress{Failed: true, Message: r.Text(kind)}
	}
	return Progress{Message: "RollingOut: " + r.Text(kind)}
}

// readNewer returns what the CRD of a kind tells that the report of an installation does
// not yet, or "": reports are written some seconds after the CRD.
func (l *look) readNewer(ctx context.Context, i *Installation, told heartbeat.Kind) string {
	crd, err := l.CRD(ctx, told.Name)
	if err != nil || crd == nil {
		return ""
	}
	for _, claim := range shard.Claims(crd) {
		if claim.Identity == i.Identity {
			return describeNewer(crd, claim.Shard, told)
		}
	}
	return ""
}

// describeNewer returns in which way a reported state is older than what the CRD records,
// or "": an approval or a rollback that the operator has not taken in, or that it has not
// reported. The kind is then RollingOut.
func describeNewer(crd metav1.Object, mine shard.Shard, told heartbeat.Kind) string {
	annotations := crd.GetAnnotations()
	now := rollout.ReadRecord(annotations, mine.Key)
	back := rollout.ParseRollback(annotations[mine.Key(api.AnnotationRollback)])
	approval := rollout.ParseApproval(annotations[mine.Key(api.AnnotationApproved)])
	isBack := back != rollout.Rollback{}
	switch {
	case isBack && back.Request != now.Rollback:
		return "the operator has not taken in the rollback yet"
	case !isBack && (now.Rollback != "" || told.State.IsRolledBack()):
		return "the operator has not taken in the end of the rollback yet"
	case approval.Stop != "" && now.State == rollout.Stopped && approval.Stop == now.Stop:
		return "the operator has not taken in the approval yet"
	case now.IsUnfinished() && now.State != rollout.Stopped && endsByRecord(told.State):
		return now.Text(told.Name)
	case now.State == rollout.Complete && told.State.IsApprovable(),
		isBack && told.State == verdict.Serving && told.Revision != back.To: // else the folder is that of the revision again
		return "the operator has not reported yet that its rollout is complete"
	}
	return ""
}

// endsByRecord reports whether a kind is not in a reported state any more once its CRD
// records something newer. A folder that does not load stays so.
func endsByRecord(state verdict.State) bool {
	return state.IsApprovable() || state == verdict.Serving || state.IsRolledBack()
}
