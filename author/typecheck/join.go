package typecheck

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// deepest bounds how deep values are joined and compared; what is below may be
// anything.
const deepest = 12

// join is what is known of a value that is one or the other.
func join(a, b *val) *val { return joined(a, b, deepest) }

func joined(a, b *val, left int) *val {
	switch {
	case a == b || b == nil || b.can == 0:
		return a
	case a == nil || a.can == 0:
		return b
	case left == 0:
		return anything()
	}
	out := &val{can: a.can | b.can, longest: -1, way: a.way || b.way, free: a.free || b.free, sources: bothSources(a.sources, b.sources)}
	if a.known && b.known && show(a.constant) == show(b.constant) {
		out.known, out.constant = true, a.constant
	}
	if a.counts == b.counts {
		out.counts = a.counts
	}
	if a.id == b.id {
		out.id, out.parent = a.id, a.parent
	}
	if a.keyOf == b.keyOf {
		out.keyOf = a.keyOf
	}
	if a.exact && b.exact && a.read == b.read && a.path == b.path {
		out.read, out.path, out.exact = a.read, a.path, true
	}
	out.bounds(a, b)
	out.structure(a, b, left)
	out.filled = (!inner(a) || a.full()) && (!inner(b) || b.full())
	out.weigh()
	return out
}

// bounds are those that hold for both.
func (v *val) bounds(a, b *val) {
	text := func(x *val) bool { return x.can&(signature.String|signature.Number) != 0 }
	switch {
	case !text(a):
		v.least, v.most, v.shortest, v.longest = b.least, b.most, b.shortest, b.longest
	case !text(b):
		v.least, v.most, v.shortest, v.longest = a.least, a.most, a.shortest, a.longest
	default:
		v.shortest = min(a.shortest, b.shortest)
		if a.longest >= 0 && b.longest >= 0 {
			v.longest = max(a.longest, b.longest)
		}
		if a.least != nil && b.least != nil {
			least := min(*a.least, *b.least)
			v.least = &least
		}
	}
}

func inner(v *val) bool { return v.can&(signature.List|signature.Map) != 0 }

// structure joins what is in maps and lists.
func (v *val) structure(a, b *val, left int) {
	switch {
	case a.typ == b.typ && a.typ != nil:
		v.typ = a.typ
	case !inner(a):
		v.typ, v.fields, v.closed, v.elem, v.label = b.typ, b.fields, b.closed, b.elem, b.label
		v.plainType(a, b)
	case !inner(b):
		v.typ, v.fields, v.closed, v.elem, v.label = a.typ, a.fields, a.closed, a.elem, a.label
		v.plainType(a, b)
	default:
		v.open(a.opened(), b.opened(), left)
	}
}

// plainType is the type of a value that is a scalar by one of two.
func (v *val) plainType(a, b *val) {
	if a.known && has(b.typ.Enum(), a.constant) || b.known && has(a.typ.Enum(), b.constant) {
		if v.typ = a.typ; a.known {
			v.typ = b.typ
		}
		return
	}
	if a.can&signature.Present != 0 && b.can&signature.Present != 0 && v.can&(signature.List|signature.Map) == 0 {
		v.typ = schema.Union(a.schema(), b.schema())
	}
	if v.can&signature.Present != 0 && a.can&signature.Present == 0 {
		v.typ = b.typ
	}
	if v.can&signature.Present != 0 && b.can&signature.Present == 0 {
		v.typ = a.typ
	}
}

// opened is the value with its schema turned into fields.
func (v *val) opened() *val {
	if v.fields != nil || v.elem != nil || v.closed || v.typ == nil {
		return v
	}
	out := *v
	out.typ = nil
	switch v.typ.Kind() {
	case schema.KindList, schema.KindFreeMap:
		out.elem = v.item()
	case schema.KindObject:
		out.fields, out.closed = map[string]*val{}, !v.typ.FreeForm()
		for _, name := range v.typ.Fields() {
			out.fields[name], _ = v.field(name)
		}
	}
	return &out
}

func (v *val) open(a, b *val, left int) {
	v.closed, v.label = a.closed && b.closed, a.label
	for _, name := range sortedKeys(merged(a.fields, b.fields)) {
		if v.fields == nil {
			v.fields = map[string]*val{}
		}
		v.fields[name] = joined(a.part(name), b.part(name), left-1)
	}
	const collection = signature.Map | signature.List
	if a.can&collection != 0 && b.can&collection != 0 && (!a.closed && a.elem == nil || !b.closed && b.elem == nil) {
		return // the items of one may be anything
	}
	v.elem = joined(a.elem, b.elem, left-1)
}

// part is what stands under a key, for a join.
func (v *val) part(name string) *val {
	switch {
	case v.fields[name] != nil:
		return v.fields[name]
	case v.elem != nil:
		return v.elem.maybe()
	case v.closed || v.can&signature.Map == 0:
		return ofKinds(signature.Nil)
	}
	return anything()
}

func merged(a, b map[string]*val) map[string]*val {
	if len(b) == 0 {
		return a
	}
	all := maps.Clone(a)
	if all == nil {
		all = map[string]*val{}
	}
	maps.Copy(all, b)
	return all
}

func bothSources(a, b []Source) []Source {
	out := a
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(slices.Clip(out), s) // a may be of several values
		}
	}
	return out
}

// same reports whether two values are known to the same degree.
func same(a, b *val, left int) bool {
	if a == b || left == 0 {
		return true
	}
	if a == nil || b == nil || a.can != b.can || a.closed != b.closed || a.filled != b.filled || a.known != b.known ||
		a.typ != b.typ && !sameType(a.typ, b.typ) || len(a.fields) != len(b.fields) {
		return false
	}
	for name, f := range a.fields {
		if b.fields[name] == nil || !same(f, b.fields[name], left-1) {
			return false
		}
	}
	return same(a.elem, b.elem, left-1)
}

func sameType(a, b *schema.Type) bool {
	return a.Kind() == b.Kind() && slices.Equal(a.Fields(), b.Fields()) && len(a.Enum()) == len(b.Enum())
}

// show names a constant.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case int64, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%v", v)
}
