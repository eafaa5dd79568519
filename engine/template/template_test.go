package template

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func run(t *testing.T, text string, dot map[string]any) ([]map[string]any, error) {
	t.Helper()
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "templates/k/x.yaml", Text: text},
		{Name: "_h.tpl", File: "templates/k/_h.tpl", Text: partials}}})
	if err != nil {
		return nil, err
	}
	docs, err := set.Execute(context.Background(), "x", dot, still{})
	var out []map[string]any
	for _, d := range docs {
		out = append(out, d.Object)
	}
	return out, err
}

const partials = `{{ define "labels" -}}
app: {{ .metadata.name }}
tier: web
{{- end }}
{{ define "name" }}{{ .metadata.name }}-x{{ end }}
{{ define "below" }}
  app: {{ .metadata.name }}
{{- end }}
{{ define "alone" }}
{{ .metadata.name }}
{{ end }}
{{ define "beside" }}
d: 1
{{ end }}
{{ define "port" }}{{ .spec.port }}{{ end }}
`

func resource() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "default"},
		"spec": map[string]any{
			"image": "nginx", "replicas": int64(2), "port": int64(80), "ratio": 0.5, "on": true, "digits": "123",
			"evil": "x\n  hostNetwork: true", "labels": map[string]any{"a": "1", "b": "2"},
			"args": []any{"--x", "--y"}, "config": map[string]any{"k": map[string]any{"n": int64(1)}}, "zero": int64(0),
		},
	}
}

