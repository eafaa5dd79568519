package typecheck

import (
	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// field is the value of a field; not found where the map is known not to have
// it, or where the value is no map.
func (v *val) field(name string) (*val, bool) {
	switch {
	case v.nothing():
		out := ofKinds(signature.Nil)
		out.way = v.way
		return out, true
	case v.can&signature.Map == 0:
		return nil, v.can == 0
	}
	out, found := v.entry(name)
	if !found {
		return nil, false
	}
	copied := *out
	out = &copied
	if v.can&signature.Nil != 0 {
		out = out.maybe()
	}
	if out == &copied || out.id == "" {
		out.name(v, "."+name)
	}
	out.way = out.way || v.way
	return out, true
}

// entry is what a map has under a key, without its name.
func (v *val) entry(name string) (*val, bool) {
	if v.known {
		if m, ok := v.constant.(map[string]any); ok {
			return constant(m[name]), true
		}
	}
	if f := v.fields[name]; f != nil {
		out := *f
		out.way = true // another caller may give another map
		return &out, true
	}
	if v.typ != nil && (v.typ.Kind() == schema.KindAny || v.can&^signature.Nil == signature.Map) {
		return v.declared(name)
	}
	if v.elem != nil {
		return v.elem.maybe(), true
	}
	out := anything()
	out.sources = v.sources
	return out, !v.closed
}

// declared is the field that the schema gives.
func (v *val) declared(name string) (*val, bool) {
	t, found := v.typ.Field(name)
	if !found {
		return nil, false
	}
	out := typed(t)
	out.cluster = v.cluster
	if inNamespace := name == "namespace" && v.exact && v.path == "metadata" && !v.cluster; !inNamespace && !v.typ.Always(name) {
		out = out.maybe()
		out.optional = true
	}
	if v.exact {
		out.file = v.file
		out.named(v.read, v.below(name))
	} else {
		out.sources = v.sources
	}
	return out, true
}

// below is the path of a field.
func (v *val) below(name string) string {
	switch {
	case v.typ.Kind() == schema.KindFreeMap:
		return v.path + ".*"
	case v.path == "":
		return name
	}
	return v.path + "." + name
}

// name gives a part its name, if it has none of its own.
func (v *val) name(whole *val, step string) {
	if v.id == "" && whole.id != "" && !v.known {
		v.id, v.parent = whole.id+step, whole.id
	}
}

// item is an item of a list, or a value of a map.
func (v *val) item() *val {
	out := v.inner()
	if out == nil {
		out = anything()
		out.sources = v.sources
	}
	copied := *out
	copied.way = copied.way || v.way
	return &copied
}

func (v *val) inner() *val {
	if v.known {
		return knownItem(v.constant)
	}
	if v.fields != nil && v.elem == nil && !v.closed {
		return nil
	}
	if v.elem != nil || v.closed {
		out := v.elem
		for _, f := range v.fields {
			out = join(out, f)
		}
		if out == nil {
			return ofKinds(0)
		}
		bare := *out
		bare.id, bare.parent = "", ""
		return &bare
	}
	if v.typ == nil || v.typ.Elem() == nil {
		return nil
	}
	out := typed(v.typ.Elem())
	if !v.exact {
		out.sources = v.sources
		return out
	}
	out.file = v.file
	if v.typ.Kind() == schema.KindList {
		return out.named(v.read, v.path+"[]")
	}
	return out.named(v.read, v.path+".*")
}

// knownItem is an item of a literal.
func knownItem(v any) *val {
	out := ofKinds(0)
	switch v := v.(type) {
	case []any:
		for _, i := range v {
			out = join(out, constant(i))
		}
	case map[string]any:
		for _, i := range v {
			out = join(out, constant(i))
		}
	}
	bare := *out
	bare.id, bare.parent = "", ""
	return &bare
}

// names are the fields that a map can have, for suggestions.
func (v *val) names() []string {
	if v.fields == nil {
		return v.typ.Fields()
	}
	return sortedKeys(v.fields)
}

// schema is the type of the value, for others; nil if nothing is known.
func (v *val) schema() *schema.Type { return v.schemaTo(deepest) }

func (v *val) schemaTo(left int) *schema.Type {
	there := v.can &^ signature.Nil
	switch {
	case v.typ != nil && v.fields == nil && v.elem == nil && there&^kindsOf(v.typ) == 0 && there == kindsOf(v.typ)&^signature.Nil:
		return v.typ
	case left == 0 || v.known && v.constant == nil:
		return nil
	case v.known:
		return schema.Of(v.constant)
	}
	switch there {
	case signature.Bool:
		return schema.Scalar(schema.KindBoolean)
	case signature.Int:
		return schema.Scalar(schema.KindInteger)
	case signature.Float, signature.Number:
		return schema.Scalar(schema.KindNumber)
	case signature.String:
		return schema.Scalar(schema.KindString)
	case signature.Int | signature.String:
		return schema.Scalar(schema.KindIntOrString)
	case signature.List:
		return schema.ListOf(v.elemType(left))
	case signature.Map:
		return v.mapType(left)
	}
	return nil
}

func (v *val) elemType(left int) *schema.Type {
	if v.elem == nil {
		return v.typ.Elem()
	}
	return v.elem.schemaTo(left - 1)
}

func (v *val) mapType(left int) *schema.Type {
	if v.fields == nil {
		if v.elem == nil && v.typ != nil {
			return v.typ
		}
		return schema.MapOf(v.elemType(left))
	}
	fields := map[string]*schema.Type{}
	var always []string
	for _, name := range sortedKeys(v.fields) {
		f := v.fields[name]
		if fields[name] = f.schemaTo(left - 1); f.can&signature.Nil == 0 {
			always = append(always, name)
		}
	}
	out := schema.ObjectOf(fields, always...)
	if !v.closed {
		out = out.AllowUnknown()
	}
	return out
}

// shown is the value for others.
func (v *val) shown() *Value {
	out := &Value{Type: v.schema(), Nil: v.can&signature.Nil != 0, Const: v.constant, Known: v.known, Exact: v.exact, MaxLen: v.length()}
	out.Sources = v.sources
	return out
}

// length is how many characters its text has at most; -1 if unbounded.
func (v *val) length() int {
	switch {
	case v.longest >= 0 || v.can&(signature.String|signature.List|signature.Map) != 0:
		return v.longest
	case v.can&signature.Float != 0:
		return 25
	case v.can&signature.Int != 0:
		return 20
	}
	return 5
}
