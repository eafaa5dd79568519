package schema

import (
	"maps"
	"slices"
)

// A Kind says what sort of value stands in a place.
type Kind int

// The kinds of values.
const (
	KindAny         Kind = iota // nothing is known: every path below is allowed
	KindObject                  // a map with declared fields
	KindFreeMap                 // a map with keys of the author's choice, all of one type
	KindList                    // a list
	KindString                  // a string
	KindInteger                 // a whole number
	KindNumber                  // a number
	KindBoolean                 // true or false
	KindIntOrString             // a whole number or a string
)

var kindNames = [...]string{"any value", "object", "map", "list", "string", "integer", "number", "boolean", "integer or string"}

// String returns the kind as a person would say it, such as "list".
func (k Kind) String() string { return kindNames[k] }

// A Type is the type of one place in an object, as a template sees it. It is
// read-only. A nil *Type is the same as Any.
type Type struct {
	kind     Kind
	fields   map[string]*Type
	elem     *Type
	open     bool // an object that keeps fields which it does not declare
	nullable bool
	required []string
	given    []string // fields that every stored object has, required or not
	enum     []any
	value    any // the default, nil if there is none
	note     string
	bounds   bounds
	unions   []fieldUnion // of a struct of the API, which fields exclude each other
}

// Any is the type of a place of which nothing is known.
var Any = &Type{kind: KindAny}

// Kind returns what sort of value stands here.
func (t *Type) Kind() Kind {
	if t == nil {
		return KindAny
	}
	return t.kind
}

// Field returns the type of the field of that name. It is not found where the
// schema is known not to declare it, and below numbers, strings, booleans and
// lists; in a free-form place every name is found, as Any.
func (t *Type) Field(name string) (child *Type, found bool) {
	switch t.Kind() {
	case KindAny:
		return Any, true
	case KindFreeMap:
		return t.Elem(), true
	case KindObject:
		if child, found := t.fields[name]; found {
			return child, true
		}
		if t.FreeForm() {
			return Any, true
		}
	}
	return nil, false
}

// Elem returns the type of the items of a list or of the values of a free map;
// Any where it is not known; nil for other kinds and for objects with declared
// fields, whose values are of many types.
func (t *Type) Elem() *Type {
	switch t.Kind() {
	case KindAny:
		return Any
	case KindList, KindFreeMap:
		if t.elem == nil {
			return Any
		}
		return t.elem
	case KindObject:
		if len(t.fields) == 0 {
			return Any
		}
	}
	return nil
}

// Fields returns the names of the declared fields, sorted.
func (t *Type) Fields() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.fields))
}

// FreeForm reports whether fields that the type does not declare may occur: it
// declares none, or preserves unknown ones. Scalars and lists have no fields.
func (t *Type) FreeForm() bool {
	switch t.Kind() {
	case KindAny, KindFreeMap:
		return true
	case KindObject:
		return t.open || len(t.fields) == 0
	}
	return false
}

// Nullable reports whether null is a value of its own here.
func (t *Type) Nullable() bool { return t != nil && t.nullable }

// Required returns the names of the fields that must be given, sorted.
func (t *Type) Required() []string {
	if t == nil {
		return nil
	}
	return slices.Clone(t.required)
}

// Always reports whether the field of that name is there in every stored object of
// this type: required, filled in by a default, or by the cluster.
func (t *Type) Always(name string) bool {
	if t == nil {
		return false
	}
	field := t.fields[name]
	return slices.Contains(t.required, name) || slices.Contains(t.given, name) || field != nil && field.value != nil
}

// Default returns a copy of the value that the API server fills in where the
// field is absent, nil if there is none.
func (t *Type) Default() any {
	if t == nil {
		return nil
	}
	return cloneValue(t.value)
}

// Enum returns the only values allowed, nil if the schema lists none.
func (t *Type) Enum() []any {
	if t == nil {
		return nil
	}
	return slices.Clone(t.enum)
}

// Description returns the schema's own words about the place.
func (t *Type) Description() string {
	if t == nil {
		return ""
	}
	return t.note
}
