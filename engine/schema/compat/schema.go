package compat

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

type props = apiextensionsv1.JSONSchemaProps

// A pair is a schema and what it was before.
type pair struct {
	was, is *props
	// field is what people call it, at its path in the new definition.
	field, at string
}

// pairBelow returns the pair of a schema within.
func (p pair) pairBelow(was, is *props, field, at string) pair {
	return pair{was, is, strings.TrimPrefix(p.field+field, "."), p.at + at}
}

// open is the schema of what is kept whatever it is.
var open = &props{XPreserveUnknownFields: new(true)}

// isPreserving reports whether unknown fields are preserved.
func isPreserving(p *props) bool { return p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields }

// restSchema returns the schema of fields that are not declared, or nil if they are dropped.
func restSchema(p *props) *props {
	switch more := p.AdditionalProperties; {
	case more != nil && more.Schema != nil:
		return more.Schema
	case more != nil && more.Allows, isPreserving(p):
		return open
	}
	return nil
}

// typeName is what people call a type.
func typeName(p *props) string {
	if p.XIntOrString {
		return "integer or string"
	}
	return cmp.Or(p.Type, "of any type")
}

// compareRoots compares the schemas of whole resources. What each of them has goes without saying.
func (c *comparison) compareRoots(before, after *apiextensionsv1.CustomResourceValidation, at string) {
	var both [2]*props
	for i, v := range []*apiextensionsv1.CustomResourceValidation{before, after} {
		both[i] = open
		if v == nil || v.OpenAPIV3Schema == nil {
			continue
		}
		root := v.OpenAPIV3Schema.DeepCopy()
		text := props{Type: "string"}
		implied := map[string]props{"apiVersion": text, "kind": text, "metadata": {Type: "object"}}
		maps.Copy(implied, root.Properties)
		meta := map[string]props{"name": text, "generateName": text}
		maps.Copy(meta, implied["metadata"].Properties)
		implied["metadata"] = props{Type: "object", Properties: meta}
		root.Properties = implied
		both[i] = root
	}
	c.compareSchemas(pair{both[0], both[1], "", at})
}

// addBreak adds a break that stands at a keyword of the schema.
func (c *comparison) addBreak(p pair, keyword, text string) {
	c.add(p.field, p.at+"."+keyword, text)
}

// compareSchemas compares two schemas of one value.
func (c *comparison) compareSchemas(p pair) {
	if was, is := typeName(p.was), typeName(p.is); was != is {
		wider := p.is.XIntOrString && (p.was.Type == "integer" || p.was.Type == "string") ||
			p.was.Type == "integer" && p.is.Type == "number" || p.is.Type == "" && isPreserving(p.is)
		effect := "values of another type become invalid"
		if wider {
			effect = "clients read values that they do not expect"
		}
		c.addBreak(p, "type", fmt.Sprintf("it was %s and is %s, so %s: keep the type, and add a field or a version with the other one", was, is, effect))
		if !wider || p.is.Type == "" && !p.is.XIntOrString {
			return
		}
	}
	if p.was.Nullable && !p.is.Nullable {
		c.addBreak(p, "nullable", "null was allowed and is refused, dropped or replaced by the default: keep nullable: true")
	}
	c.compareBounds(p)
	c.compareTexts(p)
	c.compareEnum(p)
	c.compareRules(p)
	c.compareAlternatives(p)
	c.compareMerging(p)
	c.compareFields(p)
	if p.was.Items != nil && p.is.Items != nil && p.was.Items.Schema != nil && p.is.Items.Schema != nil {
		c.compareSchemas(p.pairBelow(p.was.Items.Schema, p.is.Items.Schema, "[]", ".items"))
	}
}

