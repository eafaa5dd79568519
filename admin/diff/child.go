package diff

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
)

// A Ref names an object; the namespace is "" if it lives in none.
type Ref struct {
	schema.GroupVersionKind
	Namespace, Name string
}

// A Child is an object as it lives and as its resource's folder renders it, as YAML.
// Values of Secrets are masked.
type Child struct {
	Live    string `json:"live,omitempty"`
	Desired string `json:"desired,omitempty"`
	// Diff is what applying it again would change.
	Diff string `json:"diff,omitempty"`
}

// Child looks at one child of a resource.
func (s Sight) Child(ctx context.Context, resource *unstructured.Unstructured, of Ref) (Child, error) {
	view := s.View(ctx, s.Kind, s.Folder, resource)
	there, err := view.Whole(of.GroupVersionKind, of.Namespace, of.Name)
	if err != nil {
		return Child{}, err
	}
	var body, desired map[string]any
	if there != nil {
		body = there.Body
	}
	d := differ{view, view.Reconciler().DryRun(ctx, view.Version(), resource), resource.GetDeletionTimestamp() != nil}
	var out Child
	if d.Plan != nil {
		for i := range d.Plan.Steps {
			step := &d.Plan.Steps[i]
			o := step.Document
			if o.GroupVersionKind().GroupKind() != of.GroupKind() || o.GetNamespace() != of.Namespace || o.GetName() != of.Name {
				continue
			}
			c := about(o.GroupVersionKind(), o, Kept)
			c.Subresource = step.Child.Policy.Subresource
			d.step(step, &c)
			desired, out.Diff = o.Object, c.Diff
		}
	}
	out.Live, out.Desired, err = shownPair(body, desired)
	return out, err
}

// Live is an object as it lives.
func Live(ctx context.Context, s *liveview.Survey, of Ref) (Child, error) {
	o, err := s.Object(ctx, of.GroupVersionKind, of.Namespace, of.Name)
	if err != nil || o == nil {
		return Child{}, err
	}
	text, err := Text(o.Object)
	return Child{Live: text}, err
}

// Text is an object as YAML. Values of a Secret are masked.
func Text(o map[string]any) (string, error) {
	shown, _, err := shownPair(o, nil)
	return shown, err
}

// shownPair are two states of an object as YAML, nil as "". Values of Secrets are masked.
func shownPair(before, after map[string]any) (was, is string, err error) {
	before, after = plain(before, true), plain(after, true)
	mask(before, after)
	old, err := text(before)
	if err != nil {
		return "", "", err
	}
	now, err := text(after)
	return string(old), string(now), err
}
