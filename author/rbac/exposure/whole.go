package exposure

import (
	"fmt"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// deepest is how far below a value that is put in as a whole its fields are
// told one by one: Pods have their containers five steps below a Deployment.
const deepest = 8

// An at is where a whole value is put: a place in a template, a path in a child,
// the type of the value, and that of the field that it goes into.
type at struct {
	place template.Place
	path  []string
	from  *schema.Type
	into  *schema.Type
}

// whole notes what a value that is put in unchanged reaches: itself, and the
// dangerous fields of the child below it that the value can have.
func (f *finder) whole(from string, a at) {
	f.note(from, a.place, a.path, false)
	if riskOf(f.gvk.Kind, a.path) == Other {
		f.below(from, a, deepest)
	}
}

func (f *finder) below(from string, a at, depth int) {
	if a.into == nil || depth == 0 {
		return
	}
	if a.into.Kind() == schema.KindList {
		f.step(below(from, "[]", a.from), at{a.place, listed(a.path), a.from.Elem(), a.into.Elem()}, depth)
		return
	}
	for _, name := range a.into.Fields() {
		child, _ := a.into.Field(name)
		part, may := a.from.Field(name)
		if may {
			f.step(below(from, "."+name, a.from), at{a.place, append(slices.Clone(a.path), name), part, child}, depth)
		}
	}
}

// below is the path of what is below a field of the resource. Where the CRD does
// not say what that is, it counts as the field itself.
func below(path, step string, t *schema.Type) string {
	if t.Kind() == schema.KindAny || t.FreeForm() && len(t.Fields()) == 0 {
		return path
	}
	return path + step
}

// step notes a field below a whole value if it is dangerous, or looks below it.
func (f *finder) step(from string, a at, depth int) {
	if riskOf(f.gvk.Kind, a.path) != Other {
		f.note(from, a.place, a.path, false)
		return
	}
	f.below(from, a, depth-1)
}

// line is the file and line of a place.
func line(p template.Place) string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
