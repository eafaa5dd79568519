package reconcile

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// ObserveDeletion notes how a resource is being deleted. The garbage collector takes the
// finalizer that says so off when it is done, which may be before the resource is
// reconciled.
func (r *Reconciler) ObserveDeletion(resource metav1.Object) {
	if resource.GetDeletionTimestamp() == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	uid := resource.GetUID()
	switch finalizers := resource.GetFinalizers(); {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		r.deletions[uid] = metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents) && r.deletions[uid] == "":
		r.deletions[uid] = metav1.DeletePropagationForeground
	}
}

// setDeletion fills in what the plan of a resource that is being deleted depends on.
func (t *reconciliation) setDeletion(in *plan.Input, view *observe.Snapshot) {
	t.r.ObserveDeletion(t.subject.Resource)
	t.r.mu.Lock()
	in.IsDeleting, in.Propagation = true, t.r.deletions[t.subject.Resource.GetUID()]
	t.r.mu.Unlock()
	in.RecordedOrphaning, in.Reported = t.subject.RecordedOrphaning(), t.subject.ReportedChildren()
	in.KindsUnknown = len(view.UnknownChildren()) > 0 || len(in.Doubtful) > 0
	if t.memory.deletionSeenAt.IsZero() {
		t.memory.deletionSeenAt = in.Now
	}
	in.DeletionSeenAt = t.memory.deletionSeenAt
}

// reportReferences records an event once the children have, or lack, the owner references
// that the resource's annotation on-delete asks for since it was changed. Until then a
// deletion would keep or delete what it should not.
func (t publisher) reportReferences(view *observe.Snapshot) {
	owner, before := t.subject.Owner(), t.memory.keepsChildren
	if t.subject.IsDeleting() || before != nil && *before == owner.Keeps || !plan.ReferencesFit(owner, view.Live) {
		return
	}
	t.memory.keepsChildren = &owner.Keeps
	switch {
	case before == nil:
	case owner.Keeps:
		t.recordEvent(corev1.EventTypeNormal, api.ReasonOwnerReferencesRemoved,
			"the children have no owner reference any more, as "+api.AnnotationOnDelete+": keep asks for: they stay when this resource is deleted")
	default:
		t.recordEvent(corev1.EventTypeNormal, api.ReasonOwnerReferencesRestored,
			"this resource has no "+api.AnnotationOnDelete+": keep any more, and its children have their owner reference again: they are deleted with it")
	}
}

// reportOutliving tells, once a resource goes, of children that outlive it although it did
// not ask for that.
func (t publisher) reportOutliving(p *plan.Plan) {
	if t.subject.RecordedOrphaning() != p.Orphaning { // else it was told when it was recorded
		t.reportInferred(p)
	}
	if all := p.RetainedFor(plan.NoReference); len(all) > 0 {
		t.recordEvent(corev1.EventTypeWarning, api.ReasonChildrenNotDeleted, "they have no owner reference to this resource, so nothing proves that they are its children: "+
			joinRefs(refsOf(all))+"; jacquard sweep "+t.r.name+" lists them")
	}
}

// reportInferred tells that orphaning was inferred, what is deleted all the same, and what
// stays.
func (t *pass) reportInferred(p *plan.Plan) {
	if p.Orphaning != plan.OrphanInferred {
		return
	}
	note := "no child has an owner reference to this resource any more, as after a deletion with --cascade=orphan, so the children are kept: " +
		joinRefs(refsOf(p.RetainedFor(plan.Orphaned)))
	if len(p.Remaining) > 0 {
		note = "deleted, since they grant permissions: " + joinRefs(p.Remaining) + "; " + note
	}
	t.recordEvent(corev1.EventTypeWarning, api.ReasonOrphaningInferred, note)
}

// refsOf refers to live objects.
func refsOf(all []live.Object) (refs []plan.Ref) {
	for _, l := range all {
		refs = append(refs, plan.RefOf(l))
	}
	return refs
}

func joinRefs(refs []plan.Ref) string {
	texts := make([]string, len(refs))
	for i, r := range refs {
		texts[i] = r.String()
	}
	return strings.Join(texts, ", ")
}
