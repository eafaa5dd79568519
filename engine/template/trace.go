package template

import (
	"math"
	"strconv"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Place is where the template writes the field at path: names of fields as
// string, numbers of list items as int. It follows the path as far as the
// template wrote it; what a value brought stands where the value is printed.
func (d *Document) Place(path ...any) Place {
	f := d.filler()
	n, _, at := f.walk(d.root, path)
	if at.src != nil {
		return at.place()
	}
	return f.where(n)
}

// KeyPlace is where the template writes the key of the field at path; where it
// writes none, the same as Place.
func (d *Document) KeyPlace(path ...any) Place {
	f := d.filler()
	last := max(len(path)-1, 0)
	parent, left, _ := f.walk(d.root, path[:last])
	if last == len(path) || left > 0 {
		return d.Place(path...)
	}
	for _, e := range parent.entries {
		if e.merge {
			continue
		}
		if key, err := f.key(e.key); err == nil && key == path[last] {
			return f.where(e.key)
		}
	}
	return d.Place(path...)
}

// walk follows a path from a node as far as there are nodes: to the last of
// them, how many steps are left, and the value that brought the next one.
func (f *filler) walk(n *node, path []any) (last *node, left int, brought pos) {
	for i, step := range path {
		next, at := f.step(n, step)
		if next == nil {
			return n, len(path) - i, at
		}
		n = next
	}
	return n, 0, pos{}
}

// where is the place of a node.
func (f *filler) where(n *node) Place {
	if n.kind == holeNode {
		return f.holes[n.hole].at.place()
	}
	return f.at(n.line, n.column).place()
}

// Writes reports whether the template writes the field at path literally, even if
// its value is nothing and so it is left out.
func (d *Document) Writes(path ...string) bool {
	n := d.root
	for _, step := range path {
		if n = n.below(step); n == nil {
			return false
		}
	}
	return true
}

// below is the value of a literal key.
func (n *node) below(key string) *node {
	for _, e := range n.entries {
		if name, ok := e.key.value.(string); ok && !e.merge && name == key {
			return e.value
		}
	}
	return nil
}

func (d *Document) filler() *filler {
	return newFiller(d.src, d.out, &room{lim: funcs.DefaultLimits, nodes: math.MaxInt, bytes: math.MaxInt})
}

// step goes one step down: to a node, or to the value that brought the field.
func (f *filler) step(n *node, step any) (*node, pos) {
	switch step := step.(type) {
	case string:
		for _, e := range n.entries {
			if e.merge {
				if m, ok := unwrap(f.holes[e.key.hole].value).(map[string]any); ok && m[step] != nil {
					return nil, f.holes[e.key.hole].at
				}
				continue
			}
			if key, err := f.key(e.key); err == nil && key == step {
				return e.value, pos{}
			}
		}
	case int:
		for _, item := range n.items {
			size := 1
			if item.kind == holeNode && item.block == 'l' {
				list, _ := unwrap(f.holes[item.hole].value).([]any)
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

func unwrap(v any) any {
	if e, ok := v.(*encoded); ok {
		return e.value
	}
	return v
}
