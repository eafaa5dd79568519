package kind

import (
	"fmt"
	"strings"
	"testing"
)

const guarded = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app, listKind: AppList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [image, mode, count]
            properties:
              image: {type: string, minLength: 1}
              title: {type: string}
              mode: {type: string, enum: [fast, slow]}
              count: {type: integer, minimum: 1}
              size: {type: integer}
              debug: {type: boolean}
              labels: {type: object, additionalProperties: {type: string}}
              tls: {type: object, required: [name], properties: {name: {type: string, minLength: 1}, host: {type: string}}}
              env:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, value: {type: string}}}
`

// readsTypo are templates that read .spec.typo, or another field that there is not, as X.
var readsTypo = []struct {
	name, text string
	// isRefused reports that the operator refuses the template.
	isRefused bool
}{
	{"the side of a path that may be absent", "{{ if .spec.title }}X{{ end }}", true},
	{"its other side", "{{ if .spec.title }}{{ else }}X{{ end }}", true},
	{"an item", "{{ range .spec.env }}{{ if .value }}X{{ end }}{{ end }}", true},
	{"no items", "{{ range .spec.env }}{{ else }}X{{ end }}", true},
	{"a field of what is there", "{{ with .spec.tls }}{{ if .host }}X{{ end }}{{ end }}", true},
	{"one word of two", "{{ if eq .spec.mode \"fast\" }}X{{ end }}", true},
	{"and", "{{ if and .spec.title .spec.debug }}X{{ end }}", true},
	{"or, its other side", "{{ if or .spec.title .spec.debug }}{{ else }}X{{ end }}", true},
	{"not", "{{ if not .spec.debug }}X{{ end }}", true},
	{"a length", "{{ if gt (len .spec.env) 0 }}X{{ end }}", true},
	{"a part of a text", "{{ if contains \"a\" .spec.title }}X{{ end }}", true},
	{"an order", "{{ if gt .spec.size 3 }}X{{ end }}", true},
	{"a default", "{{ if .spec.debug | default false }}X{{ end }}", true},
	{"an API", "{{ if hasAPI \"v1\" \"Pod\" }}X{{ end }}", true},
	{"an object that is read", "{{ with lookup \"v1\" \"Service\" \"\" \"a\" }}{{ if .spec }}X{{ end }}{{ end }}", true},
	{"behind a guard", "{{ if not .spec.title }}{{ fail \"no title\" }}{{ end }}X", true},
	{"behind a guard that is not understood", "{{ if kindIs \"string\" .spec.title }}{{ fail \"no\" }}{{ end }}X", true},
	{"behind a turn that goes on", "{{ range .spec.env }}{{ if .value }}{{ continue }}{{ end }}X{{ end }}", true},
	{"the second of and", "{{ $x := and .spec.title X }}", true},

	{"a constant", "{{ if false }}X{{ end }}", false},
	{"what is always there", "{{ if .spec.image }}{{ else }}X{{ end }}", false},
	{"a number that is never 0", "{{ if .spec.count }}{{ else }}X{{ end }}", false},
	{"a word that is none of two", "{{ if eq .spec.mode \"other\" }}X{{ end }}", false},
	{"neither of two words", "{{ if ne .spec.mode \"fast\" }}{{ if eq .spec.mode \"fast\" }}X{{ end }}{{ end }}", false},
	{"the other side of the same", "{{ if .spec.title }}{{ if not .spec.title }}X{{ end }}{{ end }}", false},
	{"behind a guard for the same", "{{ if .spec.title }}{{ fail \"no\" }}{{ end }}{{ if .spec.title }}X{{ end }}", false},
	{"behind a guard in a branch", "{{ if .spec.debug }}{{ if .spec.title }}{{ fail \"no\" }}{{ end }}{{ end }}{{ if and .spec.debug .spec.title }}X{{ end }}", false},
	{"behind required", "{{ $x := required \"no\" .spec.title }}{{ if not .spec.title }}X{{ end }}", false},
	{"behind the end of the file", "{{ fail \"no\" }}X", false},
	{"behind a guard that always fails", "{{ if .spec.image }}{{ fail \"no\" }}{{ end }}X", false},
	{"a partial that always fails", "{{ include \"fails\" . }}X", false},
	{"no map", "{{ if kindIs \"map\" .spec.title }}X{{ end }}", false},
	{"a key", "{{ if hasKey .spec \"tls\" }}X{{ end }}", false},
	{"a variable that is assigned twice", "{{ $x := false }}{{ range .spec.env }}{{ $x = true }}{{ end }}{{ if $x }}X{{ end }}", false},
	{"the second of and behind false", "{{ $x := and false X }}", false},
	{"the second of or behind what is there", "{{ $x := or .spec.image X }}", false},
}

// TestFieldsInBranches: a field that there is not is refused in the sides of branches that
// some resource takes, as far as the operator understands their conditions.
func TestFieldsInBranches(t *testing.T) {
	for _, one := range readsTypo {
		t.Run(one.name, func(t *testing.T) {
			typo := "$.spec.typo"
			if !strings.Contains(one.text, " X ") {
				typo = "{{ $.spec.typo }}"
			}
			refusesFields(t, strings.ReplaceAll(one.text, "X", typo), one.isRefused)
		})
	}
}

// TestFieldsOfOneCall: what is declared for one call of a partial is no error for another
// call at the same place, and what is absent has no fields.
func TestFieldsOfOneCall(t *testing.T) {
	for text, isRefused := range map[string]bool{
		`{{ include "host" .spec.tls }}`:                                                  false,
		`{{ include "host" .spec }}`:                                                      true,
		`{{ include "both" .spec.tls }}{{ include "both" .spec }}`:                        false, // both calls are made from the same place
		`{{ include "host" (dict "host" 1) }}`:                                            false,
		`{{ if not .spec.tls }}{{ .spec.tls.typo }}{{ end }}`:                             false,
		`{{ if eq .spec.tls nil }}{{ .spec.tls.typo }}{{ end }}`:                          false,
		`{{ if .spec.tls }}{{ .spec.tls.typo }}{{ end }}`:                                 true,
		`{{ (.spec.tls).typo }}`:                                                          true,
		`{{ $x := .spec.tls }}{{ $x.typo }}`:                                              true,
		`{{ $x := .spec.tls }}{{ if .spec.debug }}{{ $x = .spec }}{{ end }}{{ $x.typo }}`: false,
		`{{ $x := .spec.tls | default dict }}{{ $x.typo }}`:                               false,
		`{{ (index .spec.env 0).typo }}`:                                                  false,
		`{{ dig "tls" "typo" "none" .spec }}`:                                             false,
		`{{ get .spec "typo" }}`:                                                          false,
		`{{ include "root" (dict "root" .) }}`:                                            false,
		`{{ .spec.labels.anything }}`:                                                     false,
		`{{ .spec.labels.anything.typo }}`:                                                true,
		`{{ include "again" .spec }}`:                                                     false,
	} {
		t.Run(text, func(t *testing.T) { refusesFields(t, text, isRefused) })
	}
}

// TestFieldCheckIsBounded: partials that call each other are walked with a bounded amount of
// work, and a walk that is given up refuses nothing.
func TestFieldCheckIsBounded(t *testing.T) {
	var partials strings.Builder
	for i := range 30 {
		call := fmt.Sprintf("{{ include \"p%d\" . }}", i+1)
		fmt.Fprintf(&partials, "{{ define \"p%d\" }}%s{{ end }}\n", i, strings.Repeat(call, 5))
	}
	partials.WriteString("{{ define \"p30\" }}{{ .spec.image }}{{ end }}")
	for _, typo := range []string{"", "{{ .spec.typo }}"} {
		k := compile(t, map[string]string{"x.yaml": head + "data:\n  a: {{ include \"p0\" . }}" + typo, "_p.tpl": partials.String()})
		if k == nil {
			t.Error("the folder is refused")
		}
	}
}

// refusesFields checks whether the operator refuses a template for a field.
func refusesFields(t *testing.T, text string, isRefused bool) {
	t.Helper()
	_, err := compileFor(t, guarded, map[string]string{
		"x.yaml": head + "data:\n  a: {{ $.spec.image }}" + text,
		"_p.tpl": `{{ define "fails" }}{{ fail "no" }}{{ end }}{{ define "host" }}{{ .host }}{{ end }}` +
			`{{ define "both" }}{{ include "host" . }}{{ end }}{{ define "root" }}{{ .root.spec.typo }}{{ end }}` +
			`{{ define "again" }}{{ if .tls }}{{ include "again" .tls }}{{ end }}{{ end }}`,
	})
	if err != nil && !strings.Contains(err.Error(), "has no field") {
		t.Fatal(err)
	}
	if (err != nil) != isRefused {
		t.Errorf("%s: refused: %v, want %v", text, err, isRefused)
	}
}