// compareFields compares what an object holds.
func (c *comparison) compareFields(p pair) {
	wasRest, isRest := restSchema(p.was), restSchema(p.is)
	if wasRest != nil && isRest == nil {
		keyword := "additionalProperties"
		if p.was.AdditionalProperties == nil {
			keyword = "x-kubernetes-preserve-unknown-fields"
		}
		c.addBreak(p, keyword, "fields that the schema does not declare were kept and are dropped: keep "+keyword)
		c.breaks[len(c.breaks)-1].lost = true
	}
	if wasRest != nil && isRest != nil && wasRest != isRest {
		c.compareSchemas(p.pairBelow(wasRest, isRest, ".*", ".additionalProperties"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.was.Properties)) {
		was := p.was.Properties[name]
		is, declared := p.is.Properties[name]
		next := p.pairBelow(&was, &is, "."+name, ".properties."+name)
		if !declared {
			if isRest == nil {
				c.addLostField(p, next, name)
				continue
			}
			next.is, next.at = isRest, p.at+".additionalProperties"
		}
		c.compareDefault(next, slices.Contains(p.is.Required, name))
		if next.is != open { // there it is kept
			c.compareSchemas(next)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.is.Properties)) {
		is := p.is.Properties[name]
		if _, declared := p.was.Properties[name]; !declared && wasRest != nil {
			c.compareSchemas(p.pairBelow(wasRest, &is, "."+name, ".properties."+name))
		}
	}
	for i, name := range p.is.Required {
		if !slices.Contains(p.was.Required, name) && p.is.Properties[name].Default == nil {
			c.add(p.pairBelow(nil, nil, "."+name, "").field, fmt.Sprintf("%s.required[%d]", p.at, i),
				"it is required now and has no default, so resources without it become invalid: give it a default, or leave it optional")
		}
	}
}

// addLostField adds a field that the schema no longer declares.
func (c *comparison) addLostField(p, field pair, name string) {
	if p.is.XEmbeddedResource && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
		return // it has them anyway
	}
	var added []string
	for other, is := range p.is.Properties {
		if _, declared := p.was.Properties[other]; !declared && typeName(&is) == typeName(field.was) {
			added = append(added, other)
		}
	}
	slices.Sort(added)
	text := "this field is gone, so its values are dropped and clients do not find it: keep it, and say in its description that it is deprecated"
	if near := schema.Suggest(name, added); near != "" {
		added = []string{near}
	}
	if len(added) == 1 {
		text += fmt.Sprintf("; did you mean to rename it to %s? Add %[1]s and keep the old name too", added[0])
	}
	c.add(field.field, field.at, text)
	c.breaks[len(c.breaks)-1].lost = true
}

// compareDefault compares the default of a field.
func (c *comparison) compareDefault(p pair, required bool) {
	if p.was.Default == nil || p.is.Default != nil && sameJSON(*p.was.Default, *p.is.Default) {
		return
	}
	switch {
	case p.is.Default != nil:
		c.addBreak(p, "default", fmt.Sprintf("the default was %s and is %s, so resources without this field change when they are read next: "+
			"keep the default", p.was.Default.Raw, p.is.Default.Raw))
	case required:
		c.addBreak(p, "default", fmt.Sprintf("the default %s is gone, but the field is required, so resources without it become invalid: "+
			"keep the default", p.was.Default.Raw))
	default:
		c.addBreak(p, "default", fmt.Sprintf("the default %s is gone, so resources without this field change when they are read next: "+
			"keep the default", p.was.Default.Raw))
	}
}

func sameJSON(a, b apiextensionsv1.JSON) bool {
	var x, y any
	return json.Unmarshal(a.Raw, &x) == nil && json.Unmarshal(b.Raw, &y) == nil && reflect.DeepEqual(x, y)
}

// compareEnum compares the values that are listed.
func (c *comparison) compareEnum(p pair) {
	has := func(among []apiextensionsv1.JSON, value apiextensionsv1.JSON) bool {
		return slices.ContainsFunc(among, func(other apiextensionsv1.JSON) bool { return sameJSON(value, other) })
	}
	switch {
	case len(p.is.Enum) == 0:
	case len(p.was.Enum) == 0:
		c.addBreak(p, "enum", "an enum is new, so values that are not in it become invalid: list all values that resources have, or add a field or a version")
	default:
		for _, value := range p.was.Enum {
			if !has(p.is.Enum, value) {
				c.addBreak(p, "enum", fmt.Sprintf("the value %s is gone, so resources with it become invalid: keep it", value.Raw))
			}
		}
	}
}