var prints = []struct{ name, text, want string }{
	{"whole", "a: {{ .spec.replicas }}\nb: {{ .spec.digits }}\nc: {{ .spec.on }}\nd: {{ .spec.args }}",
		`{a: 2, b: "123", c: true, d: [--x, --y]}`},
	{"text", `a: "{{ .spec.replicas }}"` + "\nb: {{ .spec.image }}-svc\n{{ .spec.image }}: 1", `{a: "2", b: nginx-svc, nginx: 1}`},
	{"evil", "a: {{ .spec.evil }}\nb: x{{ .spec.evil }}", `{a: "x\n  hostNetwork: true", b: "xx\n  hostNetwork: true"}`},
	{"absent", "a: {{ .spec.nope.deep }}\nb:\n  c: {{ .spec.nope }}\nd: {}\ne:\nf: null\ng: 1", `{d: {}, g: 1}`},
	{"block", "a: |\n  one\n    {{ .spec.evil }}\n  end\n", `{a: "one\n  x\n    hostNetwork: true\nend\n"}`},
	{"toYaml nindent", "a:\n  {{- toYaml .spec.labels | nindent 2 }}", `{a: {a: "1", b: "2"}}`},
	{"toYaml beside", "a:\n  z: 0\n  {{- toYaml .spec.labels | nindent 2 }}", `{a: {z: 0, a: "1", b: "2"}}`},
	{"toYaml indent", "a:\n{{ toYaml .spec.labels | indent 2 }}", `{a: {a: "1", b: "2"}}`},
	{"toYaml list", "a:\n- z\n{{ toYaml .spec.args }}", `{a: [z, --x, --y]}`},
	{"toYaml inline", "a: {{ toYaml .spec.labels }}\nb: {{ toJson .spec.args }}\nc: '{{ toJson .spec.args }}'",
		`{a: {a: "1", b: "2"}, b: [--x, --y], c: '["--x","--y"]'}`},
	{"toYaml block", "a: |\n  top:\n    {{- toYaml .spec.config | nindent 4 }}\n", `{a: "top:\n  k:\n    \"n\": 1\n"}`},
	{"toYaml block list", "a: |\n  {{- toYaml .spec.args | nindent 2 }}\n", `{a: "- --x\n- --y\n"}`},
	{"toYaml nil", "a: {{ toYaml .spec.nope | nindent 2 }}\nb: 1", `{b: 1}`},
	{"include nindent", "a:\n  {{- include \"labels\" . | nindent 2 }}", `{a: {app: web, tier: web}}`},
	{"include inline",
		"a: {{ include \"labels\" . }}\nb: {{ include \"name\" . }}\nc: {{ include \"port\" . }}\nd: \"{{ include \"port\" . }}\"",
		`{a: {app: web, tier: web}, b: web-x, c: 80, d: "80"}`},
	{"include in a list", "a:\n- {{ include \"labels\" . }}\n- b: {{ include \"labels\" . }}",
		`{a: [{app: web, tier: web}, {b: {app: web, tier: web}}]}`},
	{"include alone", "a:\n  {{ include \"labels\" . }}", `{a: {app: web, tier: web}}`},
	{"include text", "a: {{ include \"name\" . | upper | trunc 3 }}\nb: {{ include \"labels\" . | sha256sum | trunc 4 }}",
		`{a: WEB, b: "1103"}`},
	{"include default", "a: {{ include \"port\" . | default \"9\" }}\nb: {{ include \"port\" (dict) | default \"9\" }}", `{a: 80, b: "9"}`},
	{"quote", "a: {{ .spec.replicas | quote }}\nb: x={{ .spec.image | quote }}\nc: {{ .spec.nope | quote }}\nd: {{ .spec.nope | default \"8\" | quote }}", `{a: "2", b: 'x="nginx"', d: "8"}`},
	{"fromYaml", "a: {{ (fromYaml (include \"labels\" .)).app }}", `{a: web}`},
	{"range", "a:\n{{- range $k, $v := .spec.labels }}\n- {{ $k }}={{ $v }}\n{{- end }}\nb:\n{{- range until 2 }}\n- {{ . }}\n{{- end }}",
		`{a: [a=1, b=2], b: [0, 1]}`},
	{"break", "a:\n{{- range $i := until 9 }}\n{{- if eq $i 2 }}{{ break }}{{ end }}\n- {{ $i }}\n{{- end }}", `{a: [0, 1]}`},
	{"with", "{{ with .spec.nope }}a: 1{{ else with .spec.image }}a: {{ . }}{{ end }}", `{a: nginx}`},
	{"variables", "{{ $n := 0 }}{{ range .spec.args }}{{ $n = add1 $n }}{{ end }}a: {{ $n }}", `{a: 2}`},
	{"comment", "# {{ .spec.evil }}\na: 1 # {{ .spec.evil }}\nb: {{ .spec.image }}", `{a: 1, b: nginx}`},
	{"literals", "a: 0x10\nb: 010\nc: 1e3\nd: 2024-01-01\ne: 'yes'\nf: 1_000\ng: ~x\nh: 0.5",
		`{a: 16, b: 8, c: 1000, d: "2024-01-01", e: "yes", f: 1000, g: ~x, h: 0.5}`},
	{"strings stay", "a: {{ \"no\" }}\nb: {{ printf \"%d\" 8 }}\nc: {{ toString 7 }}\nd: {{ .spec.nope | default \"80\" }}\ne: {{ \"{{\" }}",
		`{a: "no", b: "8", c: "7", d: "80", e: "{{"}`},
	{"block chomping", "a: |-\n  {{ printf \"x\\n\\n\" }}\nb: |\n  {{ printf \"x\\n\\n\" }}\nc: |+\n  {{ printf \"x\\n\" }}\n",
		`{a: x, b: "x\n", c: "x\n\n"}`},
	{"define dict", `{{ define "kv" }}{{ .k }}: {{ .v }}{{ end }}` + "a:\n  {{ include \"kv\" (dict \"k\" \"x\" \"v\" .spec.port) }}",
		`{a: {x: 80}}`},
	{"include of a first line break",
		"a:\n  {{- include \"below\" . }}\nb: {{ include \"below\" . }}\ne: \"{{ include \"alone\" . }}\"\nc: x{{ include \"beside\" . }}",
		`{a: {app: web}, b: {app: web}, e: web, c: x, d: 1}`},
	{"rules of a Role", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules:\n{{- range .spec.nope }}\n- verbs: {{ . }}\n{{- end }}",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: []}`},
	{"toYaml of no rules", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules: {{ .spec.nope | toYaml | nindent 2 }}",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: []}`},
	{"if include", `{{ if include "port" (dict) }}a: 1{{ else }}a: 2{{ end }}`, `{a: 2}`},
}

func TestPrinting(t *testing.T) {
	for _, tt := range prints {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, tt.text, resource())
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 {
				t.Fatalf("%d documents", len(got))
			}
			var want, have any
			if err := yaml.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(got[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(text, &have); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

var refusals = []struct{ name, text, want string }{
	{"syntax", "a: 1\nb: {{ .spec.x", "templates/k/x.yaml:2:4: b: {{ .spec.x: unclosed action"},
	{"unknown function", "a: {{ upcase .x }}", "templates/k/x.yaml:1:7: {{ upcase .x }}: there is no function upcase"},
	{"refused", "a: {{ env \"HOME\" }}", "templates/k/x.yaml:1:7: {{ env \"HOME\" }}: the function env is not available: "},
	{"values", "a: {{ .Values.x }}", "templates/k/x.yaml:1:7: {{ .Values.x }}: there is no .Values: read the custom resource: .spec"},
	{"field of a string", "a: 1\nb: {{ .spec.image.tag }}", "templates/k/x.yaml:2:7: {{ .spec.image.tag }}: a string has no field tag"},
	{"nil in a text", "a: x-{{ .spec.nope }}", "templates/k/x.yaml:1:9: {{ .spec.nope }}: the value is nil"},
	{"nil item", "a:\n- {{ .spec.nope }}", "templates/k/x.yaml:2:6: {{ .spec.nope }}: an item of a list is nil"},
	{"nil widens", "spec:\n  selector:\n    matchLabels: {{ .spec.nope }}",
		"templates/k/x.yaml:3:21: {{ .spec.nope }}: matchLabels is nil, and without it selector would select or allow more"},
	{"nil inside widens", "spec:\n  podSelector:\n    matchLabels:\n      a: {{ .spec.nope }}",
		"templates/k/x.yaml:4:13: {{ .spec.nope }}: a is nil, and without it podSelector"},
	{"map in a text", "a: x-{{ .spec.labels }}", "the value is a map and cannot be part of a text"},
	{"boolean word", "a: yes", "templates/k/x.yaml:1:4: a: yes: yes is a boolean to some"},
	{"duplicate", "a: 1\nb: 2\na: 3", `templates/k/x.yaml:3:1: a: 3: the key "a" stands here and on line 1`},
	{"duplicate by value", "m:\n  a: 0\n  {{- toYaml .spec.labels | nindent 2 }}",
		"templates/k/x.yaml:3:7: {{- toYaml .spec.labels | nindent 2 }}: the key a stands there already: it was written at templates/k/x.yaml:2:3"},
	{"alias", "a: &x 1\nb: *x", "YAML anchors are not allowed"},
	{"tag", "a: !!binary x", "YAML tags are not allowed"},
	{"tab", "a:\n\tb: 1",
		"templates/k/x.yaml:2:1: b: 1: YAML is indented with blanks, never tabs (found character that cannot start any token)"},
	{"overflow", "a: 99999999999999999999", "the number 99999999999999999999 is too large"},
	{"infinity", "a: 1e400", "the number 1e400 is too large"},
	{"private use", "a: \uE000", "templates/k/x.yaml:1:4: the template holds a private-use character"},
	{"reserved key", "m:\n  {{ printf \"%s/x\" \"jacquard.dev\" }}: 1",
		"templates/k/x.yaml:2:6: {{ printf \"%s/x\" \"jacquard.dev\" }}: a key of jacquard.dev comes out of a value"},
	{"reserved value", "m:\n  jacquard.dev/on-failed: {{ .spec.image }}",
		"templates/k/x.yaml:2:30: {{ .spec.image }}: the value of jacquard.dev/on-failed must be literal text"},
	{"endless", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", "a bound was reached"},
	{"recursion", `{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}`, "a bound was reached"},
	{"unknown template", `a: {{ include "nope" . }}`, `there is no template "nope"`},
	{"fromYaml of a made text", `a: {{ printf "a: %s" .spec.image | fromYaml }}`,
		"fromYaml takes one field as it stands, one read such as file or lookup, or an include"},
	{"lost copy", "{{ $m := dict }}{{ $_ := set $m \"a\" 1 }}a: 1",
		"templates/k/x.yaml:1:26: {{ $_ := set $m \"a\" 1 }}: set returns a changed copy, which is lost here"},
	{"blanks from a value", "a: |\n  {{ .spec.image | indent (int .spec.port) }}", "the number of blanks must be written out: indent 4"},
	{"no map", "- a", "the document is a list, not a map of fields"},
	{"partial's error", "a: {{ include \"labels\" (dict) }}\nb: {{ include \"name\" (dict) | upper }}",
		"templates/k/_h.tpl:5:23: {{ .metadata.name }}: the value is nil"},
}

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, tt.text, resource())
			if err == nil {
				t.Fatalf("no error; got %v", got)
			}
			if !contains(err.Error(), tt.want) {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

func TestPlaces(t *testing.T) {
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml",
		Text: "a: 1\nb:\n  c: {{ .spec.image }}\n  {{- include \"labels\" . | nindent 2 }}\nd:\n- x: 1\n{{ toYaml .spec.args }}\n- z: 2\n"},
		{Name: "_h.tpl", File: "_h.tpl", Text: partials}}})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := set.Execute(context.Background(), "x", resource(), still{})
	if err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string][]any{
		"x.yaml:1:4": {"a"}, "x.yaml:3:9": {"b", "c"}, "_h.tpl:3:7": {"b", "tier"}, "_h.tpl:2:9": {"b", "app"},
		"x.yaml:6:6": {"d", 0, "x"}, "x.yaml:7:4": {"d", 2}, "x.yaml:8:6": {"d", 3, "z"},
	} {
		if got := docs[0].Place(path...).String(); got != want {
			t.Errorf("%v is at %s, want %s", path, got, want)
		}
	}
}
