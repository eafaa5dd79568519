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

// children compares the wanted objects with the rendered children one by one.
func (v *Verdict) children(name, text string, out *catalog.Outcome) error {
	wants, err := catalog.Documents(name, text)
	if err != nil {
		return err
	}
	var got []*rendered
	for i, o := range out.Documents {
		got = append(got, &rendered{o, out.Traced.Result.Children[i].Doc})
	}
	before := len(v.Findings)
	for _, p := range pairs(wants, got) {
		finding, err := p.compare(name)
		if err != nil {
			return err
		}
		if p.got == nil {
			finding += why(p.want, out)
		}
		if finding != "" {
			v.find(true, "%s", finding)
		}
	}
	if len(v.Findings) == before {
		v.find(true, "the same children come in another order: %s", strings.Join(titles(out.Documents), ", "))
	}
	return nil
}

// status compares the wanted status with the rendered one.
func (v *Verdict) status(name, text string, out *catalog.Outcome) error {
	wants, err := catalog.Documents(name, text)
	if err != nil || len(wants) > 1 {
		v.find(true, "%s must be one document", name)
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
	finding, err := pair{want, r}.compare(name)
	v.find(true, "%s", finding)
	return err
}

// pairs finds what stands for what: first by identity, and then, of objects of
// one kind, the only wanted and the only rendered one that are left.
func pairs(wants []map[string]any, got []*rendered) []pair {
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
		id := identity(want)
		all = append(all, pair{want, take(func(r *rendered) bool { return identity(r.object) == id })})
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

// compare says how a pair differs; "" if it does not.
func (p pair) compare(name string) (string, error) {
	var where, label string
	if p.got != nil {
		label = title(p.got.object)
		where = "rendered"
		if p.got.doc != nil {
			where = p.got.doc.Place().File
		}
	}
	if p.want != nil {
		label = title(p.want)
	}
	switch {
	case p.got == nil:
		return fmt.Sprintf("%s: wanted, and not rendered", label), nil
	case p.want == nil:
		text, err := yamlOf(masked(p.got.object, nil))
		return diffed(fmt.Sprintf("%s: rendered, and not wanted (%s)", label, p.got.place()), side{name, ""}, side{where, text}), err
	case reflect.DeepEqual(plain(p.want), plain(p.got.object)):
		return "", nil
	}
	want, err := yamlOf(masked(p.want, p.got.object))
	if err != nil {
		return "", err
	}
	got, err := yamlOf(maskedAfter(p.got.object, p.want))
	if err != nil {
		return "", err
	}
	return diffed(p.hint(label), side{name + suffix(label), want}, side{where + suffix(label), got}), nil
}

func suffix(label string) string {
	if label == "" {
		return ""
	}
	return " " + label
}

func (r *rendered) place() string {
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

// identity is what makes an object, or a patch of one, what it is.
func identity(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	return strings.Join([]string{kindOf(o), u.GetNamespace(), u.GetName(), u.GetAnnotations()[api.AnnotationSubresource]}, "/")
}

// title is how people call an object: Deployment default/web; "status" if it is
// none.
func title(o map[string]any) string {
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

func titles(all []map[string]any) []string {
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = title(o)
	}
	return names
}
