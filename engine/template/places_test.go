package template

import "testing"

// TestMisfits: what the YAML parser cannot place is placed.
func TestMisfits(t *testing.T) {
	checkRefusals(t, []row{
		{"less than the block", "a:\n    b: 1\n  c: 2\nd: 3", "x.yaml:3:3: c: 2: check the indentation"},
		{"more than the block", "a:\n  b: 1\n    c: 2\nd: 3", "x.yaml:3:5: c: 2: check the indentation"},
		{"in a list", "a:\n- b: 1\n c: 2\nd: 3", "x.yaml:3:2: c: 2: check the indentation"},
		{"after an item", "a:\n- b: 1\n   c: 2\nd: 3", "x.yaml:3:4: c: 2: check the indentation"},
		{"far below", "a:\n  b:\n    c: 1\n  d: 2\n  e:\n    f: 3\n   g: 4\nh: 5", "x.yaml:7:4: g: 4: check the indentation"},
		{"below a block", "a: |\n  x:\n      y\n    z\nb:\n    c: 1\n  d: 2", "x.yaml:7:3: d: 2: check the indentation"},
		{"a tab", "a:\n  b: 1\n\tc: 2", "x.yaml:3:1: c: 2: YAML is indented with blanks, never tabs"},
		{"an open bracket", "a:\n  b: 1\n  c: [x, y\nd: {{ .spec.image }}", "x.yaml:3:6: c: [x, y: close the ["},
		{"an open brace", "a: {b: 1, c: 2\nd: 3", "x.yaml:1:4: a: {b: 1, c: 2: close the {"},
		{"a brace in a bracket", "a: [{b: 1, c: 2]\nd: 3", "x.yaml:1:5: a: [{b: 1, c: 2]: close the {"},
		{"an open quote", "a: 1\nb: \"x\nc: 2\n", "x.yaml:2:4: b: \"x: close the \""},
		{"an open quote before another", "a: 1\nb: \"x\nc: \"y\"\nd: 1", "x.yaml:2:4: b: \"x: close the \""},
		{"an open single quote", "a: 'x\nb: {{ .spec.image }}\n", "x.yaml:1:4: a: 'x: close the '"},
		{"after values", "a: {{ .spec.image }}\nb:\n    c: {{ .spec.image }}\n  d: {{ .spec.image }}",
			"x.yaml:4:3: d: {{ .spec.image }}: check the indentation"},
		{"an include in braces", `metadata: {name: x, labels: {{ include "labels" . }}}`, `x.yaml:1:32: {{ include "labels" . }}: an include of several lines cannot stand within { } or [ ]: write the map around it in block style`},
		{"an include in braces beside more", "a: 1\nb: {c: {{ include \"labels\" . }}, d: 1}", "x.yaml:2:11: "},
	}, resource())
}

// TestMisfitsAreNone: what only looks like one renders.
func TestMisfitsAreNone(t *testing.T) {
	checkRows(t, []row{
		{"braces in a block", "a: |\n  x: { y: {{ include \"labels\" . }}\n", `{a: "x: { y: \n  app: web\n  tier: web\n"}`},
		{"one line in braces", `a: {b: {{ include "name" . }}, c: 1}`, `{a: {b: web-x, c: 1}}`},
		{"an include that brings its braces", "{{ define \"f\" }}{b: 1,\n c: 2}{{ end }}a: {d: {{ include \"f\" . }}}", `{a: {d: {b: 1, c: 2}}}`},
		{"a pipe in a text", "{{/* | */}}a: {{ print \"|\" '|' `|)` | print \"\\\"|\" }}|)\nb: {{ .spec.image |\n  quote -}}\n",
			`{a: '"||124|)|)', b: nginx}`},
		{"values in several lines", "a: b\n  c\nd: [e,\n  f]\ng: \"h\n  i\"", `{a: b c, d: [e, f], g: h i}`},
	}, resource())
}

