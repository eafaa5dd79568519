package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func lines() map[string]any {
	dot := resource()
	spec := dot["spec"].(map[string]any)
	spec["lines"] = "x\n  y\n\nz"
	spec["ends"] = "x\n\n"
	spec["empty"] = ""
	spec["deep"] = map[string]any{"a": []any{map[string]any{"jacquard.dev/x": "1"}}}
	spec["sub"] = map[string]any{"labels": map[string]any{"my.jacquard.dev/x": "1"}}
	spec["key"] = "jacquard.dev/owner"
	spec["holes"] = "\uE000\uE0010\uE003: 0 \uE0020\uE003 \uE0000\uE003 \uF8FF"
	spec["canary"] = "c4n4ry\nc4n4ry: 1"
	spec["secret"] = map[string]any{"c4n4ry": "c4n4ry"}
	return dot
}

func TestBlockScalars(t *testing.T) {
	checkRows(t, []row{
		{"lines keep the blanks", "a: |\n  one\n    {{ .spec.lines }}\n", `a: "one\n  x\n    y\n  \n  z\n"`},
		{"not first on its line", "a: |\n    b\n      k={{ .spec.lines }};\n", `a: "b\n  k=x\n    y\n  \n  z;\n"`},
		{"second on its line", "a: |\n    b\n      {{ .spec.image }}{{ .spec.evil }}\n", `a: "b\n  nginxx\n    hostNetwork: true\n"`},
		{"folded", "a: >\n  one\n  two {{ .spec.evil }}\n  three\n", `a: "one two x\n  hostNetwork: true three\n"`},
		{"indicator", "a: |2\n    b {{ .spec.evil }}\n", `a: "  b x\n    hostNetwork: true\n"`},
		{"indicator and strip", "a: |2-\n    {{ .spec.ends }}\n", `a: "  x"`},
		{"strip and indicator", "a: |-2\n    {{ .spec.ends }}\n", `a: "  x"`},
		{"clip", "a: |\n  {{ .spec.ends }}\nb: 1", `{a: "x\n", b: 1}`},
		{"keep", "a: |+\n  {{ .spec.ends }}\n\nb: 1", `{a: "x\n\n\n\n", b: 1}`},
		{"strip", "a: |-\n  {{ .spec.ends }}\n", `a: x`},
		{"fold and strip", "a: >-\n  {{ .spec.ends }}\n", `a: x`},
		{"line breaks in the middle", "a: |\n  {{ .spec.ends }}\n  y\n", `a: "x\n\n\ny\n"`},
		{"trailing breaks with blanks", "a: |\n  b\n    {{ .spec.ends }}\n", `a: "b\n  x\n"`},
		{"clip of an empty value", "a: |\n  {{ .spec.empty }}\n", `a: ""`},
		{"keep of an empty value", "a: |+\n  {{ .spec.empty }}\n", `a: "\n"`},
		{"header with a comment", "a: |- # {{ .spec.evil }}\n  {{ .spec.ends }}\n", `a: x`},
		{"in a list", "a:\n- |-\n  {{ .spec.ends }}\n- b", `a: [x, b]`},
		{"hash is text", "a: |\n  # {{ .spec.image }}\n", `a: "# nginx\n"`},
		{"separator inside", "a: |\n  ---\n  {{ .spec.image }}\n", `a: "---\nnginx\n"`},
		{"include of lines after text", "a: |\n    b\n      c {{ include \"labels\" . }}\n", `a: "b\n  c app: web\n  tier: web\n"`},
		{"include of lines after a hash", "a: |\n  # {{ include \"labels\" . }}\n", `a: "# app: web\ntier: web\n"`},
		{"a number", "a: |\n  {{ .spec.replicas }} {{ .spec.ratio }} {{ .spec.on }}\n", `a: "2 0.5 true\n"`},
		{"a value with quotes", "a: |\n  {{ .spec.image | quote }} {{ squote .spec.image }}\n", `a: "\"nginx\" 'nginx'\n"`},
	}, lines())
}