// compareRules compares the validation rules.
func (c *comparison) compareRules(p pair) {
	same := func(a, b apiextensionsv1.ValidationRule) bool {
		return slices.Equal(strings.Fields(a.Rule), strings.Fields(b.Rule)) &&
			(a.OptionalOldSelf != nil && *a.OptionalOldSelf) == (b.OptionalOldSelf != nil && *b.OptionalOldSelf)
	}
	for i, rule := range p.is.XValidations {
		if !slices.ContainsFunc(p.was.XValidations, func(old apiextensionsv1.ValidationRule) bool { return same(rule, old) }) {
			c.addBreak(p, fmt.Sprintf("x-kubernetes-validations[%d]", i), fmt.Sprintf("the rule %q is new, so resources that break it become invalid: "+
				"add a version with it, or let it pass what resources have", strings.Join(strings.Fields(rule.Rule), " ")))
		}
	}
}

// compareAlternatives compares allOf, anyOf, oneOf and not.
func (c *comparison) compareAlternatives(p pair) {
	intOrString := []props{{Type: "integer"}, {Type: "string"}}
	of := func(p *props, all []props) []props {
		if !p.XIntOrString {
			return all
		}
		if equality.Semantic.DeepEqual(all, intOrString) {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(all), func(one props) bool {
			return equality.Semantic.DeepEqual(one, props{AnyOf: intOrString})
		})
	}
	lacks := func(all, among []props) bool {
		return slices.ContainsFunc(all, func(one props) bool {
			return !slices.ContainsFunc(among, func(other props) bool { return equality.Semantic.DeepEqual(one, other) })
		})
	}
	const text = "what it allows is less than before, or something else, so existing values may become invalid: keep what was allowed"
	if lacks(of(p.is, p.is.AllOf), of(p.was, p.was.AllOf)) {
		c.addBreak(p, "allOf", text)
	}
	if is, was := of(p.is, p.is.AnyOf), of(p.was, p.was.AnyOf); len(is) > 0 && (len(was) == 0 || lacks(was, is)) {
		c.addBreak(p, "anyOf", text)
	}
	if is, was := p.is.OneOf, p.was.OneOf; len(is) > 0 && (lacks(was, is) || lacks(is, was)) {
		c.addBreak(p, "oneOf", text)
	}
	if p.is.Not != nil && !equality.Semantic.DeepEqual(p.is.Not, p.was.Not) {
		c.addBreak(p, "not", text)
	}
}

// compareMerging compares how server-side apply merges values, and what goes with it.
func (c *comparison) compareMerging(p pair) {
	text := func(p *string, normal string) string {
		if p == nil {
			return normal
		}
		return *p
	}
	const merges = "so server-side apply merges it in another way, and managers may overwrite each other or leave items behind: keep it"
	if was, is := text(p.was.XListType, "atomic"), text(p.is.XListType, "atomic"); was != is {
		effect := merges
		if is != "atomic" {
			effect = "so lists with duplicates become invalid, and server-side apply merges it in another way: keep it"
		}
		c.addBreak(p, "x-kubernetes-list-type", fmt.Sprintf("it was %s and is %s, %s", was, is, effect))
	} else if was, is := sortTexts(p.was.XListMapKeys), sortTexts(p.is.XListMapKeys); !slices.Equal(was, is) {
		c.addBreak(p, "x-kubernetes-list-map-keys", fmt.Sprintf("the keys were %s and are %s, so lists with duplicates of these become invalid, "+
			"and server-side apply merges items in another way: keep the keys", strings.Join(was, ", "), strings.Join(is, ", ")))
	}
	if was, is := text(p.was.XMapType, "granular"), text(p.is.XMapType, "granular"); was != is {
		c.addBreak(p, "x-kubernetes-map-type", fmt.Sprintf("it was %s and is %s, %s", was, is, merges))
	}
	if p.was.XEmbeddedResource != p.is.XEmbeddedResource {
		c.addBreak(p, "x-kubernetes-embedded-resource", fmt.Sprintf("it was %t and is %t, so its apiVersion, kind and metadata are checked "+
			"or dropped in another way: keep it", p.was.XEmbeddedResource, p.is.XEmbeddedResource))
	}
}

// sortTexts returns the texts in order.
func sortTexts(texts []string) []string { return slices.Sorted(slices.Values(texts)) }
