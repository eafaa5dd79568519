package adopt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// An Object is a child of a resource that is not there, or that is there and is
// not the resource's.
type Object struct {
	Kind, Namespace, Name string
	// Place is where its template stands, as file:line:column.
	Place string
	// Missing: there is no such object, so the operator creates it.
	Missing bool
	// Why says why it may not be adopted; "" if it may. Diff is what adopting it would
	// change, with the values of Secrets masked.
	Why, Diff string
	// Tool is what deletes the object when it is uninstalled, such as a Helm
	// release; "" if the object names none.
	Tool string

	owner    plan.Owner
	resource live.Resource
	live     *unstructured.Unstructured
	managed  []metav1.ManagedFieldsEntry
}

// Named is "Deployment default/web".
func (o *Object) Named() string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// Adoptable reports whether the object may be adopted.
func (o *Object) Adoptable() bool { return !o.Missing && o.Why == "" }

// A Resource is a custom resource and the objects that it does not have.
type Resource struct {
	Object  *unstructured.Unstructured
	Objects []Object
	// Trouble says why its objects are not known; "" if they are.
	Trouble string
}

// Named is "Web default/shop".
func (r *Resource) Named() string {
	return r.Object.GetKind() + " " + strings.TrimPrefix(r.Object.GetNamespace()+"/"+r.Object.GetName(), "/")
}

// Find looks for objects of resources, which are of the kind of s. It changes nothing.
func Find(ctx context.Context, s diff.Sight, resources []*unstructured.Unstructured) []*Resource {
	view := s.View(ctx, s.Kind, s.Folder, resources...)
	r := view.Reconciler()
	var all []*Resource
	for _, o := range resources {
		if o.GetDeletionTimestamp() != nil {
			continue
		}
		one := &Resource{Object: o}
		ran := r.DryRun(ctx, view.Version(), o)
		if ran.Plan == nil && len(ran.Problems) > 0 {
			one.Trouble = ran.Problems[0].Message
		}
		f := finder{s, view, ran, liveview.NewOwner(s.Kind.Name, o)}
		one.Objects = f.findObjects(ctx)
		all = append(all, one)
	}
	return all
}

// A finder looks at the children of one resource.
type finder struct {
	diff.Sight
	view  *liveview.View
	ran   *reconcile.DryRun
	owner plan.Owner
}

// findObjects returns the children that are missing, and those that exist and are not the
// resource's.
func (f finder) findObjects(ctx context.Context) (all []Object) {
	for _, act := range f.ran.Tried {
		p := act.Problem
		if act.Step == nil || act.Skipped {
			continue
		}
		refused := p != nil && p.Reason == api.ReasonOwnedByOthers
		if !refused && (act.Step.Action != plan.Create || act.Over != nil) {
			continue
		}
		o := f.newObject(act.Step)
		switch {
		case refused:
			if err := f.checkAdoptable(ctx, act.Step, &o); err != nil {
				o.Why = err.Error()
			}
		case p != nil:
			o.Why = p.Message
		default:
			o.Missing = true
		}
		all = append(all, o)
	}
	if f.ran.Plan == nil {
		return all
	}
	for i := range f.ran.Plan.Steps {
		s := &f.ran.Plan.Steps[i]
		o := f.newObject(s)
		switch tried := slices.ContainsFunc(f.ran.Tried, func(a reconcile.Tried) bool { return a.Step == s && !a.Skipped }); {
		case s.Child.Policy.Patch:
			continue
		case s.Action == plan.Refuse, s.Action == plan.Block && s.Live == nil:
			o.Why = s.Why
		case s.Action == plan.Create && !tried:
			o.Why = "it depends on a text that is drawn, whose Secret is not adopted yet"
		default:
			continue
		}
		all = append(all, o)
	}
	return all
}

// newObject returns the Object that a step is about.
func (f finder) newObject(s *plan.Step) Object {
	return Object{
		Kind: s.Document.GetKind(), Namespace: s.Document.GetNamespace(), Name: s.Document.GetName(),
		Place: s.Child.Doc.Place().String(), owner: f.owner,
	}
}

