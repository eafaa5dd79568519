package trial

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// stageStep applies the objects of a step. It reports whether the API server refuses the
// resource, as the step wants.
func (t *Trial) stageStep(ctx context.Context, one *catalog.Case) (refused bool, err error) {
	if one.Configured() {
		return false, newUnfitError("it has a config.yaml, and the settings of an operator are not those of a case")
	}
	written, cluster, err := one.Own()
	if err != nil {
		return false, err
	}
	gk := one.Kind.GVK.GroupKind()
	isResource := func(u *unstructured.Unstructured) bool { return u.GroupVersionKind().GroupKind() == gk }
	if t.placed == "" {
		t.placed = metav1.NamespaceDefault
		if i := slices.IndexFunc(written, isResource); i >= 0 && written[i].GetNamespace() != "" {
			t.placed = written[i].GetNamespace()
		}
	}
	if t.wanted, err = t.placeWanted(one); err != nil {
		return false, err
	}
	placed, err := t.placeObjects(append(cluster, written...))
	if err != nil {
		return false, err
	}
	_, fails := one.Wants[catalog.FileWantError]
	for i, o := range placed {
		if i < len(cluster) || !isResource(o.Unstructured) {
			err = t.stageOther(ctx, o)
		} else if err = t.stageResource(ctx, o); err != nil && fails {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// stageResource applies the resource.
func (t *Trial) stageResource(ctx context.Context, o *object) error {
	made, _, err := t.stageObject(ctx, o)
	if err != nil {
		return fmt.Errorf("applying %s: %w", o, err)
	}
	t.resource = &object{made, o.served}
	return nil
}

// stageOther applies an object and its status. Children are the operator's to make:
// only their status is applied, once they are there.
func (t *Trial) stageOther(ctx context.Context, o *object) error {
	isChild := o.GetAnnotations()[api.AnnotationFile] != "" ||
		slices.ContainsFunc(t.wanted, func(w *object) bool { return isSame(w, o) && !w.isPatch() })
	if isChild {
		if o.Object["status"] != nil {
			t.pending = append(t.pending, o)
		}
		return nil
	}
	ephemeral := takeEphemeralContainers(o.Unstructured)
	made, created, err := t.stageObject(ctx, o)
	if err == nil && ephemeral != nil {
		spec := map[string]any{"ephemeralContainers": ephemeral}
		err = t.applySubresource(ctx, o, made.GetUID(), "ephemeralcontainers", map[string]any{"spec": spec})
	}
	switch {
	case err != nil && created && apierrors.IsInvalid(err):
		return newUnfitError("the API server does not create %s: %w", o, err)
	case err != nil:
		return fmt.Errorf("applying %s: %w", o, err)
	case o.Object["status"] == nil:
		return nil
	}
	if err = t.applyStatus(ctx, o, made.GetUID()); apierrors.IsInvalid(err) {
		return newUnfitError("the API server does not take the status of %s: %w", o, err)
	}
	return err
}

// stageObject applies an object without its status, again as long as the API server is too busy
// or still learns of the kind. created reports whether it was not there.
func (t *Trial) stageObject(ctx context.Context, o *object) (made *unstructured.Unstructured, created bool, err error) {
	doc := o.DeepCopy()
	delete(doc.Object, "status")
	for _, field := range []string{"uid", "generation", "resourceVersion", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(doc.Object, "metadata", field)
	}
	err = t.retryUntil(ctx, func() error {
		there, err := t.Writer.Find(ctx, o.served, o.GetNamespace(), o.GetName())
		if err == nil {
			if created = there == nil; !created {
				doc.SetUID(there.GetUID())
			}
			made, err = apply.Person{Writer: t.Writer}.Stage(ctx, o.served, doc)
		}
		if err != nil && refusals.Classify(err).Cause != refusals.TryAgain {
			return finalError{err}
		}
		return err
	})
	return made, created, err
}

// applyPending applies the status of children that are there by now. What the API server
// does not take as a status is left to the controller of the child.
func (t *Trial) applyPending(ctx context.Context) error {
	var missing []*object
	for _, o := range t.pending {
		switch found, err := t.Sight.Object(ctx, o.GroupVersionKind(), o.GetNamespace(), o.GetName()); {
		case err != nil:
			return err
		case found == nil:
			missing = append(missing, o)
		default:
			if err := t.applyStatus(ctx, o, found.GetUID()); err != nil && !apierrors.IsInvalid(err) {
				return err
			}
		}
	}
	t.pending = missing
	return nil
}

// takeEphemeralContainers takes the ephemeral containers off a Pod, since a Pod is created
// without; nil if it has none.
func takeEphemeralContainers(u *unstructured.Unstructured) []any {
	if u.GroupVersionKind() != podKind {
		return nil
	}
	all, _, _ := unstructured.NestedSlice(u.Object, "spec", "ephemeralContainers")
	unstructured.RemoveNestedField(u.Object, "spec", "ephemeralContainers")
	return all
}

// applyStatus applies the status of an object to the one with that uid.
func (t *Trial) applyStatus(ctx context.Context, o *object, uid types.UID) error {
	return t.applySubresource(ctx, o, uid, "status", map[string]any{"status": o.Object["status"]})
}

// applySubresource applies fields of a subresource to the object with that uid.
func (t *Trial) applySubresource(ctx context.Context, o *object, uid types.UID, subresource string, fields map[string]any) error {
	doc := &unstructured.Unstructured{Object: fields}
	doc.SetGroupVersionKind(o.GroupVersionKind())
	doc.SetNamespace(o.GetNamespace())
	doc.SetName(o.GetName())
	doc.SetUID(uid)
	if _, err := (apply.Person{Writer: t.Writer}).Stage(ctx, o.served, doc, subresource); err != nil {
		return fmt.Errorf("applying %s of %s: %w", subresource, o, err)
	}
	return nil
}

// placeObjects puts objects into the namespace. The error is about those that are outside.
func (t *Trial) placeObjects(all []*unstructured.Unstructured) ([]*object, error) {
	var placed []*object
	for _, u := range all {
		r, served := t.Sight.Served().Resource(u.GroupVersionKind())
		switch {
		case !served:
			return nil, newUnfitError("the cluster does not serve %s %s", u.GetAPIVersion(), u.GetKind())
		case !r.Namespaced:
			return nil, newUnfitError("%s %s is not in a namespace: a case on a cluster stays in its own", u.GetKind(), u.GetName())
		case u.GetNamespace() != "" && u.GetNamespace() != t.placed:
			return nil, newUnfitError("%s %s is in the namespace %s: a case on a cluster stays in its own", u.GetKind(), u.GetName(), u.GetNamespace())
		}
		u.SetNamespace(t.placed)
		t.renameNamespace(u.Object)
		placed = append(placed, &object{u, r})
	}
	return placed, nil
}

// renameNamespace replaces the namespace of the case, in fields of that name.
func (t *Trial) renameNamespace(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, of := range v {
			if key == "namespace" && of == t.placed {
				v[key] = t.namespace.GetName()
			}
			t.renameNamespace(of)
		}
	case []any:
		for _, of := range v {
			t.renameNamespace(of)
		}
	}
}

// placeWanted returns the children that a step wants, in the namespace of the case.
func (t *Trial) placeWanted(one *catalog.Case) ([]*object, error) {
	documents, err := catalog.Documents(one.Path(catalog.FileWant), one.Wants[catalog.FileWant])
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, d := range documents {
		all = append(all, &unstructured.Unstructured{Object: d})
	}
	return t.placeObjects(all)
}

func isSame(a, b *object) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.GetName() == b.GetName()
}
