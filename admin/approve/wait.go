package approve

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// Progress returns how far the rollout is since an approval of the stop was written, by
// the kind's CRD. The operator takes the approval off with the record that has taken it
// in, so what is recorded before that counts for nothing.
func (s *Stop) Progress(crd metav1.Object) health.Progress {
	now := rollout.ReadRecord(crd.GetAnnotations(), s.of.Key)
	stopped, present := s.Record.Target().Digest, now.Target().Digest
	switch {
	case crd.GetAnnotations()[s.of.Key(api.AnnotationApproved)] != "":
		return health.Progress{Message: "the operator has not taken in the approval yet"}
	case present != stopped:
		return health.Progress{Failed: true, Message: "the folder changed meanwhile, from " + stopped + " to " + present}
	}
	return health.ProgressByRecord(now, s.Kind, "Serving: every resource is served by the folder")
}