func TestPlacesOfHoles(t *testing.T) {
	holes := lines()["spec"].(map[string]any)["holes"].(string)
	text, err := yaml.Marshal(holes)
	if err != nil {
		t.Fatal(err)
	}
	asYAML := strings.TrimSuffix(string(text), "\n")
	checkRows(t, []row{
		{"flow", `{a: {{ .spec.replicas }}, b: [{{ .spec.image }}, "{{ .spec.port }}"]}`, `{a: 2, b: [nginx, "80"]}`},
		{"keys", "{{ .spec.image }}: 1\n\"{{ .spec.port }}\": 2\n{{ .spec.image }}-x: 3\n{{ quote .spec.replicas }}: 4",
			`{nginx: 1, "80": 2, nginx-x: 3, "2": 4}`},
		{"a key with lines", "{{ .spec.evil }}: 1", `{"x\n  hostNetwork: true": 1}`},
		{"an explicit key", "? {{ .spec.image }}\n: 1", `{nginx: 1}`},
		{"merge key as a value", "{{ \"<<\" }}: 1", `{"<<":1}`},
		{"quoted merge key", "\"<<\": 1", `{"<<": 1}`},
		{"comments",
			"# {{ .spec.evil }}\na: 1 # {{ include \"labels\" . }}\n# {{ include \"labels\" . }}\n# {{ toYaml .spec.labels }}\nb: '#' # {{ .n }}",
			`{a: 1, b: "#"}`},
		{"strings stay",
			"a: {{ \"123\" }}\nb: {{ \"no\" }}\nc: {{ \"1e3\" }}\nd: {{ \"{{\" }}\ne: {{ \"---\" }}\nf: {{ \"a\\nb\" }}\ng: {{ \"null\" }}\nh: {{ \"~\" }}\ni: {{ \"[1]\" }}\nj: {{ \"\" }}", `{a: "123", b: "no", c: "1e3", d: "{{", e: "---", f: "a\nb", g: "null", h: "~", i: "[1]", j: ""}`},
		{"strings of functions",
			"a: {{ printf \"%d\" 1 }}\nb: {{ toString true }}\nc: {{ .n | default \"80\" }}\nd: {{ toYaml \"80\" }}\ne: {{ toJson \"80\" }}\nf: {{ trim \"80\" }}", `{a: "1", b: "true", c: "80", d: "80", e: "80", f: "80"}`},
		{"numbers", "a: {{ 1.5 }}\nb: {{ 1e3 }}\nc: {{ 0x10 }}\nd: {{ add 1 2 }}\ne: {{ 9223372036854775807 }}\nf: {{ toYaml 7 }}",
			`{a: 1.5, b: 1000, c: 16, d: 3, e: 9223372036854775807, f: 7}`},
		{"quote", "a: {{ quote .spec.port }}\nb: {{ squote .spec.on }}\nc: {{ .spec.image | quote | upper }}\nd: {{ quote 1 2 }}",
			`{a: "80", b: "true", c: '"NGINX"', d: '"1" "2"'}`},
		{"kept through variables and parentheses",
			"{{ $l := include \"labels\" . }}{{ $y := (toYaml .spec.labels) }}a: {{ ($l) }}\nb: {{ $y }}\nc:\n  {{- ($l) | trim | nindent 2 }}\n  {{- $y | nindent 2 }}\nd: {{ $l | default \"x\" }}\ne: {{ toJson .spec.args | default \"x\" }}",
			`{a: {app: web, tier: web}, b: {a: "1", b: "2"}, c: {app: web, tier: web, a: "1", b: "2"}, d: {app: web, tier: web}, e: [--x, --y]}`},
		{"fromYaml of an include",
			"{{ define \"m\" }}a: {{ .spec.evil }}\nb: [{{ .spec.port }}]{{ end }}a: {{ fromYaml (include \"m\" .) }}\nb: {{ (include \"m\" . | fromYaml).b }}", `{a: {a: "x\n  hostNetwork: true", b: [80]}, b: [80]}`},
		{"an include through dict, list and the like",
			"{{ define \"use\" }}labels:\n  {{- .labels | nindent 2 }}\nof: {{ .labels }}\n{{- range .more }}\n{{ . }}\n{{- end }}\nin: {{ .in.deep }}{{ end }}" +
				"{{ include \"use\" (dict \"labels\" (include \"labels\" .) \"more\" (list (include \"one\" .) (include \"two\" .)) \"in\" (dict \"deep\" (include \"labels\" .))) }}{{ define \"one\" }}first: {{ .spec.evil }}{{ end }}{{ define \"two\" }}second: 2{{ end }}\n" +
				"chosen: {{ ternary (include \"labels\" .) \"none\" true }}\nfound: {{ coalesce \"\" (include \"labels\" .) }}\nnth: {{ index (list 1 (include \"labels\" .)) 1 }}\ngot: {{ get (dict \"a\" (include \"labels\" .)) \"a\" }}",
			`{labels: {app: web, tier: web}, of: {app: web, tier: web}, first: "x\n  hostNetwork: true", second: 2, in: {app: web, tier: web},
				chosen: {app: web, tier: web}, found: {app: web, tier: web}, nth: {app: web, tier: web}, got: {app: web, tier: web}}`},
		{"an include in a collection that is a value",
			"{{ $d := dict \"a\" (include \"labels\" .) \"b\" (list (include \"name\" .)) }}a: {{ $d }}\nb: {{ toYaml $d }}\nc: {{ $d.a | len }}\nd: {{ len $d }}\ne: {{ (set $d \"c\" 1).a }}\nf: {{ if $d }}{{ $d.b | first | upper }}{{ end }}",
			`{a: {a: "app: web\ntier: web", b: [web-x]}, b: {a: "app: web\ntier: web", b: [web-x]}, c: 18, d: 2, e: "app: web\ntier: web", f: WEB-X}`},
		{"other functions get the text",
			"a: {{ include \"labels\" . | len }}\nb: {{ toYaml .spec.labels | len }}\nc: {{ include \"name\" . | replace \"e\" \"a\" }}\nd: {{ list (include \"name\" .) }}", `{a: 18, b: 13, c: wab-x, d: [web-x]}`},
		{"toYaml in quotes", `a: "{{ toYaml .spec.args }}"` + "\nb: x{{ toJson .spec.labels }}", `{a: "- --x\n- --y", b: 'x{"a":"1","b":"2"}'}`},
		{"toYaml of items", "a:\n- 1\n{{ toYaml .spec.args | indent 0 }}\n- 2", `a: [1, --x, --y, 2]`},
		{"toYaml of an empty map and list", "a:\n  {{- toYaml (dict) | nindent 2 }}\nb:\n  {{- toYaml (list) | nindent 2 }}", `{a: {}, b: []}`},
		{"private use in values",
			"a: {{ .spec.holes }}\nb: \"{{ .spec.holes }}{{ .spec.holes }}\"\nc: |-\n  {{ .spec.holes }}\n{{ .spec.holes }}: {{ list .spec.holes }}",
			fmt.Sprintf("{a: %[1]q, b: %[2]q, c: %[1]q, %[1]q: [%[1]q]}", holes, holes+holes)},
		{"private use through functions",
			"{{ define \"h\" }}{{ .spec.holes }}{{ end }}a: {{ include \"h\" . }}\nb: {{ include \"h\" . | trunc 3 }}\nc: |-\n  {{ toYaml .spec.holes }}\nd: {{ fromYaml (include \"hm\" .) }}{{ define \"hm\" }}x: {{ .spec.holes }}{{ end }}\ne: {{ include \"h\" . | upper }}",
			fmt.Sprintf("{a: %[1]q, b: \"\\ue000\", c: %[2]q, d: {x: %[1]q}, e: %[1]q}", holes, asYAML)},
		{"private-use escapes", "a: {{ \"\\ue000\" }}\nb: \"\\uE010\"", "{a: \uE000, b: \uE010}"},
	}, lines())
}

