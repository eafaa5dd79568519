package schema

import (
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Root returns the type of a whole resource of this version: apiVersion, kind,
// metadata and what the schema declares at its root. A nil version is Any.
func Root(v *Version) *Type {
	if v == nil || v.Type == nil {
		return Any
	}
	return v.Type
}

// Live returns the type of a resource of this version as an object that is read
// or written like any other: with all of its metadata.
func (v *Version) Live() *Type {
	t := *Root(v)
	if t.kind != KindObject {
		return Any
	}
	t.fields = maps.Clone(t.fields)
	t.fields["metadata"] = liveMeta()
	return &t
}

// rootType makes the type of a whole resource; without a schema everything but
// metadata is free-form.
func rootType(s *schema.Structural, namespaced bool) *Type {
	root := &Type{kind: KindObject, open: true}
	if s != nil {
		root = typeOf(s)
		root.kind = KindObject
		// The API server prunes the root of a resource even if no field is declared.
		root.open = s.XPreserveUnknownFields
	}
	withMeta(root)
	root.given = []string{"apiVersion", "kind", "metadata"}
	root.fields["metadata"] = shownMeta(longestName(s), namespaced)
	return root
}

// withMeta gives a resource the fields that every resource has.
func withMeta(t *Type) *Type {
	if t.fields == nil {
		t.fields = map[string]*Type{}
	}
	t.fields["apiVersion"] = &Type{kind: KindString}
	t.fields["kind"] = &Type{kind: KindString}
	t.fields["metadata"] = objectMeta()
	return t
}

// typeOf makes the type of one place of a structural schema.
func typeOf(s *schema.Structural) *Type {
	if s == nil {
		return Any
	}
	t := &Type{
		kind:     kindOf(s),
		open:     s.XPreserveUnknownFields,
		nullable: s.Nullable,
		value:    s.Default.Object,
		note:     s.Description,
	}
	if v := s.ValueValidation; v != nil {
		t.required = slices.Sorted(slices.Values(v.Required))
		for _, value := range v.Enum {
			t.enum = append(t.enum, value.Object)
		}
		t.bounds = boundsOf(v)
	}
	switch t.kind {
	case KindList:
		t.elem = typeOf(s.Items)
	case KindFreeMap:
		t.elem = typeOf(s.AdditionalProperties.Structural)
	case KindObject:
		t.fields = make(map[string]*Type, len(s.Properties))
		for name, property := range s.Properties {
			t.fields[name] = typeOf(&property)
		}
	}
	if s.XEmbeddedResource {
		return withMeta(t)
	}
	return t
}

// kindOf reads the kind of one place of a structural schema.
func kindOf(s *schema.Structural) Kind {
	if s.XIntOrString {
		return KindIntOrString
	}
	switch s.Type {
	case "object":
		if len(s.Properties) == 0 && s.AdditionalProperties != nil {
			return KindFreeMap
		}
		return KindObject
	case "array":
		return KindList
	case "string":
		return KindString
	case "integer":
		return KindInteger
	case "number":
		return KindNumber
	case "boolean":
		return KindBoolean
	}
	if len(s.Properties) > 0 {
		return KindObject
	}
	return KindAny
}
