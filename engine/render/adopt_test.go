package render_test

import (
	"strings"
	"testing"
)

// TestAdoptedNames: whichever way a name out of the spec comes into a document,
// it takes nothing over.
func TestAdoptedNames(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\n"
	const marks = "  annotations: {jacquard.dev/adopt: \"true\"}\n"
	const own = "{{ .metadata.name }}"
	const victim = "{{ .spec.name }}"
	for name, tt := range map[string]struct {
		text string
		want []string // names; none: refused
	}{
		"literal": {head + "metadata:\n  name: web\n" + marks, []string{"web"}},
		"quoted":  {head + "metadata:\n  \"name\": 'a-" + own + "'\n" + marks, []string{"a-web"}},
		"root": {"{{ range .spec.items }}\n---\n" + head + "metadata:\n  name: {{ $.metadata.name }}-b\n" + marks + "{{ end }}",
			[]string{"web-b"}},
		"childName":   {head + "metadata:\n  name: {{ childName .metadata.name \"web\" }}\n" + marks, []string{"web-web"}},
		"in braces":   {head + "metadata: {name: " + own + ", annotations: {jacquard.dev/adopt: \"true\"}}\n", []string{"web"}},
		"not adopted": {head + "metadata:\n  name: " + victim + "\n", []string{"victim"}},

		"a branch and a key in quotes": {head + "metadata:\n  {{- if not .spec.name }}\n  name: web\n  {{- else }}\n  ? name\n  : " + victim +
			"\n  {{- end }}\n" + marks, nil},
		"a partial": {head +
			"metadata:\n  {{- if not .spec.name }}\n  name: web\n  {{- end }}\n  {{- include \"n\" . | nindent 2 }}\n" + marks +
			`{{ define "n" }}name: ` + victim + "{{ end }}", nil},
		"entries of a value": {head +
			"metadata:\n  {{- if not .spec.name }}\n  name: web\n  {{- end }}\n  {{- toYaml .spec.free | nindent 2 }}\n" + marks, nil},
		"an annotation that is a name": {head + "metadata: {name: " + victim + ", annotations: {jacquard.dev/adopt: \"true\", name: x}}\n", nil},
		"a mark beside that of another": {head + "metadata:\n  name: web\n" + marks + "---\n" + head + "metadata:\n  name: " + victim +
			"\n  annotations:\n    {{- include \"m\" . | nindent 4 }}\n" + `{{ define "m" }}jacquard.dev/adopt: "true"{{ end }}`, nil},
		"a part of a name": {head + "metadata: {annotations: {jacquard.dev/adopt: \"true\", name: x}, name: a-" + victim + "}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			children, err := renderFile(t, tt.text, map[string]any{
				"name": "victim", "free": map[string]any{"name": "victim"}, "items": []any{map[string]any{"name": "victim"}},
			})
			if tt.want == nil {
				if err == nil || !strings.Contains(err.Error(), "jacquard.dev/adopt is only for names that are literal or made of .metadata.name") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range children {
				if c.Object.GetName() != tt.want[i] {
					t.Errorf("the name is %s, want %s", c.Object.GetName(), tt.want[i])
				}
			}
		})
	}
}
