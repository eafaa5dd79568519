package template

import (
	"regexp"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// MadeOf reports whether the text at path, whose keys the template writes
// literally, is made of nothing but literal text, this name, and what childName
// makes of the name and a literal suffix.
func (d *Document) MadeOf(name string, path ...string) bool {
	n := d.root
	for _, step := range path {
		if n = n.valueOf(step); n == nil {
			return false
		}
	}
	switch n.kind {
	case constNode:
		return true
	case holeNode:
		return d.out.holes[n.hole].isNameOf(name)
	case textNode:
		return !slices.ContainsFunc(n.parts, func(p part) bool { return p.hole >= 0 && !d.out.holes[p.hole].isNameOf(name) })
	}
	return false
}

// callsChildName is an action that prints what childName gives for a literal
// suffix.
var callsChildName = regexp.MustCompile(`^\{\{-? ?childName \S+ "([^"\\]*)" ?-?\}\}$`)

// isNameOf reports whether what was printed is the name, or what childName makes of it.
func (h hole) isNameOf(name string) bool {
	if h.value == name {
		return true
	}
	m := callsChildName.FindStringSubmatch(h.at.actionAround())
	if m == nil {
		return false
	}
	made, err := callText(funcs.DefaultLimits, "childName", name, m[1])
	return err == nil && h.value == made
}
