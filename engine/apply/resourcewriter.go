package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// A ResourceOf is what a Writer needs to know of the resource whose plans it carries out.
type ResourceOf struct {
	// Resource is as it was seen last, of the kind Self.
	Resource *unstructured.Unstructured
	Self     func() (live.Resource, bool)
	Owner    plan.Owner
	// Children writes children and patches, if another account does than changes the resource.
	Children *Writer
	// IsDeleting is true if the resource is being deleted: its children are then deleted in the
	// foreground, so that what comes later in the order comes after their dependents too.
	IsDeleting bool
	// Served returns how the cluster serves a kind.
	Served func(schema.GroupVersionKind) (live.Resource, bool)
	// WasApplied reports whether this process has applied the object with this uid, or patched
	// the one with this [plan.PatchKey]. It may be called by several goroutines.
	WasApplied func(types.UID) bool
}

// NewResourceWriter returns what carries out the plans of a resource.
func NewResourceWriter(w *Writer, r ResourceOf) ResourceWriter {
	return &resourceWriter{own: w, to: cmp.Or(r.Children, w), ResourceOf: r}
}

// A resourceWriter changes the resource itself by its Writer own, and all other objects by to.
type resourceWriter struct {
	own, to *Writer
	ResourceOf
}

// WriteMetadata changes the annotations and finalizers of the resource. Finalizers are only
// changed if nobody has changed the resource meanwhile.
func (w *resourceWriter) WriteMetadata(ctx context.Context, m plan.Metadata) (out plan.Outcome) {
	served, found := w.Self()
	if !found {
		return plan.Outcome{Err: fmt.Errorf("the cluster does not have %s any more", w.Owner.GVK.Kind)}
	}
	fields, others := map[string]any{}, w.Resource.GetFinalizers()
	if len(m.Annotations) > 0 {
		fields["annotations"] = m.Annotations
	}
	if m.Finalizer != "" {
		others = slices.DeleteFunc(slices.Clone(others), func(f string) bool { return f == api.Finalizer })
		if m.Finalizer == plan.AddFinalizer {
			others = append(others, api.Finalizer)
		}
		fields["finalizers"], fields["resourceVersion"] = others, w.Resource.GetResourceVersion()
	}
	answer, err := w.own.Metadata(ctx, served, w.Resource, fields)
	if err != nil {
		return plan.Outcome{Err: fmt.Errorf("writing metadata of %s: %w", plan.RefOf(live.Object{GVK: w.Owner.GVK, Meta: w.Resource}), err)}
	}
	w.Resource = answer
	return plan.Outcome{Answer: answer}
}

// A stepWrite is a step that is being carried out.
type stepWrite struct {
	*resourceWriter
	step     *plan.Step
	resource live.Resource
	// document is what is sent. It differs from that of the step once the object was read: it
	// then has its values of fields that are only set initially.
	document *unstructured.Unstructured
	// readsFirst is true if the object is read before it is changed.
	readsFirst bool
	// predecessor is the object as it was read before it is deleted, if the next one takes over
	// values of it; or nil.
	predecessor *unstructured.Unstructured
	out         plan.Outcome
}

// Write carries out a step.
func (w *resourceWriter) Write(ctx context.Context, s *plan.Step) plan.Outcome {
	x := &stepWrite{resourceWriter: w, step: s, document: s.Document, readsFirst: s.ReadsFirst}
	served, found := w.Served(s.Document.GroupVersionKind())
	x.resource = served
	switch hasNamespace := s.Document.GetNamespace() != ""; {
	case !found:
		x.out.Err = waitFor("the cluster does not have this kind any more")
	case served.Namespaced && !hasNamespace:
		x.out.Err = &refusals.Refusal{Cause: refusals.WrongScope,
			Text: "it is namespaced in this cluster, which its file and kind.yaml do not say"}
	case !served.Namespaced && hasNamespace:
		x.out.Err = &refusals.Refusal{Cause: refusals.WrongScope,
			Text: "it is cluster-scoped in this cluster, which its file and kind.yaml do not say"}
	case s.Action == plan.Create:
		x.out.Err = x.createChild(ctx)
	case s.Action == plan.Update:
		x.out.Err = x.updateChild(ctx, s.Live.Meta)
	case s.Action == plan.Recreate:
		x.out.Err = x.recreateChild(ctx)
	case s.Action == plan.Patch:
		x.out.Err = x.patchObject(ctx)
	}
	x.out.Sent = x.document
	return x.out
}

// waitFor returns a refusal that ends by itself, without an event for the resource.
func waitFor(text string) *refusals.Refusal {
	return &refusals.Refusal{Cause: refusals.Waits, Text: text}
}

const changedMeanwhile = "it changed meanwhile and is looked at again"

func (w *stepWrite) recordWrite(kind plan.Write) { w.out.Writes = append(w.out.Writes, kind) }

