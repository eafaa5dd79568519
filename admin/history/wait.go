package history

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// Progress returns how far a plan is that was written, by the kind's CRD. What the CRD
// records of a time before that counts for nothing.
func (h *History) Progress(p *Plan, crd metav1.Object) health.Progress {
	annotations, mine := crd.GetAnnotations(), h.kind.Share
	now := rollout.ReadRecord(annotations, mine.Key)
	back := rollout.ParseRollback(annotations[mine.Key(api.AnnotationRollback)])
	if p.Revision == nil {
		return progressOfRelease(p, back, now, h.Kind)
	}
	switch {
	case back == (rollout.Rollback{}):
		return health.Progress{Failed: true, Message: "the rollback has ended: its folder changed, or somebody released it"}
	case back.Request != p.back.Request:
		return health.Progress{Failed: true, Message: "somebody rolled it back again meanwhile"}
	case now.Rollback != p.back.Request || now.Target().Digest != back.To:
		return health.Progress{Message: "the operator has not taken in the rollback yet"}
	}
	return health.ProgressByRecord(now, h.Kind, "RolledBack: every resource is served by revision "+back.To)
}

// progressOfRelease returns how far the end of a rollback is.
func progressOfRelease(p *Plan, back rollout.Rollback, now rollout.Record, kind string) health.Progress {
	switch {
	case back != (rollout.Rollback{}):
		return health.Progress{Failed: true, Message: "somebody rolled it back again meanwhile"}
	case now.Rollback != "", now.Target().Digest == p.back.To && p.Target != p.back.To:
		return health.Progress{Message: "the operator has not taken in the end of the rollback yet"}
	}
	return health.ProgressByRecord(now, kind, "Serving: every resource is served by the folder")
}
