package template

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A row is a template and the document that it renders: YAML, or "" for none.
type row struct{ name, text, want string }

func checkRows(t *testing.T, rows []row, dot map[string]any) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, tt.text, dot)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(got) != 0 {
					t.Fatalf("want no document, got %v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d documents: %v", len(got), got)
			}
			if diff := cmp.Diff(fromYAML(t, tt.want), throughJSON(t, got[0])); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func fromYAML(t *testing.T, text string) any {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func throughJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fromYAML(t, string(text))
}

func TestStatements(t *testing.T) {
	checkRows(t, []row{
		{"else if", `{{ if .spec.nope }}a: 1{{ else if .spec.on }}a: 2{{ else }}a: 3{{ end }}`, `a: 2`},
		{"with and else", `{{ with .spec.nope }}a: 1{{ else }}a: {{ .spec.image }}{{ end }}`, `a: nginx`},
		{"with keeps dollar", `{{ with .spec.config }}a: {{ $.spec.image }}{{ end }}`, `a: nginx`},
		{"with a variable", `{{ with $c := .spec.config }}a: {{ $c.k.n }}{{ end }}`, `a: 1`},
		{"if with a variable", `{{ if $c := .spec.config }}a: {{ $c.k.n }}{{ end }}`, `a: 1`},
		{"else with chain", `{{ with .spec.nope }}a: 1{{ else with .spec.zero }}a: 2{{ else with .spec.config }}a: {{ .k.n }}{{ end }}`, `a: 1`},
		{"range else", "a:\n{{- range .spec.nope }}\n- {{ . }}\n{{- else }}\n- none\n{{- end }}", `a: [none]`},
		{"range over a number", "a:\n{{- range $i := 3 }}\n- {{ $i }}\n{{- end }}", `a: [0, 1, 2]`},
		{"range in the order of keys", "a:\n{{- range $k, $v := dict \"z\" 1 \"a\" 2 }}\n- {{ $k }}{{ $v }}\n{{- end }}", `a: [a2, z1]`},
		{"continue", "a:\n{{- range $i := until 4 }}\n{{- if eq $i 1 }}{{ continue }}{{ end }}\n- {{ $i }}\n{{- end }}", `a: [0, 2, 3]`},
		{"break in an inner loop", "a:\n{{- range $i := until 2 }}{{ range $j := until 9 }}{{ if eq $j 1 }}{{ break }}{{ end }}\n- {{ $i }}{{ $j }}\n{{- end }}{{ end }}", `a: ["00", "10"]`},
		{"block", `{{ block "b" .spec }}a: {{ .image }}{{ end }}`, `a: nginx`},
		{"template", `{{ define "d" }}a: {{ .image }}{{ end }}{{ template "d" .spec }}`, `a: nginx`},
		{"template without an argument", `{{ define "d" }}a: {{ . | default "x" }}{{ end }}{{ template "d" }}`, `a: x`},
		{"variable set in a branch", `{{ $x := 1 }}{{ if .spec.on }}{{ $x = 2 }}{{ end }}a: {{ $x }}`, `a: 2`},
		{"variable declared again", `{{ $x := 1 }}{{ if .spec.on }}{{ $x := 2 }}{{ end }}a: {{ $x }}`, `a: 1`},
		{"variable of a loop", "{{ $s := \"\" }}{{ range $i := until 3 }}{{ $s = printf \"%s%d\" $s $i }}{{ end }}a: {{ $s }}", `a: "012"`},
		{"variables of a define are its own", `{{ define "v" }}{{ $x := 5 }}{{ end }}{{ $x := 1 }}{{ template "v" }}a: {{ $x }}`, `a: 1`},
		{"comment action", "{{/* no */}}a: 1{{- /* no */ -}}\n", `a: 1`},
		{"trim markers", "a: 1\n{{- if .spec.on -}}\n\n{{ \"\\n\" }}{{ end }}", `a: "1\n"`},
		{"nothing", "{{ if .spec.nope }}a: 1{{ end }}", ``},
		{"blank", "\n# only\n---\n\n", ``},
		{"and, or", `a: {{ and .spec.on .spec.image }}` +
			"\nb: {{ or .spec.nope .spec.image }}\nc: {{ or .spec.on (fail \"no\") }}\nd: {{ and .spec.zero (fail \"no\") }}",
			`{a: nginx, b: nginx, c: true, d: 0}`},
	}, resource())
}

