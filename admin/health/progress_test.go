package health

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestProgress: a kind is done once it is served by the present folder, and failed
// where nothing goes on by itself; of several operators the one counts that is furthest
// from done.
func TestProgress(t *testing.T) {
	present := &folder.Folder{Digest: "0123456789abcdef0123"}
	told := func(state verdict.State, message string) heartbeat.Kind {
		return heartbeat.Kind{Name: "webs.example.com", Digest: present.Digest[:16], State: state, Message: message}
	}
	old := told(verdict.RolloutStopped, "not ready again")
	old.Digest = "another"
	done, failed := Progress{Done: true, Message: "Serving"}, Progress{Failed: true, Message: "RolloutStopped: not ready again"}
	for name, c := range map[string]struct {
		told    heartbeat.Kind
		present *folder.Folder
		leader  verdict.State
		want    Progress
	}{
		"served":                       {told(verdict.Serving, ""), present, verdict.Leading, done},
		"served, its folder not known": {told(verdict.Serving, ""), nil, verdict.Leading, done},
		"forced":                       {told(verdict.Serving, "forced"), present, verdict.Leading, Progress{Done: true, Message: "Serving: forced"}},
		"stopped":                      {told(verdict.RolloutStopped, "not ready again"), present, verdict.Leading, failed},
		"stopped before":               {old, present, verdict.Leading, Progress{Message: "the operator has not loaded the present folder yet"}},
		"broken":                       {told(verdict.FolderInvalid, "a.yaml:1"), present, verdict.Leading, Progress{Failed: true, Message: "FolderInvalid: a.yaml:1"}},
		"on its way":                   {told(verdict.RollingOut, "1 of 2"), present, verdict.Leading, Progress{Message: "RollingOut: 1 of 2"}},
		"without its CRD":              {told(verdict.CRDMissing, ""), present, verdict.Leading, Progress{Message: "CRDMissing"}},
		"paused":                       {told(verdict.Paused, ""), present, verdict.Leading, Progress{Message: "Paused"}},
		"with an operator that may have ended": {told(verdict.Serving, ""), present, verdict.LeaseOverdue,
			Progress{Message: "it is not known whether its operator runs: the Lease of the leader is not renewed"}},
		"stopped by an operator that may have ended": {told(verdict.RolloutStopped, "not ready again"), present, verdict.LeaseOverdue,
			Progress{Message: "it is not known whether its operator runs: the Lease of the leader is not renewed"}},
		"without an operator":        {told(verdict.Serving, ""), present, verdict.LeaseExpired, Progress{Message: "its operator does not run"}},
		"of a leader that is unread": {told(verdict.Serving, ""), present, verdict.LeaderUnknown, done},
	} {
		if got := judgeProgress(c.told, c.present, Leader{State: c.leader}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	waits := Progress{Message: "RollingOut"}
	for _, c := range []struct {
		all  []Progress
		want Progress
	}{{[]Progress{done}, done}, {[]Progress{done, waits}, waits}, {[]Progress{waits, failed, done}, failed}} {
		if got := joinProgress(c.all); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.all, got, c.want)
		}
	}
}

// TestNewerThanReport: what a report says counts only as far as the CRD records nothing
// that is newer.
func TestNewerThanReport(t *testing.T) {
	stopped := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "new"}}, State: rollout.Stopped, Reason: rollout.Deletes, DeletionCount: 2, Stop: "new/Deletes/w"}
	running := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "new"}}, State: rollout.Running}
	complete := rollout.Record{Revisions: []rollout.Revision{{Digest: "new"}}, State: rollout.Complete}
	back := rollout.Rollback{To: "old", From: "new", Request: "r"}
	takenIn := rollout.Record{Revisions: []rollout.Revision{{Digest: "old"}}, State: rollout.Complete, Rollback: "r"}
	rollingBack := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "old"}}, State: rollout.Running, Rollback: "r"}
	for name, c := range map[string]struct {
		record   rollout.Record
		approved string
		back     rollout.Rollback
		told     verdict.State
		revision string
		want     string
	}{
		"a stop":                               {stopped, "", rollout.Rollback{}, verdict.RolloutStopped, "new", ""},
		"an approval that is not taken in":     {stopped, stopped.Stop, rollout.Rollback{}, verdict.RolloutStopped, "new", "the operator has not taken in the approval yet"},
		"an approval of another stop":          {stopped, "other", rollout.Rollback{}, verdict.RolloutStopped, "new", ""},
		"an approval that is taken in":         {running, "", rollout.Rollback{}, verdict.RolloutStopped, "new", "are reached"},
		"what was approved is complete":        {complete, "", rollout.Rollback{}, verdict.RolloutStopped, "new", "not reported yet"},
		"a changed folder":                     {running, "", rollout.Rollback{}, verdict.Serving, "new", "are reached"},
		"served":                               {complete, "", rollout.Rollback{}, verdict.Serving, "new", ""},
		"broken during a rollout":              {running, "", rollout.Rollback{}, verdict.FolderInvalid, "new", ""},
		"a rollback that is not taken in":      {complete, "", back, verdict.Serving, "new", "the operator has not taken in the rollback yet"},
		"a rollback that is not reported":      {takenIn, "", back, verdict.Serving, "new", "not reported yet"},
		"the folder is the revision":           {takenIn, "", back, verdict.Serving, "old", ""},
		"a rollback that is under way":         {rollingBack, "", back, verdict.RolledBack, "new", "are reached"},
		"rolled back":                          {takenIn, "", back, verdict.RolledBack, "new", ""},
		"rolled back by the operator":          {takenIn, "", back, verdict.RolledBackOnFailure, "new", ""},
		"its end is not known":                 {takenIn, "", rollout.Rollback{}, verdict.RolledBackOnFailure, "new", "the end of the rollback"},
		"a rollback whose end is not known":    {takenIn, "", rollout.Rollback{}, verdict.RolledBack, "new", "the end of the rollback"},
		"a rollback whose end is not reported": {complete, "", rollout.Rollback{}, verdict.RolledBack, "new", "the end of the rollback"},
	} {
		mine := shard.Shard{Identity: "ops/jacquard"}
		crd := &metav1.ObjectMeta{Annotations: map[string]string{mine.Key(api.AnnotationRollout): c.record.String()}}
		if c.approved != "" {
			crd.Annotations[mine.Key(api.AnnotationApproved)] = c.approved
		}
		if c.back != (rollout.Rollback{}) {
			crd.Annotations[mine.Key(api.AnnotationRollback)] = c.back.String()
		}
		got := describeNewer(crd, mine, heartbeat.Kind{Name: "webs.example.com", State: c.told, Revision: c.revision})
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
