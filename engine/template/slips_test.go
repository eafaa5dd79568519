package template

import "testing"

// TestSlips: common slips are placed, and named in words of a template's author.
func TestSlips(t *testing.T) {
	checkRefusals(t, []row{
		{"a dash in a field", "a: {{ .spec.max-size }}", `x.yaml:1:7: a: {{ .spec.max-size }}: the field has a dash in its name: write (index .spec "max-size")`},
		{"a dash in a field of the dot", "a: {{ with .spec }}{{ .max-size }}{{ end }}", `write (index . "max-size")`},
		{"a dash in a field of a variable", "a: {{ $.spec.max-size.x }}", `write (index $.spec "max-size")`},
		{"a slash in a field", "a: {{ .metadata.labels.example.com/name }}", "x.yaml:1:35: "},
		{"a blank before a comment", "{{/* [x] */}}\na: {{ /* x */ }}", "x.yaml:2:7: a: {{ /* x */ }}: write a comment as {{/* … */}}, without blanks"},
		{"a blank behind a comment", "a: 1 {{- /* x */ }}", "write a comment as {{/* … */}}"},
		{"a call", `a: {{ default("x") }}`, "x.yaml:1:7: a: {{ default(\"x\") }}: arguments stand behind a function without parentheses: instead of default(a, b) write default a b"},
		{"a call without arguments", `a: {{/* f(x) */}}{{ print "f(x)" (.spec.image | upper()) }}`, "x.yaml:1:49: "},
		{"an index", `a: {{ index .spec.args 0 }}{{ .spec.args[0] }}`, "x.yaml:1:31: a: {{ index .spec.args 0 }}{{ .spec.args[0] }}: there are no [ ]: write (index .spec.args …)"},
		{"single quotes", "a: {{ quote 'nginx' }}", "x.yaml:1:13: a: {{ quote 'nginx' }}: a text stands in double quotes"},
		{"typographic quotes", "a: {{ “x” }}", "x.yaml:1:7: a: {{ “x” }}: a text stands in double quotes"},
		{"a comma", "a: {{ print .spec.image, 1 }}", "x.yaml:1:24: a: {{ print .spec.image, 1 }}: arguments are separated by blanks"},
		{"a variable without $", "a: {{ x := 1 }}", "a variable begins with $: write $x := …"},
		{"a loop of another language", "a: {{ range $i in .spec.args }}{{ end }}", "write range $i := …"},
		{"a colon", `a: {{ .spec.image | default: "x" }}`, "leave the colon behind default out"},
		{"an operator without blanks", "a: {{ .spec.replicas-1 }}", "write sub .spec.replicas 1"},
		{"another", "a: {{ .spec.replicas+1 }}", "write add .spec.replicas 1"},
		{"no blank behind a dash", "a: {{-.spec.image }}", "put a blank behind the dash"},
		{"no blank before a dash", "a: {{ .spec.image-}}", "put a blank before the dash"},
		{"three braces", "a: {{{ .spec.image }}}", "an action stands in two braces"},
		{"one brace", "a: {{ .spec.image }", "an action ends with two braces"},
		{"an open parenthesis", "a: {{ (.spec.image }}", "this ( is not closed"},
		{"a closed parenthesis", "a: {{ .spec.image) }}", "there is no ( for this )"},
		{"nothing", "a: {{ }}", "this action has no value"},
	}, resource())
}

// TestSlipsAreNone: what only looks like one renders.
func TestSlipsAreNone(t *testing.T) {
	checkRows(t, []row{
		{"numbers and characters", "a: {{-1}}\nb: {{ '[' }}\nc: {{ print \"f(x)[0], a-b 'c'\" }}", `{a: -1, b: 91, c: "f(x)[0], a-b 'c'"}`},
		{"comments", "{{/* f(x) .a-b 'c' [0] */}}\n{{- /* f(x) */ -}}\na: 1", `{a: 1}`},
	}, resource())
}