func TestReading(t *testing.T) {
	checkRows(t, []row{
		{"absent in maps",
			`a: {{ .x.y.z }}` +
				"\nb: {{ .spec.config.q.r }}\nc: {{ index .spec \"no\" \"deep\" }}\nd: {{ get .spec \"no\" }}\ne: {{ dig \"a\" \"b\" 7 .spec }}",
			`e: 7`},
		{"absent in variables", `{{ $v := .spec.nope }}a: {{ $v.b.c }}` + "\nb: 1", `b: 1`},
		{"absent in items", "a:\n{{- range .spec.list }}\n- {{ .b.c | default \"d\" }}\n{{- end }}", `a: [d, e]`},
		{"absent of a call", "a: {{ (dict \"x\" 1).y.z }}\nb: 2", `b: 2`},
		{"null is absent", "a: {{ .spec.null.x }}\nb: {{ .spec.null }}\nc: 3", `c: 3`},
		{"only what is there", `a: {{ len .spec.config }}` + "\nb: {{ hasKey .spec \"nope\" }}\nc: {{ keys .spec.labels }}",
			`{a: 1, b: false, c: [a, b]}`},
		{"range over nothing", "a: 1\n{{ range .spec.nope.deep }}b: 2{{ end }}", `a: 1`},
		{"large integer", "a: {{ .spec.big }}\nb: {{ .spec.ratio }}", `{a: 9007199254740993, b: 0.5}`},
	}, reading())
}

func reading() map[string]any {
	dot := resource()
	spec := dot["spec"].(map[string]any)
	spec["list"] = []any{map[string]any{}, map[string]any{"b": map[string]any{"c": "e"}}}
	spec["null"] = nil
	spec["big"] = int64(9007199254740993)
	return dot
}

func TestNothing(t *testing.T) {
	checkRows(t, []row{
		{"a map that lost all its keys", "a:\n  b:\n    c: {{ .n }}\nd: 1", `d: 1`},
		{"a written map stays", "a: {}\nb:\n  c: {}\nd: []", `{a: {}, b: {c: {}}, d: []}`},
		{"untaken branch", "a:\n{{- if .n }}\n  b: 1\n{{- end }}\nc: 1", `c: 1`},
		{"empty range", "a:\n{{- range .n }}\n- {{ . }}\n{{- end }}\nc: 1", `c: 1`},
		{"literal null", "a: null\nb: ~\nc:\nd: 1", `d: 1`},
		{"empty text stays", "a: \"\"\nb: ''\nc: {{ \"\" }}", `{a: "", b: "", c: ""}`},
		{"empty value stays", "a: {{ dict }}\nb: {{ list }}\nc: {{ 0 }}\nd: {{ false }}", `{a: {}, b: [], c: 0, d: false}`},
		{"toJson nothing", "a: {{ toJson .n }}\nb: {{ toYaml .n }}\nc: 1", `c: 1`},
		{"include nothing", "a: {{ include \"port\" (dict) }}\nb: 1", `b: 1`},
		{"empty include", "{{ define \"e\" }}{{ end }}a: {{ include \"e\" . }}\nb: 1", `b: 1`},
		{"quote nothing", "a: {{ quote .n }}\nb: 1", `b: 1`},
		{"indent nothing", "a: {{ .n | nindent 2 }}\nb: 1", `b: 1`},
		{"a whole document", "a: {{ .n }}", ``},
		{"nodeSelector may be absent", "spec:\n  nodeSelector: {{ .n }}\n  a: 1", `spec: {a: 1}`},
		{"from outside of a NetworkPolicy", "kind: Other\nspec:\n  from: {{ .n }}\n  a: 1", `{kind: Other, spec: {a: 1}}`},
		{"an empty selector may be written", "kind: NetworkPolicy\nspec:\n  podSelector: {}", `{kind: NetworkPolicy, spec: {podSelector: {}}}`},
		{"ingress of a NetworkPolicy", "kind: NetworkPolicy\ningress: {{ .n }}", `{kind: NetworkPolicy}`},
	}, resource())
}