// TestOneLineIncludes: an include of one entry or item stands below its key, as
// one of several does; a text stays where it is.
func TestOneLineIncludes(t *testing.T) {
	const defines = `{{ define "one" }}a: {{ .spec.image }}{{ end }}{{ define "item" }}- {{ .spec.image }}{{ end }}{{ define "values" }}{{ toYaml .spec.labels }}{{ end }}` +
		`{{ define "text" }}{{ .spec.image }}:1{{ end }}{{ define "scheme" }}http:{{ end }}{{ define "quoted" }}"a: b"{{ end }}{{ define "flow" }}{a: b}{{ end }}{{ define "key" }}k{{ end }}`
	var rows []row
	for text, want := range map[string]string{
		"l: {{ include \"one\" . }}":                                      `{l: {a: nginx}}`,
		"l: {{ include \"one\" . }} # why\nm: 1":                          `{l: {a: nginx}, m: 1}`,
		"l:   {{ include \"one\" . }}\n":                                  `{l: {a: nginx}}`,
		"x:\n- p: {{ include \"one\" . }}\n  m: 1":                        `{x: [{p: {a: nginx}, m: 1}]}`,
		"x:\n- {{ include \"one\" . }}\n  m: 1":                           `{x: [{a: nginx, m: 1}]}`,
		"'l.x/y': {{ include \"one\" . }}":                                `{l.x/y: {a: nginx}}`,
		"{{ include \"key\" . }}: {{ include \"one\" . }}":                `{k: {a: nginx}}`,
		"{{ $x := include \"one\" . }}l: {{ $x | default \"y\" }}":        `{l: {a: nginx}}`,
		"l: {{ include \"item\" . }}":                                     `{l: [nginx]}`,
		"l: {{ include \"values\" . }}":                                   `{l: {a: "1", b: "2"}}`,
		"l: {{ include \"text\" . }}":                                     `{l: "nginx:1"}`,
		"l: {{ include \"scheme\" . }}//{{ include \"key\" . }}":          `{l: http://k}`,
		"l: {{ include \"quoted\" . }}":                                   `{l: "a: b"}`,
		"l: {{ include \"flow\" . }}":                                     `{l: {a: b}}`,
		"l: \"x: {{ include \"one\" . }}\"":                               `{l: "x: a: nginx"}`,
		"l: |\n  x: {{ include \"one\" . }}\n":                            `{l: "x: a: nginx\n"}`,
		"l: >-\n  x\n  y: {{ include \"one\" . }}\n":                      `{l: "x y: a: nginx"}`,
		"# l: {{ include \"one\" . }}\nm: 1 # l: {{ include \"one\" . }}": `{m: 1}`,
	} {
		rows = append(rows, row{text, defines + text, want})
	}
	checkRows(t, rows, lines())
}

