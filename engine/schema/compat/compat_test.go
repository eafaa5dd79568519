package compat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

const version = `name: v1
served: true
storage: true
subresources: {status: {}, scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
selectableFields: [{jsonPath: .spec.size}]
schema:
  openAPIV3Schema:
    type: object
    properties:
      spec:
        type: object
        properties:
          size: {type: string}
          count: {type: integer}
          f: FIELD
      status: {type: object, properties: {count: {type: integer}}}
`

// defined is a CRD with versions as a list's items.
func defined(t *testing.T, versions ...string) *schema.CRD {
	t.Helper()
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
`
	for _, v := range versions {
		text += "  - " + strings.ReplaceAll(strings.TrimSpace(v), "\n", "\n    ") + "\n"
	}
	crd, err := crdfile.Parse("crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// with is the version with that schema of spec.f.
func with(field string) string { return strings.Replace(version, "FIELD", field, 1) }

// found are the breaks, each without what follows and what to do.
func found(before, after *schema.CRD) string {
	var text strings.Builder
	for _, b := range Breaks(before.Object, after.Object) {
		said, _, _ := strings.Cut(b.String(), ", so ")
		fmt.Fprintln(&text, said)
	}
	return strings.TrimSpace(text.String())
}

func TestField(t *testing.T) {
	for _, c := range []struct{ name, was, is, want string }{
		{"same", "{type: string, maxLength: 3}", "{type: string, maxLength: 3}", ""},
		{"description", "{type: string}", "{type: string, description: more, title: f, example: x}", ""},
		{"type", "{type: string}", "{type: integer}", "v1 spec.f: it was string and is integer"},
		{"type and bounds", "{type: object, properties: {a: {type: string}}}", "{type: array, maxItems: 1, items: {type: string}}",
			"v1 spec.f: it was object and is array"},
		{"integer to number", "{type: integer}", "{type: number}", "v1 spec.f: it was integer and is number"},
		{"integer to int-or-string", "{type: integer}", "{x-kubernetes-int-or-string: true}", "v1 spec.f: it was integer and is integer or string"},
		{"int-or-string to string", "{x-kubernetes-int-or-string: true}", "{type: string}", "v1 spec.f: it was integer or string and is string"},
		{"int-or-string as generated", "{x-kubernetes-int-or-string: true}",
			"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", ""},
		{"int-or-string with pattern", "{x-kubernetes-int-or-string: true}",
			"{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {pattern: a}]}",
			"v1 spec.f: what it allows is less than before, or something else"},
		{"any to string", "{x-kubernetes-preserve-unknown-fields: true}", "{type: string}", "v1 spec.f: it was of any type and is string"},
		{"string to any", "{type: string, maxLength: 3}", "{x-kubernetes-preserve-unknown-fields: true}", "v1 spec.f: it was string and is of any type"},
		{"nullable", "{type: string, nullable: true}", "{type: string}", "v1 spec.f: null was allowed and is refused, dropped or replaced by the default: keep nullable: true"},
		{"nullable now", "{type: string}", "{type: string, nullable: true}", ""},
		{"int64 to int32", "{type: integer, format: int64}", "{type: integer, format: int32}", "v1 spec.f: the format was int64 and is int32"},
		{"int32 to int64", "{type: integer, format: int32}", "{type: integer, format: int64}", ""},
		{"int32 new", "{type: integer}", "{type: integer, format: int32}", "v1 spec.f: the format was none and is int32"},
		{"int64 new", "{type: integer}", "{type: integer, format: int64}", ""},
		{"float new", "{type: number}", "{type: number, format: float}", "v1 spec.f: the format was none and is float"},
		{"format of a string", "{type: string}", "{type: string, format: ipv4}", "v1 spec.f: the format was none and is ipv4"},
		{"format that is not checked", "{type: string}", "{type: string, format: colour}", ""},
		{"format gone", "{type: string, format: uuid}", "{type: string}", ""},

		{"maximum new", "{type: integer}", "{type: integer, maximum: 5}", "v1 spec.f: a maximum of 5 is new"},
		{"maximum less", "{type: integer, maximum: 10}", "{type: integer, maximum: 5}", "v1 spec.f: the maximum was 10 and is 5"},
		{"maximum more", "{type: integer, maximum: 10}", "{type: integer, maximum: 50}", ""},
		{"maximum gone", "{type: integer, maximum: 10}", "{type: integer}", ""},
		{"maximum exclusive", "{type: number, maximum: 1.5}", "{type: number, maximum: 1.5, exclusiveMaximum: true}",
			"v1 spec.f: the maximum was 1.5 and is 1.5 (exclusive)"},
		{"maximum no longer exclusive", "{type: number, maximum: 1.5, exclusiveMaximum: true}", "{type: number, maximum: 1.5}", ""},
		{"minimum new", "{type: integer}", "{type: integer, minimum: -2}", "v1 spec.f: a minimum of -2 is new"},
		{"minimum more", "{type: integer, minimum: 1}", "{type: integer, minimum: 2}", "v1 spec.f: the minimum was 1 and is 2"},
		{"minimum less", "{type: integer, minimum: 1}", "{type: integer, minimum: 0}", ""},
		{"minimum exclusive", "{type: integer, minimum: 1}", "{type: integer, minimum: 1, exclusiveMinimum: true}",
			"v1 spec.f: the minimum was 1 and is 1 (exclusive)"},
		{"maxLength", "{type: string, maxLength: 9}", "{type: string, maxLength: 8}", "v1 spec.f: the maxLength was 9 and is 8"},
		{"minLength", "{type: string}", "{type: string, minLength: 1}", "v1 spec.f: a minLength of 1 is new"},
		{"minLength of nothing", "{type: string}", "{type: string, minLength: 0}", ""},
		{"maxItems", "{type: array, items: {type: string}}", "{type: array, items: {type: string}, maxItems: 8}", "v1 spec.f: a maxItems of 8 is new"},
		{"minItems", "{type: array, items: {type: string}, minItems: 1}", "{type: array, items: {type: string}, minItems: 2}",
			"v1 spec.f: the minItems was 1 and is 2"},
		{"maxProperties", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: {type: string}, maxProperties: 1}",
			"v1 spec.f: a maxProperties of 1 is new"},
		{"minProperties", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: {type: string}, minProperties: 1}",
			"v1 spec.f: a minProperties of 1 is new"},
		{"pattern new", "{type: string}", "{type: string, pattern: ^a$}", "v1 spec.f: the pattern ^a$ is new"},
		{"pattern changed", "{type: string, pattern: a}", "{type: string, pattern: b}", "v1 spec.f: the pattern was a and is b"},
		{"pattern gone", "{type: string, pattern: a}", "{type: string}", ""},
		{"multipleOf new", "{type: integer}", "{type: integer, multipleOf: 5}", "v1 spec.f: values must be multiples of 5 now"},
		{"multipleOf looser", "{type: integer, multipleOf: 10}", "{type: integer, multipleOf: 5}", ""},
		{"multipleOf other", "{type: integer, multipleOf: 5}", "{type: integer, multipleOf: 10}", "v1 spec.f: values must be multiples of 10 now"},
		{"enum value gone", "{type: string, enum: [a, b]}", "{type: string, enum: [b]}", `v1 spec.f: the value "a" is gone`},
		{"enum value added", "{type: string, enum: [a, b]}", "{type: string, enum: [c, b, a]}", ""},
		{"enum new", "{type: string}", "{type: string, enum: [a]}", "v1 spec.f: an enum is new"},
		{"enum dropped", "{type: string, enum: [a]}", "{type: string}", ""},

		{"rule new", "{type: string, maxLength: 9}", "{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self != 'a'}]}",
			`v1 spec.f: the rule "self != 'a'" is new`},
		{"rule with another message", "{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self != 'a'}]}",
			"{type: string, maxLength: 9, x-kubernetes-validations: [{rule: 'self  != ''a''', message: other}]}", ""},
		{"rules in another order", "{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self != 'a'}, {rule: self != 'b'}]}",
			"{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self != 'b'}, {rule: self != 'a'}]}", ""},
		{"rule gone", "{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self != 'a'}]}", "{type: string, maxLength: 9}", ""},
		{"allOf new", "{type: string}", "{type: string, allOf: [{maxLength: 3}]}", "v1 spec.f: what it allows is less than before, or something else"},
		{"allOf less", "{type: string, allOf: [{maxLength: 3}, {minLength: 1}]}", "{type: string, allOf: [{minLength: 1}]}", ""},
		{"anyOf more", "{type: string, anyOf: [{pattern: a}]}", "{type: string, anyOf: [{pattern: b}, {pattern: a}]}", ""},
		{"anyOf less", "{type: string, anyOf: [{pattern: b}, {pattern: a}]}", "{type: string, anyOf: [{pattern: a}]}",
			"v1 spec.f: what it allows is less than before, or something else"},
		{"oneOf more", "{type: string, oneOf: [{pattern: a}]}", "{type: string, oneOf: [{pattern: b}, {pattern: a}]}",
			"v1 spec.f: what it allows is less than before, or something else"},
		{"not new", "{type: string}", "{type: string, not: {pattern: a}}", "v1 spec.f: what it allows is less than before, or something else"},
		{"not gone", "{type: string, not: {pattern: a}}", "{type: string}", ""},

		{"field added", "{type: object, properties: {a: {type: string}}}", "{type: object, properties: {b: {type: string}, a: {type: string}}}", ""},
		{"field gone", "{type: object, properties: {a: {type: string}, b: {type: string}}}", "{type: object, properties: {b: {type: string}}}",
			"v1 spec.f.a: this field is gone"},
		{"field with fields gone", "{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}", "{type: object}",
			"v1 spec.f.a: this field is gone"},
		{"field kept unknown", "{type: object, properties: {a: {type: string}}}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", ""},
		{"default of a field kept unknown", "{type: object, properties: {a: {type: string, default: x}}}",
			"{type: object, x-kubernetes-preserve-unknown-fields: true}", `v1 spec.f.a: the default "x" is gone`},
		{"field kept as another", "{type: object, properties: {a: {type: string}}}", "{type: object, additionalProperties: {type: integer}}",
			"v1 spec.f.a: it was string and is integer"},
		{"unknown field declared", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
			"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}",
			"v1 spec.f.a: it was of any type and is string"},
		{"unknown fields dropped", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}",
			"v1 spec.f: fields that the schema does not declare were kept and are dropped: keep x-kubernetes-preserve-unknown-fields"},
		{"map closed", "{type: object, additionalProperties: {type: string}}", "{type: object, properties: {a: {type: string}}}",
			"v1 spec.f: fields that the schema does not declare were kept and are dropped: keep additionalProperties"},
		{"map opened", "{type: object}", "{type: object, additionalProperties: {type: string}}", ""},
		{"map tightened", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: {type: string, minLength: 1}}",
			"v1 spec.f.*: a minLength of 1 is new"},
		{"map of anything tightened", "{type: object, additionalProperties: true}", "{type: object, additionalProperties: {type: string}}",
			"v1 spec.f.*: it was of any type and is string"},
		{"items", "{type: array, items: {type: object, properties: {a: {type: string}}}}",
			"{type: array, items: {type: object, properties: {a: {type: string, maxLength: 1}}}}", "v1 spec.f[].a: a maxLength of 1 is new"},

		{"required", "{type: object, properties: {a: {type: string}}}", "{type: object, required: [a], properties: {a: {type: string}}}",
			"v1 spec.f.a: it is required now and has no default"},
		{"new and required", "{type: object}", "{type: object, required: [a], properties: {a: {type: string}}}",
			"v1 spec.f.a: it is required now and has no default"},
		{"required with a default", "{type: object}", "{type: object, required: [a], properties: {a: {type: string, default: x}}}", ""},
		{"required in another order", "{type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}}}",
			"{type: object, required: [b, a], properties: {b: {type: string}, a: {type: string}}}", ""},
		{"no longer required", "{type: object, required: [a], properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}}", ""},
		{"required within what is new", "{type: object}", "{type: object, properties: {a: {type: object, required: [b], properties: {b: {type: string}}}}}", ""},
		{"required without its default", "{type: object, required: [a], properties: {a: {type: string, default: x}}}",
			"{type: object, required: [a], properties: {a: {type: string}}}", `v1 spec.f.a: the default "x" is gone, but the field is required`},
		{"default changed", "{type: integer, default: 1}", "{type: integer, default: 2}", "v1 spec.f: the default was 1 and is 2"},
		{"default gone", "{type: integer, default: 1}", "{type: integer}", "v1 spec.f: the default 1 is gone"},
		{"default new", "{type: integer}", "{type: integer, default: 1}", ""},
		{"default spelt otherwise", "{type: object, default: {a: x, b: x}, additionalProperties: {type: string}}",
			"{type: object, default: {b: x, a: x}, additionalProperties: {type: string}}", ""},

		{"list becomes a set", "{type: array, items: {type: string}}", "{type: array, items: {type: string}, x-kubernetes-list-type: set}",
			"v1 spec.f: it was atomic and is set"},
		{"set becomes a list", "{type: array, items: {type: string}, x-kubernetes-list-type: set}", "{type: array, items: {type: string}}",
			"v1 spec.f: it was set and is atomic"},
		{"atomic said", "{type: array, items: {type: string}}", "{type: array, items: {type: string}, x-kubernetes-list-type: atomic}", ""},
		{"keys", keyed("[a]"), keyed("[a, b]"), "v1 spec.f: the keys were a and are a, b"},
		{"keys in another order", keyed("[b, a]"), keyed("[a, b]"), ""},
		{"map becomes atomic", "{type: object}", "{type: object, x-kubernetes-map-type: atomic}", "v1 spec.f: it was granular and is atomic"},
		{"embedded", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
			"{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}", "v1 spec.f: it was false and is true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(defined(t, with(c.was)), defined(t, with(c.is)))); diff != "" {
				t.Errorf("(-want +found):\n%s", diff)
			}
		})
	}
}

func keyed(keys string) string {
	return "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: " + keys +
		", items: {type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}}}}"
}

// TestRename: a field that is gone while one of its type came is presumably renamed.
func TestRename(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"imageName: {type: string}", "image_name: {type: string}", "image_name"},
		{"size: {type: string}", "memory: {type: string}", "memory"},
		{"size: {type: string}", "memory: {type: integer}", ""},
		{"size: {type: string}", "memory: {type: string}, disk: {type: string}", ""},
		{"size: {type: string}", "memory: {type: string}, sizes: {type: string}", "sizes"},
	} {
		object := func(fields string) *schema.CRD {
			return defined(t, with("{type: object, properties: {"+fields+"}}"))
		}
		breaks := Breaks(object(c.was).Object, object(c.is).Object)
		if len(breaks) != 1 {
			t.Fatalf("%s: %v", c.is, breaks)
		}
		hint := "did you mean to rename it to " + c.want + "?"
		if got := strings.Contains(breaks[0].Text, "did you mean"); got != (c.want != "") || got && !strings.Contains(breaks[0].Text, hint) {
			t.Errorf("%s: %s", c.is, breaks[0])
		}
	}
}

func TestVersions(t *testing.T) {
	plain := with("{type: string}")
	second := strings.NewReplacer("name: v1", "name: v2", "storage: true", "storage: false").Replace(plain)
	without := func(s, line string) string {
		if !strings.Contains(s, line) {
			t.Fatal(line)
		}
		return strings.Replace(s, line, "", 1)
	}
	unserved := strings.Replace(second, "served: true", "served: false", 1)
	moved := strings.Replace(plain, "storage: true", "storage: false", 1)
	next := strings.Replace(second, "storage: false", "storage: true", 1)
	for _, c := range []struct {
		name    string
		was, is []string
		want    string
	}{
		{"new", []string{plain}, []string{plain, second}, ""},
		{"in another order", []string{plain, second}, []string{second, plain}, ""},
		{"gone", []string{plain, second}, []string{plain}, "v2: it is gone"},
		{"no longer served", []string{plain, second}, []string{plain, unserved}, "v2: it is no longer served"},
		{"gone that was not served", []string{plain, unserved}, []string{plain}, ""},
		{"served again", []string{plain, unserved}, []string{plain, second}, ""},
		{"both", []string{plain, second}, []string{with("{type: integer}"), strings.Replace(second, "f: {type: string}", "f: {type: integer}", 1)},
			"v1 spec.f: it was string and is integer\nv2 spec.f: it was string and is integer"},
		{"storage", []string{plain, second}, []string{moved, next}, ""},
		{"storage that loses", []string{plain}, []string{moved, without(without(next, "          f: {type: string}\n"), "selectableFields: [{jsonPath: .spec.size}]\n")},
			"v2 spec.f: resources move from v1 to this version when they are written next, and lose this field, because nothing converts them: " +
				"declare it here too, or convert by a webhook"},
		{"status", []string{plain}, []string{strings.Replace(plain, "status: {}, ", "", 1)}, "v1: the status subresource is gone"},
		{"scale", []string{plain}, []string{strings.Replace(plain, ", scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}", "", 1)},
			"v1: the scale subresource is gone"},
		{"selectable", []string{plain}, []string{without(plain, "selectableFields: [{jsonPath: .spec.size}]\n")},
			"v1 spec.size: it is no longer selectable"},
		{"printer columns", []string{plain + "additionalPrinterColumns: [{name: a, type: string, jsonPath: .spec.f}]\n"}, []string{plain}, ""},
		{"name bounded", []string{plain}, []string{strings.Replace(plain, "      spec:\n", "      metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}\n      spec:\n", 1)},
			"v1 metadata.name: a maxLength of 9 is new"},
		{"metadata no longer declared", []string{strings.Replace(plain, "      spec:\n", "      metadata: {type: object}\n      kind: {type: string}\n      spec:\n", 1)},
			[]string{plain}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(defined(t, c.was...), defined(t, c.is...))); diff != "" {
				t.Errorf("(-want +found):\n%s", diff)
			}
		})
	}
	t.Run("stored", func(t *testing.T) {
		before := defined(t, plain, unserved)
		before.Object.Status.StoredVersions = []string{"v1", "v2"}
		if got, want := found(before, defined(t, plain)), "v2: it is gone, but status.storedVersions has it"; got != want {
			t.Error(got)
		}
	})
}

func TestNames(t *testing.T) {
	before := defined(t, with("{type: string}"))
	after := *before
	after.Object = before.Object.DeepCopy()
	after.Object.Spec.Names.ShortNames = []string{"th"}
	if got := found(before, &after); got != "" {
		t.Error(got)
	}
	before.Object.Spec.PreserveUnknownFields = true
	spec := &after.Object.Spec
	spec.Group, spec.Scope, spec.Names.Kind, spec.Names.Plural, spec.Names.Singular, spec.Names.ListKind = "g", "Cluster", "K", "ks", "k", "KL"
	want := `spec.group: it was example.com and is g
spec.scope: it was Namespaced and is Cluster
spec.names.kind: it was Thing and is K
spec.names.plural: it was things and is ks
spec.names.singular: it was thing and is k
spec.names.listKind: it was ThingList and is KL
spec.preserveUnknownFields: it was true`
	if diff := cmp.Diff(want, found(before, &after)); diff != "" {
		t.Errorf("(-want +found):\n%s", diff)
	}
}

// TestPlaces: a break is at the keyword that changed, or at what is left around
// what is gone.
func TestPlaces(t *testing.T) {
	field := func(lines ...string) *schema.CRD {
		return defined(t, with("\n            "+strings.Join(lines, "\n            ")))
	}
	for _, c := range []struct {
		was, is *schema.CRD
		line    int
	}{
		{field("type: string"), field("type: string", "maxLength: 3"), 25},
		{field("type: object", "properties:", "  a: {type: string}", "  b: {type: string}"), field("type: object", "properties:", "  b: {type: string}"), 25},
		{field("type: object", "properties:", "  a: {type: string}"), field("type: object", "properties:", "  a: {type: string}", "required:", "- a"), 28},
		{field("type: string", "default: a"), field("type: string"), 23},
	} {
		breaks := Breaks(c.was.Object, c.is.Object)
		if len(breaks) != 1 {
			t.Fatal(breaks)
		}
		if line, _ := crdfile.LocateIn(c.is, breaks[0].At); line != c.line {
			t.Errorf("%s: at line %d, wanted %d", breaks[0], line, c.line)
		}
	}
}