func (w *stepWrite) createChild(ctx context.Context) error {
	answer, err := w.to.Create(ctx, w.resource, w.document)
	if err == nil {
		w.recordWrite(plan.WriteCreate)
		return w.finishWrite(ctx, answer)
	}
	if refusals.Classify(err).Cause != refusals.Exists {
		return err
	}
	existing, err := w.to.GetMetadata(ctx, w.resource, w.document.GetNamespace(), w.document.GetName())
	if err != nil {
		return err
	}
	return w.adoptExisting(ctx, existing)
}

// adoptExisting takes over an object that exists although it was not seen, or says why not. A newly
// generated text never replaces the one in a Secret. Fields that are only set initially keep
// their live values.
func (w *stepWrite) adoptExisting(ctx context.Context, existing *metav1.PartialObjectMetadata) error {
	if existing.GetDeletionTimestamp() != nil {
		return waitFor("an object of this name is being deleted")
	}
	ok, whose := plan.TakeOver(w.Owner, existing, w.WasApplied(existing.GetUID()), w.step.Child.Policy.Adopt)
	previous, _ := api.ParseOwner(existing.GetAnnotations()[api.AnnotationOwner])
	switch {
	case !ok && previous == w.Owner.Owner:
		return waitFor("it belongs to an earlier resource of this name and will be collected")
	case !ok:
		return &refusals.Refusal{Cause: refusals.OwnedByOthers, Text: "an object of this name is there already and is left alone: " + whose}
	case w.step.GeneratesText:
		return &refusals.Refusal{Cause: refusals.Waits, Kind: refusals.TextExists, Text: "the Secret is there already, and what was drawn for it is in it"}
	}
	_, applied := ownership.MarkAt(existing.GetManagedFields(), api.FieldManager, "")
	w.readsFirst = !applied || len(w.step.Child.Policy.Initial) > 0
	return w.updateChild(ctx, existing)
}

func (w *stepWrite) updateChild(ctx context.Context, o metav1.Object) error {
	w.out.Over = o
	if w.readsFirst {
		read, done, err := w.restoreObject(ctx, o, nil)
		if err != nil {
			return w.explainRefusal(ctx, o, err)
		}
		if done {
			return nil
		}
		o = read
	}
	err := w.applyTo(ctx, o)
	if err == nil {
		return nil
	}
	if refusal := refusals.Classify(err); mayRestore(refusal) {
		if _, done, restored := w.restoreObject(ctx, o, refusal); done && restored == nil {
			return nil
		} else if done {
			err = restored
		}
	}
	return w.explainRefusal(ctx, o, err)
}

// applyTo applies the document to the object.
func (w *stepWrite) applyTo(ctx context.Context, o metav1.Object) error {
	o, err := w.dropCoOwner(ctx, o)
	if err != nil {
		return err
	}
	doc := w.document
	if len(w.step.Child.Policy.Initial) > 0 { // live values are sent: they must be the present ones
		doc = doc.DeepCopy()
		doc.SetResourceVersion(o.GetResourceVersion())
	}
	answer, err := w.to.Update(ctx, w.resource, doc, o.GetUID())
	if err != nil {
		return err
	}
	w.recordWrite(plan.WriteUpdate)
	return w.finishWrite(ctx, answer)
}

// dropCoOwner removes the entry of an earlier writer from the managedFields of an object that we
// applied before: fields that the document no longer has would otherwise stay, first as that
// writer's, and then as nobody's.
func (w *stepWrite) dropCoOwner(ctx context.Context, o metav1.Object) (metav1.Object, error) {
	managed, changed, err := ownership.WithoutCoOwner(o.GetManagedFields(), api.FieldManager)
	if err != nil || !changed || w.to.Tries() {
		return o, err
	}
	without, err := w.to.SetEntries(ctx, w.resource, o, managed)
	if err != nil {
		return o, waitFor(hasCoOwner)
	}
	w.recordWrite(plan.WriteManagedFields)
	return without, nil
}

const hasCoOwner = "an earlier writer holds its fields too"

// finishWrite removes from managedFields what hides who wrote a child: the entry of an earlier
// writer, or else the stringData of another one. If the object has changed meanwhile, the
// next plan finds the entry still there.
func (w *stepWrite) finishWrite(ctx context.Context, answer *unstructured.Unstructured) error {
	w.out.Answer = answer
	managed := answer.GetManagedFields()
	if i := ownership.CoOwner(managed, api.FieldManager); i >= 0 {
		managed = slices.Delete(managed, i, i+1)
	} else if i := ownership.PlainText(managed, api.FieldManager); i >= 0 {
		left, err := ownership.WithoutPlainText(managed[i])
		if err != nil {
			return waitFor(hasCoOwner)
		}
		managed[i].FieldsV1 = left
	} else {
		return nil
	}
	without, err := w.to.SetEntries(ctx, w.resource, answer, managed)
	if err != nil {
		return waitFor(hasCoOwner)
	}
	w.recordWrite(plan.WriteManagedFields)
	w.out.Answer = without
	return nil
}

