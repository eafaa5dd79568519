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

// joinValues returns what is known of a value that is one or the other.
func joinValues(a, b *val) *val { return joinToDepth(a, b, deepest) }

// joinToDepth joins two values down to a depth.
func joinToDepth(a, b *val, left int) *val {
	switch {
	case a == b || b == nil || b.can == 0:
		return a
	case a == nil || a.can == 0:
		return b
	case left == 0:
		return anyValue()
	}
	out := &val{can: a.can | b.can, longest: -1, way: a.way || b.way, free: a.free || b.free, sources: bothSources(a.sources, b.sources)}
	if a.known && b.known && formatConstant(a.constant) == formatConstant(b.constant) {
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
	out.joinBounds(a, b)
	out.joinStructure(a, b, left)
	out.filled = (!isCollection(a) || a.isFilled()) && (!isCollection(b) || b.isFilled())
	out.weighValue()
	return out
}

// joinBounds sets the bounds that hold for both values.
func (v *val) joinBounds(a, b *val) {
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

// isCollection reports whether a value may be a list or a map.
func isCollection(v *val) bool { return v.can&(signature.List|signature.Map) != 0 }

// joinStructure joins the contents of maps and lists.
func (v *val) joinStructure(a, b *val, left int) {
	switch {
	case a.typ == b.typ && a.typ != nil:
		v.typ = a.typ
	case !isCollection(a):
		v.typ, v.fields, v.closed, v.elem, v.label = b.typ, b.fields, b.closed, b.elem, b.label
		v.plainType(a, b)
	case !isCollection(b):
		v.typ, v.fields, v.closed, v.elem, v.label = a.typ, a.fields, a.closed, a.elem, a.label
		v.plainType(a, b)
	default:
		v.joinFields(a.openSchema(), b.openSchema(), left)
	}
}

// plainType is the type of a value that is a scalar by one of two.
func (v *val) plainType(a, b *val) {
	if a.known && hasValue(b.typ.Enum(), a.constant) || b.known && hasValue(a.typ.Enum(), b.constant) {
		if v.typ = a.typ; a.known {
			v.typ = b.typ
		}
		return
	}
	if a.can&signature.Present != 0 && b.can&signature.Present != 0 && v.can&(signature.List|signature.Map) == 0 {
		v.typ = schema.Union(a.schemaType(), b.schemaType())
	}
	if v.can&signature.Present != 0 && a.can&signature.Present == 0 {
		v.typ = b.typ
	}
	if v.can&signature.Present != 0 && b.can&signature.Present == 0 {
		v.typ = a.typ
	}
}

// openSchema returns the value with its schema turned into fields.
func (v *val) openSchema() *val {
	if v.fields != nil || v.elem != nil || v.closed || v.typ == nil {
		return v
	}
	out := *v
	out.typ = nil
	switch v.typ.Kind() {
	case schema.KindList, schema.KindFreeMap:
		out.elem = v.itemValue()
	case schema.KindObject:
		out.fields, out.closed = map[string]*val{}, !v.typ.FreeForm()
		for _, name := range v.typ.Fields() {
			out.fields[name], _ = v.findField(name)
		}
	}
	return &out
}

// joinFields joins the fields and items of two values without schemas.
func (v *val) joinFields(a, b *val, left int) {
	v.closed, v.label = a.closed && b.closed, a.label
	for _, name := range sortedKeys(mergeFields(a.fields, b.fields)) {
		if v.fields == nil {
			v.fields = map[string]*val{}
		}
		v.fields[name] = joinToDepth(a.joinablePart(name), b.joinablePart(name), left-1)
	}
	const collection = signature.Map | signature.List
	if a.can&collection != 0 && b.can&collection != 0 && (!a.closed && a.elem == nil || !b.closed && b.elem == nil) {
		return // the items of one may be anything
	}
	v.elem = joinToDepth(a.elem, b.elem, left-1)
}

// joinablePart returns the value under a key, for a join.
func (v *val) joinablePart(name string) *val {
	switch {
	case v.fields[name] != nil:
		return v.fields[name]
	case v.elem != nil:
		return v.elem.allowAbsent()
	case v.closed || v.can&signature.Map == 0:
		return ofKinds(signature.Nil)
	}
	return anyValue()
}

// mergeFields returns the fields of both maps.
func mergeFields(a, b map[string]*val) map[string]*val {
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

// isSameValue reports whether two values are known to the same degree.
func isSameValue(a, b *val, left int) bool {
	if a == b || left == 0 {
		return true
	}
	if a == nil || b == nil || a.can != b.can || a.closed != b.closed || a.filled != b.filled || a.known != b.known ||
		a.typ != b.typ && !sameType(a.typ, b.typ) || len(a.fields) != len(b.fields) {
		return false
	}
	for name, f := range a.fields {
		if b.fields[name] == nil || !isSameValue(f, b.fields[name], left-1) {
			return false
		}
	}
	return isSameValue(a.elem, b.elem, left-1)
}

func sameType(a, b *schema.Type) bool {
	return a.Kind() == b.Kind() && slices.Equal(a.Fields(), b.Fields()) && len(a.Enum()) == len(b.Enum())
}

// formatConstant returns the text of a constant.
func formatConstant(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case int64, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%v", v)
}
