package diff

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
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
	// Diff is what applying it again would change. Where the API server refuses that, it is
	// how what lives differs from what is desired.
	Diff string `json:"diff,omitempty"`
	// Verb is what would become of it, "" if its resource's folder does not render it.
	Verb Verb `json:"verb,omitempty"`
	// Message says why, for people.
	Message string `json:"message,omitempty"`
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
			c, o := d.describeChild(step), step.Document
			if !of.isSubjectOf(&c) {
				continue
			}
			if c.Verb.Wrong() && c.Diff == "" {
				d.addDiff(&c, selectDesired(body, o.Object), o.Object)
			}
			if desired = o.Object; out.Verb == "" || c.Verb != Kept { // several steps may be about it: a patch of a subresource is one
				out.Diff, out.Verb, out.Message = c.Diff, c.Verb, c.Why
			}
		}
	}
	for _, c := range d.listEnds() {
		if desired == nil && of.isSubjectOf(&c) {
			out.Diff, out.Verb, out.Message = c.Diff, c.Verb, c.Why
		}
	}
	ours := there != nil && there.Meta.GetLabels()[api.LabelOwnerUID] == string(resource.GetUID())
	if why := d.explainUntouched(); out.Verb == "" && ours && why != "" {
		out.Verb, out.Message = Blocked, why
	}
	out.Live, out.Desired, err = shownPair(body, desired)
	return out, err
}

// explainUntouched returns why a child stays as it is if no step of the plan is about it, or "" if
// there is no reason.
func (d differ) explainUntouched() string {
	if d.leaving {
		return "its resource is being deleted"
	}
	if why := d.explainNoPlan(); why != "" {
		return "nothing is changed: " + why
	}
	return strings.Join(d.listWaiting(), "; ")
}

// isSubjectOf reports whether a change is about the object, in any version.
func (r Ref) isSubjectOf(c *Change) bool {
	gvk := schema.FromAPIVersionAndKind(c.APIVersion, c.Kind)
	return gvk.GroupKind() == r.GroupKind() && c.Namespace == r.Namespace && c.Name == r.Name
}

// selectDesired returns the desired fields of a live object. A list keeps the items that it has
// beyond those that are desired.
func selectDesired(live, desired map[string]any) map[string]any {
	if live == nil {
		return nil
	}
	return selectDesiredValue(live, desired).(map[string]any)
}

// selectDesiredValue does the same for any value.
func selectDesiredValue(live, desired any) any {
	switch wanted := desired.(type) {
	case map[string]any:
		there, is := live.(map[string]any)
		if !is {
			return live
		}
		out := map[string]any{}
		for key := range wanted {
			if v, found := there[key]; found {
				out[key] = selectDesiredValue(v, wanted[key])
			}
		}
		return out
	case []any:
		there, is := live.([]any)
		if !is {
			return live
		}
		out := slices.Clone(there)
		for i := range min(len(there), len(wanted)) {
			out[i] = selectDesiredValue(there[i], wanted[i])
		}
		return out
	}
	return live
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
	before, after = copyWithoutNotes(before, true), copyWithoutNotes(after, true)
	maskSecrets(before, after)
	old, err := formatYAML(before)
	if err != nil {
		return "", "", err
	}
	now, err := formatYAML(after)
	return string(old), string(now), err
}
