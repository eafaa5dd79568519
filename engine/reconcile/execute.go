package reconcile

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// executePlan carries out a plan, and learns from the results.
func (t *reconciliation) executePlan(ctx context.Context, p *plan.Plan) {
	t.found.problems = append(t.found.problems, p.Problems...)
	t.found.requeueAfter(p.Requeue)
	t.countSkipped(p)
	writer, err := t.resourceWriter()
	if err != nil {
		t.notRecorded(err)
		p.HoldBack()
	}
	p.DelayUnapproved(t.mayDelete)
	t.memory.adoptAttempts(p.Attempts)
	t.learnResults(p, apply.Execute(ctx, writer, p))
}

// resourceWriter returns what carries out plans of the resource. With an error, it can still
// change the resource itself.
func (t *reconciliation) resourceWriter() (apply.ResourceWriter, error) {
	children, err := t.childWriter()
	applied := t.memory.applied
	return apply.NewResourceWriter(t.r.cluster.Writer, apply.ResourceOf{
		Resource: t.subject.Resource, Self: func() (live.Resource, bool) { return t.r.cluster.Resource(t.r.gvk) },
		Owner: t.subject.Owner(), Children: children, IsDeleting: t.subject.IsDeleting(),
		Served:     func(gvk schema.GroupVersionKind) (live.Resource, bool) { return t.r.cluster.Served().Resource(gvk) },
		WasApplied: func(uid types.UID) bool { _, found := applied[uid]; return found },
	}), err
}

// schemaOfKind identifies what a CRD says of the objects of a kind; "" of a kind without CRD.
func (t *pass) schemaOfKind(gvk schema.GroupVersionKind) string {
	served, found := t.r.cluster.Served().Resource(gvk)
	if !found {
		return ""
	}
	return schemaOf(t.r.cluster.CRD(served.GVR.GroupResource().String()))
}

// schemaOf identifies what a CRD says of its objects; "" of a kind without CRD.
func schemaOf(crd metav1.Object) string {
	if crd == nil {
		return ""
	}
	return fmt.Sprintf("%s/%d", crd.GetUID(), crd.GetGeneration())
}

// wasMade reports whether this process has written, or seen, a child before.
func (t *reconciliation) wasMade(child plan.Ref) bool {
	_, made := t.memory.made[child]
	return made
}

// childWriter returns a writer of children, which acts as the account that the folder names.
func (t *pass) childWriter() (*apply.Writer, error) {
	account := t.subject.Settings().ServiceAccountName
	if account == "" {
		return t.r.cluster.Writer, nil
	}
	return t.r.cluster.Writer.As(t.subject.Resource.GetNamespace(), account)
}
