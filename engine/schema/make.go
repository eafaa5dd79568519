package schema

import (
	"maps"
	"slices"
)

// depth bounds how deep Union and Of look: types of built-in kinds may hold
// themselves.
const depth = 20

// Scalar returns the type of all values of a kind.
func Scalar(kind Kind) *Type { return &Type{kind: kind} }

// ListOf returns the type of lists of such items.
func ListOf(item *Type) *Type { return &Type{kind: KindList, elem: item} }

// MapOf returns the type of maps of such values, under any keys.
func MapOf(value *Type) *Type { return &Type{kind: KindFreeMap, elem: value} }

// ObjectOf returns the type of maps with these fields, of which some are always
// there.
func ObjectOf(fields map[string]*Type, always ...string) *Type {
	return &Type{kind: KindObject, fields: fields, given: slices.Sorted(slices.Values(always))}
}

// AllowUnknown returns the type with fields besides the declared ones allowed.
func (t *Type) AllowUnknown() *Type {
	if t.Kind() != KindObject {
		return t
	}
	open := *t
	open.open = true
	return &open
}

// Either returns the type of these texts.
func Either(texts ...string) *Type {
	t := &Type{kind: KindString}
	for _, text := range texts {
		t.enum = append(t.enum, text)
	}
	return t
}

// Of returns the type of a JSON value, with every field of it always there. A
// text, number or boolean stands for all of its kind.
func Of(value any) *Type {
	switch value := value.(type) {
	case string:
		return Scalar(KindString)
	case bool:
		return Scalar(KindBoolean)
	case int, int32, int64:
		return Scalar(KindInteger)
	case float32, float64:
		return Scalar(KindNumber)
	case []any:
		if len(value) == 0 {
			return ListOf(Any)
		}
		item := Of(value[0])
		for _, other := range value[1:] {
			item = Union(item, Of(other))
		}
		return ListOf(item)
	case map[string]any:
		fields := make(map[string]*Type, len(value))
		for name, field := range value {
			fields[name] = Of(field)
		}
		return ObjectOf(fields, slices.Collect(maps.Keys(fields))...)
	}
	return Any
}

// Union returns the type of the values of either type; Any where they have
// nothing in common.
func Union(a, b *Type) *Type { return unionOf(a, b, depth) }

// unionOf returns the type of the values of both types.
func unionOf(a, b *Type, left int) *Type {
	switch {
	case a == b:
		return a
	case left == 0 || a.Kind() == KindAny || b.Kind() == KindAny:
		return Any
	}
	kind := commonKind(a.kind, b.kind)
	t := &Type{kind: kind, nullable: a.nullable || b.nullable}
	switch kind {
	case KindObject:
		uniteFields(t, a, b, left-1)
	case KindList, KindFreeMap:
		t.elem = unionOf(a.Elem(), b.Elem(), left-1)
	case KindAny:
		return Any
	}
	if len(a.enum) > 0 && len(b.enum) > 0 {
		t.enum = uniteValues(a.enum, b.enum)
	}
	t.bounds = widerBounds(a.bounds, b.bounds)
	return t
}

// commonKind is the least kind that holds the values of both.
func commonKind(a, b Kind) Kind {
	is := func(one, other Kind) bool { return a == one && b == other || a == other && b == one }
	switch {
	case a == b:
		return a
	case is(KindInteger, KindNumber):
		return KindNumber
	case is(KindInteger, KindString), is(KindInteger, KindIntOrString), is(KindString, KindIntOrString):
		return KindIntOrString
	}
	return KindAny
}

// uniteFields gives an object the fields of both; what only one has may be
// absent.
func uniteFields(t, a, b *Type, left int) {
	t.fields, t.open = maps.Clone(a.fields), a.FreeForm() || b.FreeForm()
	for name, field := range b.fields {
		if other, both := t.fields[name]; both {
			field = unionOf(field, other, left)
		}
		t.fields[name] = field
	}
	for name := range t.fields {
		if a.Always(name) && b.Always(name) {
			t.given = append(t.given, name)
		}
	}
	slices.Sort(t.given)
}

// uniteValues returns the values of both lists, which hold scalars.
func uniteValues(a, b []any) []any {
	all := slices.Clone(a)
	for _, value := range b {
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}

// widerBounds returns the bounds that hold for the values of both.
func widerBounds(a, b bounds) bounds {
	if a == b {
		return a
	}
	var w bounds
	w.shortest = min(a.shortest, b.shortest)
	if a.longest != nil && b.longest != nil {
		longest := max(*a.longest, *b.longest)
		w.longest = &longest
	}
	if a.least != nil && b.least != nil && *a.least == *b.least {
		w.least, w.leastOut = a.least, a.leastOut && b.leastOut
	}
	if a.most != nil && b.most != nil && *a.most == *b.most {
		w.most, w.mostOut = a.most, a.mostOut && b.mostOut
	}
	return w
}
