package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// every is the time between two looks.
const every = 300 * time.Millisecond

var namespaces = live.Resource{GVR: apischema.GroupVersionResource{Version: "v1", Resource: "namespaces"}}

// An UnfitError says why a case cannot run on this cluster, or on any.
type UnfitError struct{ error }

func unfit(format string, args ...any) error { return UnfitError{fmt.Errorf(format, args...)} }

// A Trial is one golden case on a cluster.
type Trial struct {
	Survey *liveview.Survey
	// Writer writes, and Limit is how long each change may take.
	Writer *apply.Writer
	Limit  time.Duration

	namespace *unstructured.Unstructured
	// placed is the namespace that the case is written for.
	placed   string
	resource *object
	// wanted are the children that the last step wants, pending those whose status the
	// case says and that are not there yet.
	wanted, pending []*object
}

// An object is one of a case and how the cluster serves it.
type object struct {
	*unstructured.Unstructured
	served live.Resource
}

func (o *object) String() string { return o.GetKind() + " " + o.GetName() }

// patched reports whether the object is somebody else's.
func (o *object) patched() bool { return o.GetAnnotations()[api.AnnotationOwnership] == "patch" }

// Begin creates the namespace.
func (t *Trial) Begin(ctx context.Context) (err error) {
	doc := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "jacquard-test-" + rand.String(8)}}}
	t.namespace, err = t.Writer.Stage(ctx, namespaces, doc)
	if err != nil {
		return fmt.Errorf("creating the namespace of the case: %w", err)
	}
	return nil
}

// End deletes the namespace and waits until it is gone.
func (t *Trial) End(ctx context.Context) error {
	if t.namespace == nil {
		return nil
	}
	if err := t.Writer.Delete(ctx, namespaces, t.namespace, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("deleting the namespace %s of the case: %w", t.namespace.GetName(), err)
	}
	patient := &Trial{Limit: max(t.Limit, time.Minute)}
	return patient.until(ctx, func() error { return t.gone(ctx, &object{t.namespace, namespaces}) })
}

// Step applies what a step has, and waits until the cluster is as the step wants it. It
// fails with an UnfitError if the step cannot run.
func (t *Trial) Step(ctx context.Context, one *catalog.Case) error {
	if one.Configured() {
		return unfit("it has a config.yaml, and the settings of an operator are not those of a case")
	}
	_, fails := one.Wants[catalog.FileWantError]
	if _, wants := one.Wants[catalog.FileWant]; !wants && !fails {
		return fmt.Errorf("it has no %s: run jacquard test --update first", catalog.FileWant)
	}
	written, cluster, err := one.Own()
	if err != nil {
		return err
	}
	if t.placed == "" {
		t.placed = metav1.NamespaceDefault
		for _, u := range written {
			if u.GroupVersionKind().GroupKind() == one.Kind.GVK.GroupKind() && u.GetNamespace() != "" {
				t.placed = u.GetNamespace()
			}
		}
	}
	all := append(cluster, written...)
	placed, err := t.place(all)
	if err != nil {
		return err
	}
	if t.wanted, err = t.wants(one); err != nil {
		return err
	}
	for _, o := range placed {
		refused, err := t.stage(ctx, o, one)
		switch {
		case refused && fails:
			return nil
		case err != nil:
			return err
		}
	}
	return t.until(ctx, func() error { return t.look(ctx, one) })
}

// stage applies an object and its status. Children are the operator's to make: only
// their status is applied, once they are there. It reports whether the API server
// refuses the resource.
func (t *Trial) stage(ctx context.Context, o *object, one *catalog.Case) (refused bool, err error) {
	ours := o.GroupVersionKind().GroupKind() == one.Kind.GVK.GroupKind()
	child := o.GetAnnotations()[api.AnnotationFile] != "" ||
		slices.ContainsFunc(t.wanted, func(w *object) bool { return same(w, o) && !w.patched() })
	if child && !ours {
		if o.Object["status"] != nil {
			t.pending = append(t.pending, o)
		}
		return false, nil
	}
	doc := o.DeepCopy()
	delete(doc.Object, "status")
	for _, field := range []string{"uid", "generation", "resourceVersion", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(doc.Object, "metadata", field)
	}
	there, err := t.Writer.Find(ctx, o.served, o.GetNamespace(), o.GetName())
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", o, err)
	}
	if there != nil {
		doc.SetUID(there.GetUID())
	}
	made, err := t.Writer.Stage(ctx, o.served, doc)
	switch {
	case err != nil && !ours && there == nil && apierrors.IsInvalid(err):
		return false, unfit("the API server does not create %s: %w", o, err)
	case err != nil:
		return ours, fmt.Errorf("applying %s: %w", o, err)
	}
	if ours {
		t.resource = &object{made, o.served}
		return false, nil
	}
	if o.Object["status"] != nil {
		if err := t.status(ctx, o, made.GetUID()); err != nil {
			return false, err
		}
	}
	return false, nil
}

