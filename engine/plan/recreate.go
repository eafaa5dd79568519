package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A child is recreated, that is deleted and created again, for one of three reasons:
//
//   - it ended Failed, and its file says on-failed: recreate (mustRecreate);
//   - it is made once, such as a Job, and its file renders something else now (mustRecreate);
//   - the API server has refused to change the object to what its file renders now, which
//     became known when the last plan was executed (RecreateImmutable).
//
// planStep asks for each of them. The plan after the deletion creates the child.

// mustRecreate reports whether a child of ours has to be recreated whatever the API server would
// say, and why.
func mustRecreate(s *Step) (why string, recreate bool) {
	policy, o := s.Child.Policy, s.Live
	switch {
	case policy.RecreateOnFailed && hasFailedPhase(o.Body):
		return "it ended Failed", true
	case policy.Once && o.Meta.GetAnnotations()[api.AnnotationDesired] != s.Hash:
		return "the template renders something else now", true
	}
	return "", false
}

// RecreateImmutable turns a step that creates or updates a child into a Recreate if the API
// server has refused to change this object to this content, or into a Block if it may not be
// deleted: a Secret with texts that were generated once needs the permission of the resource,
// and during a rollout every deletion needs that of the rollout. A step that creates the child
// has an object that the cache does not show yet.
func (in *Input) RecreateImmutable(s *Step) {
	r, found := in.Recreations[s.Ref()]
	if !found || r.Hash != s.Hash || s.Live != nil && s.Live.Meta.GetUID() != r.Object.GetUID() {
		return
	}
	s.Recreation = &r
	gk := s.Document.GroupVersionKind().GroupKind()
	isGenerated := gk == secrets.GroupKind() && in.Draws != nil && in.Draws(s.Child.File)
	if isGenerated && !isAllowed(in.AllowPrune, gk, r.Object) {
		s.markBlocked(status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneBlocked, Message: fmt.Sprintf(
			"the API refuses to change it, and it is not recreated, since what was drawn for it would be lost; "+
				"to allow it, annotate this resource with %s=%s", api.AnnotationAllowPrune, Allowance(gk, r.Object))})
		return
	}
	if in.MayDelete != nil {
		if err := in.MayDelete(gk, r.Object); err != nil {
			s.markBlocked(status.Problem{Severity: status.Waiting, Reason: api.ReasonApprovalRequired, Message: err.Error()})
			return
		}
	}
	s.Action, s.Why = Recreate, "the API refuses to change it: "+r.Why
}

// Recreated returns the object that is deleted to be created again.
func (s *Step) Recreated() metav1.Object {
	if s.Recreation != nil {
		return s.Recreation.Object
	}
	return s.Live.Meta
}