func TestHostilePlaces(t *testing.T) {
	checkRefusals(t, []row{
		{"anchor", "a: &{{ .spec.image }} 1", "x.yaml:1:1"},
		{"alias", "a: *{{ .spec.image }}", "x.yaml:1:1"},
		{"alias of the author", "a: 1\nb: *x", "x.yaml:"},
		{"tag", "a: !{{ .spec.image }} 1", "x.yaml:1:"},
		{"long tag", "a: !<{{ .spec.image }}> 1", "x.yaml:1:"},
		{"tag of a key", "!!str a: 1", "YAML tags are not allowed"},
		{"tag of a map", "a: !!map {b: 1}", "YAML tags are not allowed"},
		{"bare tag", "a: ! 1", "YAML tags are not allowed"},
		{"directive", "%YAML 1.2\n---\na: 1", "x.yaml:1:1: %YAML 1.2: YAML directives are not allowed"},
		{"directive of a value", "%{{ .spec.image }}\n---\na: 1", "YAML directives are not allowed"},
		{"merge", "<<: {{ .spec.labels }}", "YAML merge keys are not allowed"},
		{"map in a text", `a: "{{ .spec.labels }}"`, "the value is a map and cannot be part of a text"},
		{"list in a text", `a: x{{ .spec.args }}`, "the value is a list and cannot be part of a text"},
		{"map as a key", `{{ .spec.labels }}: 1`, "the value is a map and cannot be part of a text"},
		{"map in a block", "a: |\n  {{ .spec.labels }}", "the value is a map and cannot be part of a text"},
		{"a lone map as an argument", "{{ define \"m\" }}{{ .spec.labels }}{{ end }}a: {{ include \"m\" . | upper }}",
			"the value is a map and cannot be part of a text"},
		{"a key of nothing", "a: 1\n{{ .spec.empty }}: 1", "a key is an empty text"},
		{"twice after values", "nginx: 1\n{{ .spec.image }}: 2",
			"x.yaml:2:4: {{ .spec.image }}: a key made of a value stands twice in one map: here and at templates/k/x.yaml:1:1"},
		{"twice in two maps", "a:\n  {{- toYaml .spec.labels | nindent 2 }}\n  {{- toYaml .spec.labels | nindent 2 }}",
			"x.yaml:3:7: {{- toYaml .spec.labels | nindent 2 }}: a key of this map stands there already: it was written at templates/k/x.yaml:2:7"},
		{"reserved key", "{{ .spec.key }}: x", "a key of jacquard.dev comes out of a value"},
		{"reserved key in parts", "jacquard.dev/{{ .spec.image }}: x", "a key of jacquard.dev comes out of a value"},
		{"reserved deep in a value", "a: {{ .spec.deep }}", "a key of jacquard.dev comes out of a value"},
		{"reserved in labels", "spec:\n  template:\n    metadata: {{ .spec.sub }}", "a key of jacquard.dev comes out of a value"},
		{"reserved through toYaml", "a:\n  {{- toYaml .spec.sub.labels | nindent 2 }}", "a key of jacquard.dev comes out of a value"},
		{"reserved through toJson", "a: {{ toJson .spec.deep }}", "a key of jacquard.dev comes out of a value"},
		{"reserved in an item", "a:\n{{ toYaml .spec.deep.a }}", "a key of jacquard.dev comes out of a value"},
		{"reserved with a value", `jacquard.dev/x: "{{ .spec.image }}"`, "the value of jacquard.dev/x must be literal text"},
		{"reserved with nothing", "jacquard.dev/x:", "the value of jacquard.dev/x must be literal text"},
		{"escaped hole", `a: "\ue0000\ue003"`, "x.yaml:1:4: a: \"\\ue0000\\ue003\": an escape stands for a private-use character"},
		{"escaped hole of a key", `"\U0000E0000\ue003": 1`, "an escape stands for a private-use character"},
		{"line separator", "a: \u2028b", "x.yaml:1:4: the template holds the character U+2028"},
		{"carriage return", "a: 1\rb: 2", "the template holds the character U+000D"},
		{"control character", "a: \x01", "the template holds the control character U+0001"},
		{"NUL", "a: \x00", "the template holds the control character U+0000"},
		{"broken text", "a: \xff", "the template is not valid UTF-8"},
		{"end of a document", "a: 1\n...\nb: 2", "x.yaml:"},
		{"two documents in fromYaml", "{{ define \"two\" }}a: 1\n---\nb: 2{{ end }}a: {{ fromYaml (include \"two\" .) }}", "a second document"},
		{"infinity", "a: {{ divf 1.0 0 }}", "divf"},
		{"overflow", "a: {{ mul 9223372036854775807 2 }}", "beyond 64 bits"},
		{"text after dashes", "--- a: 1\nb: 2", "x.yaml:"},
	}, lines())
}