// checkAdoptable checks that applying a child to the object of its name changes nothing but our
// metadata, and completes o. The error is the reason why the object may not be adopted.
func (f finder) checkAdoptable(ctx context.Context, s *plan.Step, o *Object) error {
	gvk := s.Document.GroupVersionKind()
	var served bool
	if o.resource, served = f.Served().Resource(gvk); !served {
		return fmt.Errorf("the cluster does not serve %s %s", gvk.GroupVersion(), gvk.Kind)
	}
	var err error
	if o.live, err = f.Writer().Read(ctx, o.resource, o.Namespace, o.Name); err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	o.Tool = findTool(o.live)
	if ok, whose := plan.TakeOver(f.owner, o.live, false, true); !ok {
		return errors.New(whose)
	}
	doc, _, err := plan.Document(f.owner, s.Child, &live.Object{GVK: gvk, Meta: o.live, Body: o.live.Object})
	if err != nil {
		return err
	}
	if err := f.keepDrawnTexts(s.Child.File, doc, o.live); err != nil {
		return err
	}
	answer, err := f.Writer().Update(ctx, o.resource, doc, o.live.GetUID())
	if err != nil {
		return fmt.Errorf("the API server refuses to apply it: %w", err)
	}
	if o.Diff, err = diff.Between(copyWithoutManager(o.live), copyWithoutManager(answer)); err != nil {
		return err
	}
	if o.Diff != "" {
		return errors.New("it differs from what the folder renders")
	}
	o.managed, _ = ownership.Relinquished(o.live.GetManagedFields(), doc.Object, api.FieldManager)
	return nil
}

// copyWithoutManager returns a copy of an object without the label that names what manages it.
// Adopting changes that label.
func copyWithoutManager(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	labels := o.GetLabels()
	delete(labels, "app.kubernetes.io/managed-by")
	o.SetLabels(labels)
	return o.Object
}

// keepDrawnTexts puts the texts of a Secret that are drawn once into its document, as the live
// Secret has them.
func (f finder) keepDrawnTexts(file string, doc, there *unstructured.Unstructured) error {
	if doc.GetKind() != "Secret" {
		return nil
	}
	for _, at := range f.ran.Drawn {
		key, ours := strings.CutPrefix(at, file+"/")
		if !ours {
			continue
		}
		text, found, err := unstructured.NestedString(there.Object, "data", key)
		if err != nil || !found {
			return fmt.Errorf("it has no key %s, which the folder draws", key)
		}
		if err := unstructured.SetNestedField(doc.Object, text, "data", key); err != nil {
			return fmt.Errorf("keeping key %s: %w", key, err)
		}
	}
	return nil
}

// findTool returns what deletes an object when it is uninstalled, by what Helm, Flux and Argo CD
// note on objects. It is "" if they note nothing.
func findTool(o metav1.Object) string {
	joinName := func(m map[string]string, name, namespace string) string {
		return strings.TrimPrefix(m[namespace]+"/"+m[name], "/")
	}
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	switch {
	case labels["kustomize.toolkit.fluxcd.io/name"] != "":
		return "Kustomization " + joinName(labels, "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
	case labels["helm.toolkit.fluxcd.io/name"] != "":
		return "HelmRelease " + joinName(labels, "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")
	case annotations["argocd.argoproj.io/tracking-id"] != "":
		name, _, _ := strings.Cut(annotations["argocd.argoproj.io/tracking-id"], ":")
		return "Argo CD's Application " + name
	case annotations["meta.helm.sh/release-name"] != "":
		return "Helm release " + joinName(annotations, "meta.helm.sh/release-name", "meta.helm.sh/release-namespace")
	}
	return ""
}

// Mark marks the adoptable objects of a resource: their annotation names the resource,
// and nobody else owns the fields that the folder renders. Then it asks for a
// reconciliation of the resource. It returns how many were marked; of the others, Why
// says why not. An object that changed since it was found is not marked.
func (r *Resource) Mark(ctx context.Context, w *apply.Writer, of live.Resource) (n int, err error) {
	for i := range r.Objects {
		o := &r.Objects[i]
		if !o.Adoptable() {
			continue
		}
		_, err := w.Metadata(ctx, o.resource, o.live, map[string]any{
			"resourceVersion": o.live.GetResourceVersion(), "managedFields": o.managed,
			"annotations": map[string]any{api.AnnotationOwner: o.owner.String()},
		})
		if err != nil {
			o.Why = err.Error()
			continue
		}
		n++
	}
	if n == 0 {
		return 0, nil
	}
	_, err = w.Metadata(ctx, of, r.Object, map[string]any{
		"annotations": map[string]any{api.AnnotationReconcileAt: time.Now().UTC().Format(time.RFC3339Nano)},
	})
	if err != nil {
		return n, fmt.Errorf("asking for a reconciliation of %s: %w", r.Named(), err)
	}
	return n, nil
}
