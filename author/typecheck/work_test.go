package typecheck

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

const thingsCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
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
            properties:
              tags: {type: array, items: {type: string}}
`

// TestWorkIsBounded: a folder is understood or refused with a bounded amount of
// work, whatever it says.
func TestWorkIsBounded(t *testing.T) {
	crd, err := crdfile.Parse("crd.yaml", []byte(thingsCRD))
	if err != nil {
		t.Fatal(err)
	}
	// Each value is made of five of the one before.
	tree := "{{ $m := dict \"x\" 1 }}\n" + strings.Repeat("{{ $m = dict \"a\" $m \"b\" $m \"c\" $m \"d\" $m \"e\" $m }}\n", 30)
	var rings strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rings,
			"{{ define \"d%d\" }}{{ range .spec.tags }}{{ $x%d := sha256sum (repeat 1000000 \"x\") }}{{ template \"d%d\" $ }}{{ end }}{{ end }}", i,
			i, (i+1)%300)
	}
	for name, one := range map[string]struct {
		text    string
		refused bool
	}{
		"values in loops":    {tree + "{{ range .spec.tags }}{{ $m = dict \"a\" $m }}{{ end }}", true},
		"values as text":     {tree + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: {{ toJson $m }}\n", false},
		"branches in a line": {strings.Repeat("{{ if .spec.tags }}{{ end }}", 10_000), false},
		"long texts":         {strings.Repeat("{{ $x := sha256sum (repeat 1000000 \"x\") }}\n", 19_000), true},
		"searches":           {strings.Repeat("{{ $x := regexReplaceAll \"(x+x+)+y\" (repeat 10000 \"x\") \"\" }}\n", 10_000), true},
		"texts in partials":  {rings.String() + "{{ template \"d0\" . }}", true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := folder.FromMap("things.example.com", "f", map[string][]byte{"a.yaml": []byte(one.text)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = kind.CompileWith(f, crd, Check)
			if one.refused && (!errors.Is(err, template.ErrBudget) || !strings.HasPrefix(err.Error(), "f/a.yaml:1:1: ")) || !one.refused &&
				err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
