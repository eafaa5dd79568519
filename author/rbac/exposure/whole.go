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

// followWhole records what a value reaches that is put in unchanged: the field itself, and the
// dangerous fields below it that the value can have.
func (f *finder) followWhole(from string, a at) {
	f.recordReach(from, a.place, a.path, false)
	if riskOf(f.gvk.Kind, a.path) == Other {
		f.followBelow(from, a, deepest)
	}
}

// followBelow follows the fields below a whole value, as many steps as depth.
func (f *finder) followBelow(from string, a at, depth int) {
	if a.into == nil || depth == 0 {
		return
	}
	if a.into.Kind() == schema.KindList {
		f.followStep(pathBelow(from, "[]", a.from), at{a.place, itemPath(a.path), a.from.Elem(), a.into.Elem()}, depth)
		return
	}
	for _, name := range a.into.Fields() {
		child, _ := a.into.Field(name)
		part, may := a.from.Field(name)
		if may {
			f.followStep(pathBelow(from, "."+name, a.from), at{a.place, append(slices.Clone(a.path), name), part, child}, depth)
		}
	}
}

// pathBelow returns the path of what is below a field of the resource. Where the CRD does not say
// what that is, it counts as the field itself.
func pathBelow(path, step string, t *schema.Type) string {
	if t.Kind() == schema.KindAny || t.FreeForm() && len(t.Fields()) == 0 {
		return path
	}
	return path + step
}

// followStep records a field below a whole value if it is dangerous, and otherwise follows what is
// below it.
func (f *finder) followStep(from string, a at, depth int) {
	if riskOf(f.gvk.Kind, a.path) != Other {
		f.recordReach(from, a.place, a.path, false)
		return
	}
	f.followBelow(from, a, depth-1)
}

// formatPlace returns the file and line of a place.
func formatPlace(p template.Place) string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
