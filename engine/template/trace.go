package template

import (
	"math"
	"strconv"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// formatInt formats a number.
func formatInt(n int) string { return strconv.Itoa(n) }

// Place is where the template writes the field at path: names of fields as
// string, numbers of list items as int. It follows the path as far as the
// template wrote it; what a value brought stands where the value is printed.
func (d *Document) Place(path ...any) Place {
	f := d.newFiller()
	n, _, at := f.walkPath(d.root, path)
	if at.src != nil {
		return at.toPlace()
	}
	return f.placeOf(n)
}

// KeyPlace is where the template writes the key of the field at path; where it
// writes none, the same as Place.
func (d *Document) KeyPlace(path ...any) Place {
	f := d.newFiller()
	last := max(len(path)-1, 0)
	parent, left, _ := f.walkPath(d.root, path[:last])
	if last == len(path) || left > 0 {
		return d.Place(path...)
	}
	for _, e := range parent.entries {
		if e.merge {
			continue
		}
		if key, err := f.fillKey(e.key); err == nil && key == path[last] {
			return f.placeOf(e.key)
		}
	}
	return d.Place(path...)
}

// walkPath follows a path from a node as far as there are nodes: to the last of them, how many
// steps are left, and the value that brought the next one.
func (f *filler) walkPath(n *node, path []any) (last *node, left int, brought pos) {
	for i, step := range path {
		next, at := f.stepDown(n, step)
		if next == nil {
			return n, len(path) - i, at
		}
		n = next
	}
	return n, 0, pos{}
}

// placeOf returns the place of a node.
func (f *filler) placeOf(n *node) Place {
	if n.kind == holeNode {
		return f.holes[n.hole].at.toPlace()
	}
	return f.posAt(n.line, n.column).toPlace()
}

// Writes reports whether the template writes the field at path literally, even if
// its value is nothing and so it is left out.
func (d *Document) Writes(path ...string) bool {
	n := d.root
	for _, step := range path {
		if n = n.valueOf(step); n == nil {
			return false
		}
	}
	return true
}

// valueOf returns the value of a literal key, or nil.
func (n *node) valueOf(key string) *node {
	for _, e := range n.entries {
		if name, ok := e.key.value.(string); ok && !e.merge && name == key {
			return e.value
		}
	}
	return nil
}

// newFiller returns a filler without limits.
func (d *Document) newFiller() *filler {
	return newFiller(d.src, d.out, &room{lim: funcs.DefaultLimits, nodes: math.MaxInt, bytes: math.MaxInt})
}

// stepDown goes one step down: to a node, or to the value that brought the field.
func (f *filler) stepDown(n *node, step any) (*node, pos) {
	switch step := step.(type) {
	case string:
		for _, e := range n.entries {
			if e.merge {
				if m, ok := unwrapEncoded(f.holes[e.key.hole].value).(map[string]any); ok && m[step] != nil {
					return nil, f.holes[e.key.hole].at
				}
				continue
			}
			if key, err := f.fillKey(e.key); err == nil && key == step {
				return e.value, pos{}
			}
		}
	case int:
		for _, item := range n.items {
			size := 1
			if item.kind == holeNode && item.block == 'l' {
				list, _ := unwrapEncoded(f.holes[item.hole].value).([]any)
				size = len(list)
			}
			if step < size {
				return item, pos{}
			}
			step -= size
		}
	}
	return nil, pos{}
}

// unwrapEncoded returns the value of what toYaml or toJson gave.
func unwrapEncoded(v any) any {
	if e, ok := v.(*encoded); ok {
		return e.value
	}
	return v
}