// status applies the status of an object to the one with that uid.
func (t *Trial) status(ctx context.Context, o *object, uid types.UID) error {
	doc := &unstructured.Unstructured{Object: map[string]any{"status": o.Object["status"]}}
	doc.SetGroupVersionKind(o.GroupVersionKind())
	doc.SetNamespace(o.GetNamespace())
	doc.SetName(o.GetName())
	doc.SetUID(uid)
	if _, err := t.Writer.Stage(ctx, o.served, doc, "status"); err != nil {
		return fmt.Errorf("applying the status of %s: %w", o, err)
	}
	return nil
}

// place puts objects into the namespace. The error is about those that are outside.
func (t *Trial) place(all []*unstructured.Unstructured) ([]*object, error) {
	var placed []*object
	for _, u := range all {
		r, served := t.Survey.Served().Resource(u.GroupVersionKind())
		switch {
		case !served:
			return nil, unfit("the cluster does not serve %s %s", u.GetAPIVersion(), u.GetKind())
		case !r.Namespaced:
			return nil, unfit("%s %s is not in a namespace: a case on a cluster stays in its own", u.GetKind(), u.GetName())
		case u.GetNamespace() != "" && u.GetNamespace() != t.placed:
			return nil, unfit("%s %s is in the namespace %s: a case on a cluster stays in its own", u.GetKind(), u.GetName(), u.GetNamespace())
		}
		u.SetNamespace(t.placed)
		t.rename(u.Object)
		placed = append(placed, &object{u, r})
	}
	return placed, nil
}

// rename replaces the namespace of the case, in fields of that name.
func (t *Trial) rename(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, of := range v {
			if key == "namespace" && of == t.placed {
				v[key] = t.namespace.GetName()
			}
			t.rename(of)
		}
	case []any:
		for _, of := range v {
			t.rename(of)
		}
	}
}

// wants are the children that a step wants.
func (t *Trial) wants(one *catalog.Case) ([]*object, error) {
	documents, err := catalog.Documents(one.Path(catalog.FileWant), one.Wants[catalog.FileWant])
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, d := range documents {
		all = append(all, &unstructured.Unstructured{Object: d})
	}
	return t.place(all)
}

// look is an error as long as the cluster is not as the step wants it.
func (t *Trial) look(ctx context.Context, one *catalog.Case) error {
	if err := t.give(ctx); err != nil {
		return err
	}
	now, err := t.Writer.Read(ctx, t.resource.served, t.resource.GetNamespace(), t.resource.GetName())
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.resource, err)
	}
	t.resource.Unstructured = now
	seen, _, _ := unstructured.NestedInt64(now.Object, "status", "observedGeneration")
	if seen != now.GetGeneration() {
		return fmt.Errorf("no operator has reconciled %s yet", t.resource)
	}
	_, fails := one.Wants[catalog.FileWantError]
	waits, waiting := one.Wants[catalog.FileWantWaits]
	switch {
	case fails:
		return condition(now, "Stalled", one.Wants[catalog.FileWantError])
	case waiting:
		if err := condition(now, "Reconciling", waitsFor(waits)); err != nil {
			return err
		}
	default:
		if err := condition(now, "Ready", ""); err != nil {
			return err
		}
	}
	return t.compare(ctx)
}

// give applies the status of children that are there by now.
func (t *Trial) give(ctx context.Context) error {
	var left []*object
	for _, o := range t.pending {
		switch found, err := t.Survey.Object(ctx, o.GroupVersionKind(), o.GetNamespace(), o.GetName()); {
		case err != nil:
			return err
		case found == nil:
			left = append(left, o)
		default:
			if err := t.status(ctx, o, found.GetUID()); err != nil {
				return err
			}
		}
	}
	t.pending = left
	return nil
}

// waitsFor are the messages of a file of waits, without the names of the files.
func waitsFor(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		_, message, _ := strings.Cut(strings.TrimSpace(line), " waits: ")
		all = append(all, message)
	}
	return strings.Join(all, "\n")
}