func TestSyntaxIsPlaced(t *testing.T) {
	checkRefusals(t, []row{
		{"an open if", "a: 1\n{{ if .spec.on }}\nb: 2\n", "x.yaml:2:4: {{ if .spec.on }}: this if is not closed: add {{ end }}"},
		{"an open if in a range", "a:\n{{- range .spec.args }}\n  {{- if . }}\n- {{ . }}\n{{- end }}\nb: 1\n",
			"x.yaml:3:7: {{- if . }}: this if is not closed"},
		{"an open range after a sound if", "{{ range .spec.args }}\n{{ if . }}{{ end }}\n",
			"x.yaml:1:4: {{ range .spec.args }}: this range is not closed"},
		{"an open define", "{{ define \"q\" }}\na: 1\n", "x.yaml:1:4: {{ define \"q\" }}: this define is not closed"},
		{"a pipe to nothing", "a: {{ .spec.text | }}\n", "x.yaml:1:18: {{ .spec.text | }}: this | has nothing behind it"},
		{"a pipe to nothing in parentheses", "a: {{- print \"|)\" (.spec.text | ) -}}\n", "x.yaml:1:31: {{- print"},
		{"a pipe to nothing, trimmed, in an if", "{{- if .spec.text | -}}\na: 1\n{{ end }}\n",
			"x.yaml:1:19: {{- if .spec.text | -}}: this | has"},
		{"a pipe to nothing in a define", "{{ define \"q\" }}{{ . | }}{{ end }}\na: 1\n", "x.yaml:1:22: {{ . | }}: this | has"},
		{"an end in a comment", "{{ if .spec.on }}\n{{/* {{ end }} */}}\na: {{ \"{{ end }}\" }}\n",
			"x.yaml:1:4: {{ if .spec.on }}: this if is not closed"},
		{"one end too many", "a: 1\n{{ end }}\n", "x.yaml:2:4: {{ end }}: there is one {{ end }} too many"},
		{"elseif", "{{ if .spec.on }}a: 1{{ elseif .spec.image }}a: 2{{ end }}", "there is no function elseif: write {{ else if … }}"},
		{"an operator", "{{ if .spec.image == \"x\" }}a: 1{{ end }}", "instead of == write eq a b"},
		{"two operators", "{{ if .spec.on && .spec.image }}a: 1{{ end }}", "instead of && write and a b"},
		{"a misspelt partial", `a: {{ include "lables" . }}`, `there is no template "lables"; did you mean labels?`},
		{"a misspelt template", `{{ template "lables" . }}`, `there is no template "lables"; did you mean labels?`},
		{"a file with .yaml", `a: {{ (child "x.yaml").status.a }}`, `child takes the name of the file without .yaml: child "x"`},
		{"Files", `a: {{ .Files.Get "x" }}`, "x.yaml:1:7: {{ .Files.Get \"x\" }}: there is no .Files: put the file into the folder"},
		{"Capabilities", `{{ if .Capabilities.APIVersions.Has "v1" }}a: 1{{ end }}`,
			`there is no .Capabilities: ask hasAPI "group/version" "Kind"`},
		{"a checksum of a file", `a: {{ include (print $.Template.BasePath "/c.yaml") . | sha256sum }}`, "{{ rendered \"file\" | sha256sum }}"},
	}, resource())
}

// TestOneFileHidesNoOther: a file that does not parse hides nothing of another,
// nor are its defines missed.
func TestOneFileHidesNoOther(t *testing.T) {
	set, err := Compile(Input{Sources: []Source{
		{Name: "a", File: "a.yaml", Text: "a: {{ quot 1 }}\nb: {{ include \"p\" . }}\nc: {{ (child \"b\").status }}"},
		{Name: "b", File: "b.yaml", Text: "a: {{ if .x }}"},
		{Name: "_p.tpl", File: "_p.tpl", Text: "{{ define \"p\" }}\n{{ . }"},
	}})
	want := "b.yaml:1:7: {{ if .x }}: this if is not closed: add {{ end }}\n" +
		"_p.tpl:2:6: {{ . }: an action ends with two braces: write {{ … }}\n" +
		"a.yaml:1:7: {{ quot 1 }}: there is no function quot; did you mean quote?"
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if set.Tree("a") == nil || set.Tree("b") != nil {
		t.Error("the trees are not those of the files that parse")
	}
}