func TestNothingIsRefused(t *testing.T) {
	const nothing = "the value is nil"
	checkRefusals(t, []row{
		{"in quotes", `a: "{{ .n }}"`, "x.yaml:1:8: {{ .n }}: " + nothing},
		{"in single quotes", `a: '{{ .n }}'`, nothing},
		{"in a block scalar", "a: |\n  {{ .n }}\n", nothing},
		{"as a key", `{{ .n }}: 1`, nothing},
		{"as an item", "a: [{{ .n }}]", "an item of a list is nil"},
		{"as a null item", "a:\n- null", "an item of a list is nil"},
		{"an item that lost all", "a:\n- b: {{ .n }}", "an item of a list is nil"},
		{"toJson as an item", "a:\n- {{ toJson .n }}", "an item of a list is nil"},
		{"printf", `a: {{ printf "%s" .n }}`, "x.yaml:1:7: {{ printf \"%s\" .n }}: printf: argument 2 is nil"},
		{"print", `a: {{ print .n }}`, "argument 1 is nil"},
		{"toString", `a: {{ toString .n }}`, "is nil"},
		{"join", `a: {{ join "," (list .n) }}`, "is nil"},
		{"cat", `a: {{ cat "x" .n }}`, "is nil"},
		{"include in a condition", `{{ if include "name" (dict) }}a: 1{{ end }}`, nothing},
		{"include under default", `a: {{ include "name" (dict) | default "x" }}`, nothing},
		{"in two holes", `a: {{ .n }}{{ .n }}`, nothing},
		{"a field of a number", `a: {{ .spec.replicas.x }}`, "a number has no field x"},
		{"a field of a list", `a: {{ .spec.args.x }}`, "a list has no field x"},
		{"a field of a boolean", `a: {{ .spec.on.x }}`, "a boolean has no field x"},
		{"range over a text", `{{ range .spec.image }}{{ end }}`, "range needs a list, a map or a whole number, not a string"},
	}, resource())
}

func checkRefusals(t *testing.T, rows []row, dot map[string]any) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, tt.text, dot)
			if err == nil {
				t.Fatalf("no error; got %v", got)
			}
			if !contains(err.Error(), tt.want) {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestWideningIsRefused(t *testing.T) {
	var rows []row
	for _, key := range []string{"selector", "podSelector", "labelSelector", "namespaceSelector", "matchLabels", "matchExpressions", "hard",
		"securityContext", "rules"} {
		rows = append(rows,
			row{key, "a: 1\n" + key + ": {{ .n }}", key + " is nil, and an absent " + key + " would select or allow more"},
			row{key + " inside", "a: 1\n" + key + ":\n  b:\n    c: {{ .n }}\n    d: 1", "c is nil, and without it " + key + " would"},
			row{key + " empty", key + ":\n{{- range .n }}\n  b: 1\n{{- end }}", key + " is nil"},
			row{key + " null", key + ":\n  b: null", "b is nil"},
			row{key + " in a value", key + ": {{ .spec.withNull }}", "a part of this value is null, and without it " + key},
		)
	}
	for _, key := range []string{"from", "to", "ports"} {
		rows = append(rows, row{key, "kind: NetworkPolicy\ningress:\n- a: 1\n  " + key + ": {{ .n }}", key + " is nil"})
	}
	rows = append(rows,
		row{"toYaml", "selector:\n  matchLabels: {{- toYaml .n | nindent 4 }}", "matchLabels is nil"},
		row{"a key of a value", "selector:\n  {{ .spec.image }}: {{ .n }}", "a key made of a value is nil"},
		row{"beside entries", "selector:\n  a: 1\n  {{- toYaml .spec.withNull | nindent 2 }}", "a part of this value is null"})
	dot := resource()
	dot["spec"].(map[string]any)["withNull"] = map[string]any{"x": nil}
	checkRefusals(t, rows, dot)
}
