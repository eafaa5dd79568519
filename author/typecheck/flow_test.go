package typecheck

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// pages is the type of the resource in the tests.
func pages(t testing.TB) *schema.Type {
	t.Helper()
	data, err := os.ReadFile("testdata/pages.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse("pages.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Root(crd.Versions[0])
}

// follow follows the file x.yaml, beside which there is a Deployment.
func follow(t testing.TB, text string) *Flow {
	t.Helper()
	in := Input{
		Files: []string{"x"}, Root: pages(t), Name: "Page v1", Live: schema.BuiltInType,
		Makes:  func(string) []apischema.GroupVersionKind { return []apischema.GroupVersionKind{deployment} },
		Config: map[string]any{"image": "nginx", "limit": int64(3)},
	}
	set, err := template.Compile(template.Input{Config: in.Config, Sources: []template.Source{
		{Name: "x", File: "x.yaml", Text: text}, {Name: "deployment", File: "deployment.yaml", Text: "a: b"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	in.Set = set
	return Follow(in)
}

var deployment = apischema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// finds checks the findings of texts: class, place and how the text of each
// begins, in any order.
func finds(t *testing.T, texts map[string][]string) {
	t.Helper()
	for text, want := range texts {
		t.Run(text, func(t *testing.T) {
			left := slices.Clone(want)
			for _, f := range follow(t, text).Findings {
				got := fmt.Sprintf("%s %d:%d %s", f.Class, f.Place.Line, f.Place.Column, f.Text)
				i := slices.IndexFunc(left, func(w string) bool { return strings.HasPrefix(got, w) })
				if i < 0 {
					t.Errorf("found %s", got)
					continue
				}
				left = slices.Delete(left, i, i+1)
			}
			for _, w := range left {
				t.Errorf("did not find %s", w)
			}
		})
	}
}

func TestUnknownField(t *testing.T) {
	finds(t, map[string][]string{
		"a: {{ .spec.txet }}":                                                        {"unknown-field 1:7 Page v1 has no field spec.txet; did you mean spec.text?"},
		`a: {{ (child "deployment").status.readyReplicaz }}`:                         {"unknown-field 1:27 Deployment apps/v1 has no field status.readyReplicaz; did you mean status.readyReplicas?"},
		`a: {{ with lookup "v1" "ConfigMap" "" "x" }}{{ .dada.x | quote }}{{ end }}`: {"unknown-field 1:48 ConfigMap v1 has no field dada; did you mean data?"},
		`{{ range select "v1" "Pod" (dict "matchLabels" (dict "a" "b")) }}{{ .metadata.nam }}: 1{{ end }}`: {
			"unknown-field 1:69 Pod v1 has no field metadata.nam; did you mean metadata.name?"},
		`{{ define "d" }}host: {{ .spec.text }}{{ if .spec.port }}
port: 1{{ end }}{{ end }}{{ $d := fromYaml (include "d" .) }}a: {{ $d.hots }}{{ $d.port }}`: {
			`unknown-field 2:68 what include "d" gives has no field hots; did you mean host?`,
			"falsy 1:45 spec.port", "nil 2:81 $d.port may be absent"},
		`a: {{ index .spec "txet" }}`:                                {"unknown-field 1:19 Page v1 has no field spec.txet; did you mean spec.text?"},
		`a: {{ get .spec "txet" }}`:                                  {"unknown-field 1:17 Page v1 has no field spec.txet; did you mean spec.text?"},
		`a: {{ dig "db" "hots" "x" .spec }}`:                         {"unknown-field 1:16 Page v1 has no field spec.db.hots; did you mean spec.db.host?"},
		`a: {{ if hasKey .spec "txet" }}1{{ end }}`:                  {"unknown-field 1:23 Page v1 has no field spec.txet; did you mean spec.text?"},
		`a: {{ (first .spec.env).nam }}`:                             {"unknown-field 1:24 Page v1 has no field spec.env[].nam; did you mean spec.env[].name?"},
		`a: {{ (dict "port" 1).prot }}`:                              {"unknown-field 1:22 the map that dict made has no field prot; did you mean port?"},
		`a: {{ if .spec.live }}1{{ else }}{{ .spec.txet }}{{ end }}`: {"unknown-field 1:37 Page v1 has no field spec.txet; did you mean spec.text?"},
		`a: {{ .spec.more.any.thing }}{{ (dict "port" 1).other }}`:   {"nil 1:7 spec.more.any.thing may be absent, and nil cannot be part of a text: give it a default, or leave the text out with `if`"},
		`{{ range $k, $v := .spec.db }}{{ $k }}: {{ $v }}{{ end }}`:  nil,
	})
}

// TestHalfTyped: what does not compile is followed as far as it parses, and its nodes are
// seen: an editor asks while a template is written.
func TestHalfTyped(t *testing.T) {
	for _, text := range []string{
		"{{ if gt 1 }}a: {{ .spec.text }}{{ end }}", "{{ if has }}a: {{ .spec.text }}{{ end }}", "{{ if nothing 1 }}a: {{ .spec.text }}{{ end }}",
		"{{ include \"nothing\" . }}{{ .spec.text }}", "{{ if eq }}{{ else }}{{ .spec.text }}{{ end }}", "{{ lookup }}{{ .spec.text }}",
	} {
		set, err := template.Compile(template.Input{Sources: []template.Source{{Name: "x", File: "x.yaml", Text: text}}})
		if err == nil {
			t.Errorf("%s compiles", text)
		}
		seen := ""
		Follow(Input{Set: set, Files: []string{"x"}, Root: pages(t), Name: "Page v1", Live: schema.BuiltInType, Quick: true,
			Seen: func(s Sight) {
				if v := s.Value(); s.Node.String() == ".spec.text" && s.Step == 2 {
					seen = v.Type.Kind().String() + " " + v.Sources[0].Path
				}
			}})
		if seen != "string spec.text" {
			t.Errorf("%s: .spec.text is seen as %q", text, seen)
		}
	}
	stopped := false
	in := Input{Files: []string{"x"}, Root: pages(t), Stop: func() bool { return true }, Seen: func(Sight) { stopped = true }}
	in.Set, _ = template.Compile(template.Input{Sources: []template.Source{{Name: "x", File: "x.yaml", Text: "{{ .spec.text }}"}}})
	if Follow(in); stopped {
		t.Error("what is not wanted any more is followed")
	}
}
