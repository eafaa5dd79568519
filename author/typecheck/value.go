package typecheck

import (
	"slices"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A val is what is known of a value while a path is followed.
type val struct {
	// can are the kinds that it may be of; 0 is a value that there is not yet.
	can signature.Kinds
	// typ is what a schema says of it; nil if none does.
	typ *schema.Type
	// fields are those of a map that a template makes; closed says that it has
	// no others.
	fields map[string]*val
	closed bool
	// elem is an item of a list, or a value of a map under any other key.
	elem *val
	// known: it is konst.
	known    bool
	constant any
	// least and most bound a number, where given.
	least, most *float64
	// shortest and longest bound the characters of a text; longest is -1 if
	// unbounded.
	shortest, longest int
	// id names the value: equal names are equal values. "" is none. parent is
	// what it is a field of.
	id, parent string
	// path is where it stands in what was read; exact says that it is that
	// very value.
	read, path string
	exact      bool
	// file is the file whose child it is part of.
	file    string
	sources []Source
	// label is how messages call a map that a template makes.
	label string
	// path says that what is known of it holds on this path only.
	way bool
	// piece is what include, toYaml and the like gave.
	piece *template.Piece
	// literals are the items of a list that is written out.
	literals []any
	// free: it may be of any kind, for all that is known.
	free bool
	// remake is the value again, after more was found out of what it is made of.
	remake  func(*path) *val
	remakes int
	// filled: a list or map surely has entries.
	filled bool
	// counted: a list of 0, 1, 2 and so on.
	counted bool
	// counts is 1 where a branch says that it counts as true, -1 as false.
	counts int
	// by is the fork whose side tells that it is there, where that is behind
	// the branch.
	by *fork
	// cluster: it is (part of) an object that lives in no namespace.
	cluster bool
	// keyOf names the map or list that it is a key of, heldBy the one whose
	// entries it has.
	keyOf, heldBy string
	// optional: the schema lets its map leave it out.
	optional bool
	// weight is how many values it is made of; 0 if that was not counted.
	weight int
}

// anyValue returns a value of which nothing is known.
func anyValue() *val { return &val{can: signature.Any, longest: -1, free: true} }

// constantValue returns the value of a constant.
func constantValue(v any) *val {
	c := &val{can: signature.KindsOf(v), known: true, constant: v, longest: -1, id: "=" + formatConstant(v)}
	if s, ok := v.(string); ok {
		c.longest, c.shortest = len([]rune(s)), len([]rune(s))
	}
	return c
}

func ofKinds(k signature.Kinds) *val { return &val{can: k, longest: -1} }

// typedValue returns a value of a type that a schema declares.
func typedValue(t *schema.Type) *val {
	v := &val{can: kindsOf(t), typ: t, longest: -1}
	v.free = v.can == signature.Any
	if t == nil {
		return v
	}
	if least, bounded := t.Minimum(); bounded {
		v.least = &least
	}
	if most, bounded := t.Maximum(); bounded {
		v.most = &most
	}
	v.shortest, v.longest, v.filled = t.MinLength(), t.MaxLength(), t.Fewest() > 0
	return v
}

// kindsOf are the kinds of the values of a type.
func kindsOf(t *schema.Type) signature.Kinds {
	if t.Nullable() {
		return signature.Nil | presentKinds(t.Kind())
	}
	return presentKinds(t.Kind())
}

// presentKinds returns the kinds that a present value of a schema kind may have.
func presentKinds(k schema.Kind) signature.Kinds {
	switch k {
	case schema.KindObject, schema.KindFreeMap:
		return signature.Map
	case schema.KindList:
		return signature.List
	case schema.KindString:
		return signature.String
	case schema.KindInteger:
		return signature.Int
	case schema.KindNumber:
		return signature.Number
	case schema.KindBoolean:
		return signature.Bool
	case schema.KindIntOrString:
		return signature.Int | signature.String
	}
	return signature.Any
}

// allowAbsent returns the value that may also be absent.
func (v *val) allowAbsent() *val {
	if v.can&signature.Nil != 0 {
		return v
	}
	out := *v
	out.can |= signature.Nil
	out.counts = 0
	if out.known {
		out.known, out.constant, out.id = false, nil, ""
	}
	return &out
}

// keepKinds returns the value limited to these kinds.
func (v *val) keepKinds(k signature.Kinds) *val {
	if v.can&k == v.can {
		return v
	}
	out := *v
	out.can &= k
	return &out
}

// isAbsent reports whether the value is surely absent.
func (v *val) isAbsent() bool { return v.can == signature.Nil }

// isSurely reports whether the value is of these kinds, if it is there at all.
func (v *val) isSurely(k signature.Kinds) bool {
	there := v.can &^ signature.Nil
	return there != 0 && there&^k == 0
}

// nameRead names the value as part of a read, and returns it.
func (v *val) nameRead(read, path string) *val {
	v.read, v.path, v.exact = read, path, true
	v.sources = []Source{{Read: read, Path: path, File: v.file}}
	return v
}

// enumValues returns the only constants that the value can be, or nil if they are not listed.
func (v *val) enumValues() []any {
	if v.known {
		return []any{v.constant}
	}
	if v.can&^signature.Nil&^signature.Scalar != 0 || v.can&signature.Nil != 0 {
		return nil
	}
	return v.typ.Enum()
}

// mayBeZero reports whether a value may be 0.
func (v *val) mayBeZero() bool {
	return (v.least == nil || *v.least <= 0) && (v.most == nil || *v.most >= 0)
}

// possibleTruth reports whether the value may count as true, and as false.
func (v *val) possibleTruth() (yes, no bool) {
	if v.known {
		t := isTruthy(v.constant)
		return t, !t
	}
	if v.counts != 0 {
		return v.counts > 0, v.counts < 0
	}
	if enum := v.enumValues(); len(enum) > 0 {
		for _, e := range enum {
			yes, no = yes || isTruthy(e), no || !isTruthy(e)
		}
		return yes, no
	}
	yes = v.can&^signature.Nil != 0
	no = v.can&(signature.Nil|signature.Bool) != 0 || v.can&signature.Number != 0 && v.mayBeZero() ||
		v.can&signature.String != 0 && v.shortest == 0
	if v.can&(signature.List|signature.Map) != 0 {
		no = no || !v.isFilled()
	}
	if v.can == 0 {
		return true, true
	}
	return yes, no
}

// isFilled reports whether a map or list surely has entries.
func (v *val) isFilled() bool {
	for _, f := range v.fields {
		if f.can != 0 && f.can&signature.Nil == 0 {
			return true
		}
	}
	return v.filled || v.fields == nil && slices.ContainsFunc(v.typ.Fields(), v.typ.Always)
}

// has reports whether a list surely has that many items.
func (v *val) has(n int) bool {
	return n <= 1 && v.isFilled() || v.exact && v.typ.Fewest() >= n
}

// isTruthy reports whether a constant counts as true.
func isTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
