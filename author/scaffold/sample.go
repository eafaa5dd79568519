package scaffold

import (
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

type props = apiextensionsv1.JSONSchemaProps

// formats are texts of the formats that an API server checks, and of a few
// that people use.
var formats = map[string]string{
	"date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01", "duration": "10s", "byte": "ZXhhbXBsZQ==", "password": changeMe,
	"ipv4": "192.0.2.1", "ip": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24", "mac": "02:00:00:00:00:01",
	"uri": "https://example.com", "url": "https://example.com", "hostname": "example.com", "email": "someone@example.com",
	"uuid": "123e4567-e89b-42d3-a456-426614174000", "uuid4": "123e4567-e89b-42d3-a456-426614174000",
	"bsonobjectid": "507f1f77bcf86cd799439011", "isbn": "9780306406157", "creditcard": "4111111111111111", "ssn": "123-45-6789",
	"hexcolor": "#336699", "rgbcolor": "rgb(51,102,153)", "quantity": "1Gi",
}

// sampleValue returns a value that a schema allows, with as little as it allows. It prefers an
// example or the first enum. Otherwise it follows the type, format, bounds and pattern.
func sampleValue(p *props) any {
	for _, given := range [][]apiextensionsv1.JSON{knownValue(p.Default), knownValue(p.Example), p.Enum} {
		if len(given) > 0 {
			var v any
			if utiljson.Unmarshal(given[0].Raw, &v) == nil {
				return v
			}
		}
	}
	switch {
	case p.XIntOrString:
		return int64(1)
	case p.Type == "string":
		return sampleText(p)
	case p.Type == "integer":
		return int64(sampleNumber(p))
	case p.Type == "number":
		return sampleNumber(p)
	case p.Type == "boolean":
		return false
	case p.Type == "array":
		return sampleList(p)
	}
	return sampleMap(p)
}

// knownValue returns a default or example of a schema as a list, which is empty if there is none.
func knownValue(v *apiextensionsv1.JSON) []apiextensionsv1.JSON {
	if v == nil || string(v.Raw) == "null" {
		return nil
	}
	return []apiextensionsv1.JSON{*v}
}

// usual are texts that most patterns mean.
var usual = []string{
	"example", "example-1", "a", "Example", "EXAMPLE", "1", "10s", "1h", "1Gi", "100m", "50%", "v1", "v1.0.0", "1.0.0", "example.com",
	"https://example.com", "/example", "example/example", "example:1", "192.0.2.1", "192.0.2.0/24", "0 0 * * *", "00:00", "s3://example",
	"true",
}

func sampleText(p *props) string {
	if text, known := formats[p.Format]; known {
		return text
	}
	least, most := 0, 1<<20
	if p.MinLength != nil {
		least = int(*p.MinLength)
	}
	if p.MaxLength != nil {
		most = int(*p.MaxLength)
	}
	fit := func(s string) bool { return len(s) >= least && len(s) <= most }
	if p.Pattern == "" {
		text := "example" + strings.Repeat("x", max(0, min(least, 1<<16)-len("example")))
		return text[:min(len(text), most)]
	}
	re, err := regexp.Compile(p.Pattern)
	if err != nil {
		return ""
	}
	for _, text := range slices.Concat(usual, matchingTexts(p.Pattern, least)) {
		if fit(text) && re.MatchString(text) {
			return text
		}
	}
	return ""
}

func sampleNumber(p *props) float64 {
	n := 1.0
	if p.Minimum != nil && n <= *p.Minimum {
		n = *p.Minimum
		if p.ExclusiveMinimum {
			n++
		}
	}
	if p.Maximum != nil && n >= *p.Maximum {
		n = *p.Maximum
		if p.ExclusiveMaximum {
			n--
		}
	}
	if p.MultipleOf == nil || *p.MultipleOf == 0 {
		return n
	}
	times := float64(int64(n / *p.MultipleOf))
	if times**p.MultipleOf < n {
		times++
	}
	return times * *p.MultipleOf
}

// sampleList has as many items as there must be; where none must, one, to show
// what an item is.
func sampleList(p *props) any {
	list := []any{}
	if p.Items == nil || p.Items.Schema == nil || p.MaxItems != nil && *p.MaxItems == 0 {
		return list
	}
	least := int64(1)
	if p.MinItems != nil {
		least = max(least, min(*p.MinItems, 100))
	}
	for i := range least {
		list = append(list, varyItem(sampleValue(p.Items.Schema), p.Items.Schema, i))
	}
	return list
}

// varyItem makes the items of a list differ, as sets and maps need it.
func varyItem(v any, p *props, i int64) any {
	if i == 0 {
		return v
	}
	if len(p.Enum) > int(i) {
		var other any
		if utiljson.Unmarshal(p.Enum[i].Raw, &other) == nil {
			return other
		}
	}
	switch v := v.(type) {
	case string:
		return v + strings.Repeat("x", int(i))
	case int64:
		return v + i
	case map[string]any:
		for key, inner := range v {
			if field, known := p.Properties[key]; known {
				v[key] = varyItem(inner, &field, i)
			}
		}
	}
	return v
}

// sampleMap has the fields that there must be and that no default fills in.
func sampleMap(p *props) any {
	v := map[string]any{}
	if p.XEmbeddedResource {
		v["apiVersion"], v["kind"], v["metadata"] = "v1", "ConfigMap", map[string]any{"name": "example"}
	}
	for _, name := range wantedFields(p) {
		if field, known := p.Properties[name]; known && field.Default == nil {
			v[name] = sampleValue(&field)
		}
	}
	least := int64(0)
	if p.MinProperties != nil {
		least = *p.MinProperties
	}
	for _, name := range sortedNames(p) {
		if field := p.Properties[name]; int64(len(v)) < least && v[name] == nil && field.Default == nil {
			v[name] = sampleValue(&field)
		}
	}
	if p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil && int64(len(v)) < least {
		v["example"] = sampleValue(p.AdditionalProperties.Schema)
	}
	return v
}

// wantedFields returns the fields that must be given: the required ones, and those that the first
// of several alternatives requires.
func wantedFields(p *props) []string {
	all := slices.Clone(p.Required)
	for _, of := range p.AllOf {
		all = append(all, wantedFields(&of)...)
	}
	for _, alternatives := range [][]props{p.OneOf, p.AnyOf} {
		if len(alternatives) > 0 {
			all = append(all, wantedFields(&alternatives[0])...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func sortedNames(p *props) []string {
	var names []string
	for name := range p.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