// condition is an error unless a condition is True and its message has all lines.
func condition(u *unstructured.Unstructured, name, lines string) error {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		fields, _ := c.(map[string]any)
		if fields["type"] != name {
			continue
		}
		message, _ := fields["message"].(string)
		if fields["status"] != "True" {
			return fmt.Errorf("%s is %v: %s", name, fields["status"], message)
		}
		for line := range strings.Lines(lines) {
			if !strings.Contains(message, strings.TrimSpace(line)) {
				return fmt.Errorf("%s says %q, wanted is %q", name, message, strings.TrimSpace(line))
			}
		}
		return nil
	}
	return fmt.Errorf("the condition %s is absent", name)
}

// compare is an error unless the children are as they are wanted: to apply them would
// change nothing.
func (t *Trial) compare(ctx context.Context) error {
	for _, o := range t.wanted {
		found, err := t.Survey.Object(ctx, o.GroupVersionKind(), o.GetNamespace(), o.GetName())
		switch {
		case err != nil:
			return err
		case found == nil:
			return fmt.Errorf("%s is wanted, and not there", o)
		}
		doc, err := t.asLive(o, found)
		if err != nil {
			return err
		}
		var below []string
		if sub := o.GetAnnotations()[api.AnnotationSubresource]; sub == "status" {
			below = []string{sub}
		} else if sub != "" {
			continue
		}
		applied, err := t.Survey.Writer().Stage(ctx, o.served, doc, below...)
		if err != nil {
			return fmt.Errorf("comparing %s: %w", o, err)
		}
		if differs := differing(applied, found); len(differs) > 0 {
			return fmt.Errorf("%s is not as it is wanted: %s", o, strings.Join(differs, ", "))
		}
	}
	total, declared, _ := unstructured.NestedInt64(t.resource.Object, "status", "childrenTotal")
	want := len(slices.DeleteFunc(slices.Clone(t.wanted), (*object).patched))
	if declared && int(total) < want {
		return fmt.Errorf("there are %d children, wanted are %d", total, want)
	}
	return nil
}

// asLive is a wanted object as it is in the cluster: without the annotations that the
// operator takes off and the texts that it draws, and with the uid of the resource.
func (t *Trial) asLive(o *object, found *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", o, err)
	}
	doc := &unstructured.Unstructured{}
	text = []byte(strings.ReplaceAll(string(text), catalog.StandInUID, string(t.resource.GetUID())))
	if err := doc.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("reading %s: %w", o, err)
	}
	marks := doc.GetAnnotations()
	for key := range marks {
		if strings.HasPrefix(key, "jacquard.dev/") {
			delete(marks, key)
		}
	}
	doc.SetAnnotations(marks)
	doc.SetUID(found.GetUID())
	if found.GetAnnotations()[api.AnnotationDrawn] != "" {
		delete(doc.Object, "data")
		delete(doc.Object, "stringData")
	}
	return doc, nil
}

// differing are the parts in which two objects differ, without values.
func differing(a, b *unstructured.Unstructured) []string {
	var parts []string
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, u := range []*unstructured.Unstructured{a, b} {
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		if len(u.GetAnnotations()) == 0 {
			u.SetAnnotations(nil)
		}
	}
	for key, value := range a.Object {
		if !reflect.DeepEqual(value, b.Object[key]) {
			parts = append(parts, within(key, value, b.Object[key])...)
		}
	}
	slices.Sort(parts)
	return parts
}

// within are the paths at which two values differ.
func within(path string, a, b any) []string {
	x, one := a.(map[string]any)
	y, two := b.(map[string]any)
	if !one || !two {
		return []string{path}
	}
	var parts []string
	for key := range x {
		if !reflect.DeepEqual(x[key], y[key]) {
			parts = append(parts, within(path+"."+key, x[key], y[key])...)
		}
	}
	return parts
}

func same(a, b *object) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.GetName() == b.GetName()
}

// until calls look until it is no error.
func (t *Trial) until(ctx context.Context, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	for {
		err := look()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", t.Limit, err)
		case <-time.After(every):
		}
	}
}

// gone is an error as long as an object is there.
func (t *Trial) gone(ctx context.Context, o *object) error {
	now, err := t.Writer.Find(ctx, o.served, o.GetNamespace(), o.GetName())
	switch {
	case err != nil:
		return err
	case now != nil && now.GetUID() == o.GetUID():
		return fmt.Errorf("%s is still there", o)
	}
	return nil
}
