package golden

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// A rendered is one child as it came out, or the status, and what knows its
// places.
type rendered struct {
	object map[string]any
	doc    *template.Document
}

// A pair is a wanted object and the rendered one that stands for it; either may
// be nil.
type pair struct {
	want map[string]any
	got  *rendered
}

// compareChildren compares the wanted objects with the rendered children one by one.
func (v *Verdict) compareChildren(name, text string, out *catalog.Outcome) error {
	wants, err := catalog.Documents(name, text)
	if err != nil {
		return err
	}
	var got []*rendered
	for i, o := range out.Documents {
		got = append(got, &rendered{o, out.Traced.Result.Children[i].Doc})
	}
	before := len(v.Findings)
	for _, p := range pairObjects(wants, got) {
		finding, err := p.describeDiff(name)
		if err != nil {
			return err
		}
		if p.got == nil {
			finding += explainAbsence(p.want, out)
		}
		if finding != "" {
			v.addFinding(true, "%s", finding)
		}
	}
	if len(v.Findings) == before {
		v.addFinding(true, "the same children come in another order: %s", strings.Join(titlesOf(out.Documents), ", "))
	}
	return nil
}

// compareStatus compares the wanted status with the rendered one.
func (v *Verdict) compareStatus(name, text string, out *catalog.Outcome) error {
	wants, err := catalog.Documents(name, text)
	if err != nil || len(wants) > 1 {
		v.addFinding(true, "%s must be one document", name)
		return err
	}
	var want map[string]any
	if len(wants) == 1 {
		want = wants[0]
	}
	r := &rendered{object: out.Traced.Status}
	if run := out.Traced.FindRun("status"); run != nil && len(run.Documents) == 1 {
		r.doc = run.Documents[0]
	}
	finding, err := pair{want, r}.describeDiff(name)
	v.addFinding(true, "%s", finding)
	return err
}

// pairObjects finds which rendered object stands for which wanted one. It pairs them by identity
// first. Then it pairs objects of one kind, if one wanted and one rendered object remain.
func pairObjects(wants []map[string]any, got []*rendered) []pair {
	var all []pair
	rest := slices.Clone(got)
	take := func(match func(*rendered) bool) *rendered {
		i := slices.IndexFunc(rest, match)
		if i < 0 {
			return nil
		}
		found := rest[i]
		rest = slices.Delete(rest, i, i+1)
		return found
	}
	for _, want := range wants {
		id := identityOf(want)
		all = append(all, pair{want, take(func(r *rendered) bool { return identityOf(r.object) == id })})
	}
	for i, p := range all {
		same := func(o map[string]any) bool { return kindOf(o) == kindOf(p.want) }
		lonely := func(q pair) bool { return q.got == nil && same(q.want) }
		left := slices.DeleteFunc(slices.Clone(rest), func(r *rendered) bool { return !same(r.object) })
		if p.got == nil && len(left) == 1 && len(slices.DeleteFunc(slices.Clone(all), func(q pair) bool { return !lonely(q) })) == 1 {
			all[i].got = take(func(r *rendered) bool { return r == left[0] })
		}
	}
	for _, r := range rest {
		all = append(all, pair{nil, r})
	}
	return all
}

// describeDiff returns how a pair differs, or "" if it does not.
func (p pair) describeDiff(name string) (string, error) {
	var where, label string
	if p.got != nil {
		label = titleOf(p.got.object)
		where = "rendered"
		if p.got.doc != nil {
			where = p.got.doc.Place().File
		}
	}
	if p.want != nil {
		label = titleOf(p.want)
	}
	switch {
	case p.got == nil:
		return fmt.Sprintf("%s: wanted, and not rendered", label), nil
	case p.want == nil:
		text, err := yamlOf(maskRendered(p.got.object, nil))
		return appendDiff(fmt.Sprintf("%s: rendered, and not wanted (%s)", label, p.got.formatPlace()), side{name, ""}, side{where, text}), err
	case reflect.DeepEqual(unifyNumbers(p.want), unifyNumbers(p.got.object)):
		return "", nil
	}
	want, err := yamlOf(maskWanted(p.want, p.got.object))
	if err != nil {
		return "", err
	}
	got, err := yamlOf(maskRendered(p.got.object, p.want))
	if err != nil {
		return "", err
	}
	return appendDiff(p.formatHint(label), side{name + labelSuffix(label), want}, side{where + labelSuffix(label), got}), nil
}

// labelSuffix returns a label with a space before it, or "".
func labelSuffix(label string) string {
	if label == "" {
		return ""
	}
	return " " + label
}

// formatPlace returns the file and line of the object, or "rendered" if they are not known.
func (r *rendered) formatPlace() string {
	if r.doc == nil {
		return "rendered"
	}
	at := r.doc.Place()
	return fmt.Sprintf("%s:%d", at.File, at.Line)
}

func yamlOf(o map[string]any) (string, error) {
	if len(o) == 0 {
		return "", nil
	}
	text, err := funcs.YAML(o)
	if err != nil {
		return "", fmt.Errorf("printing: %w", err)
	}
	return string(text), nil
}

func kindOf(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	return u.GetAPIVersion() + "/" + u.GetKind()
}

// identityOf returns what identifies an object, or a patch of one.
func identityOf(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	return strings.Join([]string{kindOf(o), u.GetNamespace(), u.GetName(), u.GetAnnotations()[api.AnnotationSubresource]}, "/")
}

// titleOf returns how people call an object: Deployment default/web. It is "" for what has no kind,
// such as a status.
func titleOf(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	if u.GetKind() == "" {
		return ""
	}
	name := u.GetName()
	if u.GetNamespace() != "" {
		name = u.GetNamespace() + "/" + name
	}
	return u.GetKind() + " " + name
}

// titlesOf returns how people call these objects.
func titlesOf(all []map[string]any) []string {
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = titleOf(o)
	}
	return names
}