func TestErrorsHoldNoValues(t *testing.T) {
	for _, text := range []string{
		"a: {{ .spec.canary.x }}", "a: {{ .spec.canary | int }}", "a: {{ fromYaml .spec.canary }}", "a: {{ fromJson .spec.canary }}",
		"{{ .spec.canary }}: 1\n{{ .spec.canary }}: 2", "selector:\n  {{ .spec.canary }}: {{ .n }}", "{{ .spec.canary }}Selector: {{ .n }}",
		"a: x{{ .spec.secret }}", "c4n: 1\n{{ .spec.secret }}: 1", "a: {{ index .spec.args .spec.canary }}",
		"a: {{ regexMatch .spec.canary \"x\" }}",
		"a: {{ include .spec.canary . }}", "a: {{ printf .spec.canary 1 }}", "a: {{ semver .spec.canary }}", "a: {{ atoi .spec.canary }}",
		"a:\n  {{- toYaml .spec.secret | nindent 2 }}\n  {{- toYaml .spec.secret | nindent 2 }}", "{{ range .spec.canary }}{{ end }}",
		"a: {{ b64dec .spec.canary }}", "a: {{ add 1 .spec.canary }}", "a: {{ .spec.canary | toDecimal }}", "a: {{ lt .spec.canary 1 }}",
		"a: {{ repeat 99999999 .spec.canary }}", "a: {{ urlParse .spec.canary }}", "jacquard.dev/{{ .spec.canary }}: 1", "- {{ .spec.canary }}",
		"a: {{ .spec.image | trunc .spec.canary }}", "a: {{ get .spec.canary \"x\" }}", "a: {{ dict .spec.secret 1 }}",
		"a: {{ slice .spec.args .spec.canary }}",
	} {
		_, err := run(t, text, lines())
		if err != nil && strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLiterals compares plain scalars with what kubectl makes of them.
func TestLiterals(t *testing.T) {
	for _, text := range strings.Fields(`1 +1 -1 0 -0 007 08 09 0o17 0o8 0x1F 0X1F 0b101 0B1 +0x10 -0x10 -0b11 1_000 1__0 _1 1_ 0_7 0x_1 1_000.5 1. .5 -.5 +.5
		1.5 1e3 1E3 1e+3 1e-3 1e 1.e3 .5e1 12e03 1e-400 9223372036854775807 -9223372036854775808 0x7FFFFFFFFFFFFFFF inf nan NaN Infinity
		true True TRUE tRUE false False FALSE nULL 1:30 12:30:45 1.2.3 v1 1s 1Gi 100m 0x 0b 0b2 0xg 0x1p-2 1_0e3 1e1_0 + . .. ...x = 0.1 1e21
		123456789012345678 0.30000000000000004 1e15 1.0 1_.5 0o_7 -0o7 +0b1 0x-1 1e5.5 1e+ 0e0 00 0. 00.5 0777 0888.5 1_000_000.25 +.5e1 --1 1-1`) {
		t.Run(text, func(t *testing.T) {
			got, err := run(t, "a: "+text, nil)
			if err != nil {
				t.Fatal(err)
			}
			asJSON, err := yaml.YAMLToJSON([]byte("a: " + text))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{}
			if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got[0]); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, text := range []string{"2024-01-01", "2024-01-01T00:00:00Z", "2001-12-14 21:59:43", "<<"} {
		got, err := run(t, "a: "+text, nil)
		if diff := cmp.Diff([]map[string]any{{"a": text}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	for _, word := range strings.Fields("yes Yes YES no No NO on On ON off Off OFF y Y n N 1e400 -1e400 .inf -.inf .NaN 9223372036854775808 -9223372036854775809 18446744073709551616") {
		for _, text := range []string{"a: " + word, "a: [" + word + "]"} {
			if got, err := run(t, text, nil); err == nil {
				t.Errorf("%s: no error, got %v", text, got)
			}
		}
		if got, err := run(t, fmt.Sprintf("a: %q", word), nil); err != nil || got[0]["a"] != word {
			t.Errorf("%q: %v %v", word, got, err)
		}
	}
}
