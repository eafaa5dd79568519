package typecheck

import (
	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// findField returns the value of a field. It is not found if the map is known not to have it, or if
// the value is no map.
func (v *val) findField(name string) (*val, bool) {
	switch {
	case v.isAbsent():
		out := ofKinds(signature.Nil)
		out.way = v.way
		return out, true
	case v.can&signature.Map == 0:
		return nil, v.can == 0
	}
	out, found := v.findEntry(name)
	if !found {
		return nil, false
	}
	copied := *out
	out = &copied
	if v.can&signature.Nil != 0 {
		out = out.allowAbsent()
	}
	if out == &copied || out.id == "" {
		out.inheritName(v, "."+name)
	}
	out.way = out.way || v.way
	return out, true
}

// findEntry returns what a map has under a key, without its name.
func (v *val) findEntry(name string) (*val, bool) {
	if v.known {
		if m, ok := v.constant.(map[string]any); ok {
			return constantValue(m[name]), true
		}
	}
	if f := v.fields[name]; f != nil {
		out := *f
		out.way = true // another caller may give another map
		return &out, true
	}
	if v.typ != nil && (v.typ.Kind() == schema.KindAny || v.can&^signature.Nil == signature.Map) {
		return v.declaredField(name)
	}
	if v.elem != nil {
		return v.elem.allowAbsent(), true
	}
	out := anyValue()
	out.sources = v.sources
	return out, !v.closed
}

// declaredField returns the field as the schema declares it.
func (v *val) declaredField(name string) (*val, bool) {
	t, found := v.typ.Field(name)
	if !found {
		return nil, false
	}
	out := typedValue(t)
	out.cluster = v.cluster
	if inNamespace := name == "namespace" && v.exact && v.path == "metadata" && !v.cluster; !inNamespace && !v.typ.Always(name) {
		out = out.allowAbsent()
		out.optional = true
	}
	if v.exact {
		out.file = v.file
		out.nameRead(v.read, v.fieldPath(name))
	} else {
		out.sources = v.sources
	}
	return out, true
}

// fieldPath returns the path of a field.
func (v *val) fieldPath(name string) string {
	switch {
	case v.typ.Kind() == schema.KindFreeMap:
		return v.path + ".*"
	case v.path == "":
		return name
	}
	return v.path + "." + name
}

// inheritName names a part after its whole, if the part has no name of its own.
func (v *val) inheritName(whole *val, step string) {
	if v.id == "" && whole.id != "" && !v.known {
		v.id, v.parent = whole.id+step, whole.id
	}
}

// itemValue returns an item of a list, or a value of a map.
func (v *val) itemValue() *val {
	out := v.innerItem()
	if out == nil {
		out = anyValue()
		out.sources = v.sources
	}
	copied := *out
	copied.way = copied.way || v.way
	return &copied
}

// innerItem returns an item of a list or map without its paths, or nil if nothing is known of the
// items.
func (v *val) innerItem() *val {
	if v.known {
		return knownItem(v.constant)
	}
	if v.fields != nil && v.elem == nil && !v.closed {
		return nil
	}
	if v.elem != nil || v.closed {
		out := v.elem
		for _, f := range v.fields {
			out = joinValues(out, f)
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
	out := typedValue(v.typ.Elem())
	if !v.exact {
		out.sources = v.sources
		return out
	}
	out.file = v.file
	if v.typ.Kind() == schema.KindList {
		return out.nameRead(v.read, v.path+"[]")
	}
	return out.nameRead(v.read, v.path+".*")
}

// knownItem is an item of a literal.
func knownItem(v any) *val {
	out := ofKinds(0)
	switch v := v.(type) {
	case []any:
		for _, i := range v {
			out = joinValues(out, constantValue(i))
		}
	case map[string]any:
		for _, i := range v {
			out = joinValues(out, constantValue(i))
		}
	}
	bare := *out
	bare.id, bare.parent = "", ""
	return &bare
}

// fieldNames returns the fields that a map can have, for suggestions.
func (v *val) fieldNames() []string {
	if v.fields == nil {
		return v.typ.Fields()
	}
	return sortedKeys(v.fields)
}

// schemaType returns the type of the value for other packages, or nil if nothing is known.
func (v *val) schemaType() *schema.Type { return v.schemaTo(deepest) }

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

// exportValue returns the value for other packages.
func (v *val) exportValue() *Value {
	out := &Value{Type: v.schemaType(), Nil: v.can&signature.Nil != 0, Const: v.constant, Known: v.known, Exact: v.exact,
		MaxLen: v.maxLength()}
	out.Sources = v.sources
	return out
}

// maxLength returns how many characters the text of the value has at most, or -1 if it is
// unbounded.
func (v *val) maxLength() int {
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