// patchObject applies our fields to an object that belongs to others.
func (w *stepWrite) patchObject(ctx context.Context) error {
	to := Patching{Object: w.step.Live.Meta.GetUID(), Owner: w.Owner.UID, Subresource: w.step.Child.Policy.Subresource}
	answer, err := w.to.Patch(ctx, w.resource, w.document, to)
	if err != nil {
		return err
	}
	w.recordWrite(plan.WritePatch)
	w.out.Answer = answer
	without, err := w.withoutDoubles(ctx, answer)
	if err != nil {
		return err
	}
	w.out.Answer = without
	return nil
}

// withoutDoubles removes our fields from the entry by which the API server says that somebody
// before us owns all fields of a patched object, if all entries were wiped: otherwise, we
// could never change ours again. The entry keeps the others: fields that nobody owns would
// go with the last of ours beside them. Where this process has not patched the object
// before, ours may really be another's.
func (w *stepWrite) withoutDoubles(ctx context.Context, answer *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	managed, manager := answer.GetManagedFields(), api.PatchManager(w.Owner.UID)
	i := ownership.CoOwner(managed, manager)
	if i < 0 || w.step.Child.Policy.Subresource != "" || !w.WasApplied(plan.PatchKey(answer.GetUID(), "")) ||
		len(w.step.Live.Meta.GetManagedFields()) > 0 {
		return answer, nil
	}
	entry, _, err := ownership.Ours(managed, manager)
	if err != nil {
		return nil, err
	}
	left, err := entry.Rest(managed[i])
	if err != nil {
		return nil, err
	}
	managed[i].FieldsV1 = left
	without, err := w.to.SetEntries(ctx, w.resource, answer, managed)
	if err == nil {
		w.recordWrite(plan.WriteManagedFields)
	}
	return without, err
}

// Delete deletes a child by its uid.
func (w *resourceWriter) Delete(ctx context.Context, l live.Object) plan.Outcome {
	served, found := w.Served(l.GVK)
	if !found {
		return plan.Outcome{Err: fmt.Errorf("the API server does not tell of %s just now", l.GVK.Kind)}
	}
	how := metav1.DeletePropagationBackground
	if w.IsDeleting {
		how = metav1.DeletePropagationForeground
	}
	err := w.to.Delete(ctx, served, l.Meta, how)
	switch {
	case err == nil:
		return plan.Outcome{Writes: []plan.Write{plan.WriteDelete}}
	case isGone(err):
		return plan.Outcome{}
	}
	return plan.Outcome{Err: fmt.Errorf("pruning %s: %w", plan.RefOf(l), err)}
}

// isGone reports whether a refusal means that the very object does not exist any more: a
// conflict must be about its uid.
func isGone(err error) bool {
	answer := refusals.Classify(err).Err
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && strings.Contains(strings.ToLower(answer.Error()), "uid")
}

// Release gives up the fields of a patch. What a subresource refuses to release counts as
// released. If the API server refuses the object that would be left, a retry is of no use:
// our entry is removed, and the fields stay.
func (w *resourceWriter) Release(ctx context.Context, r plan.Release) (out plan.Outcome) {
	served, found := w.Served(r.Live.GVK)
	if !found {
		return plan.Outcome{Err: fmt.Errorf("the API server does not tell of %s just now", r.Live.GVK.Kind)}
	}
	to := Patching{Object: r.Live.Meta.GetUID(), Owner: w.Owner.UID, Subresource: r.Subresource}
	answer, err := w.to.ReleaseFields(ctx, served, r.Live.Meta, to)
	refusal := refusals.Classify(err)
	switch {
	case err == nil:
		return plan.Outcome{Writes: []plan.Write{plan.WriteRelease}, Answer: answer}
	case isGone(err) || r.Subresource != "" && refusal.Cause == refusals.Invalid:
		return plan.Outcome{}
	}
	out.Err = fmt.Errorf("giving back %s: %w", plan.RefOf(r.Live), err)
	if w.to.Tries() || refusal.Cause != refusals.Invalid && !refusal.Cause.IsDenied() {
		return out
	}
	out.Err = fmt.Errorf("%w; its fields stay as they are, and after ten minutes it is not waited for any more", out.Err)
	if answer, err := w.dropPatchEntry(ctx, served, r); err == nil {
		out.Answer, out.Writes, out.Dropped = answer, []plan.Write{plan.WriteManagedFields}, true
	}
	return out
}

// dropPatchEntry removes our entry of a patch, if the object is as it was seen.
func (w *resourceWriter) dropPatchEntry(ctx context.Context, served live.Resource, r plan.Release) (*unstructured.Unstructured, error) {
	managed := r.Live.Meta.GetManagedFields()
	i := slices.IndexFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == api.PatchManager(w.Owner.UID) && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == r.Subresource
	})
	if i < 0 {
		return nil, errors.New("the patch has no entry of its own")
	}
	return w.to.SetEntries(ctx, served, r.Live.Meta, slices.Delete(slices.Clone(managed), i, i+1))
}
