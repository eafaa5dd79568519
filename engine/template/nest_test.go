package template

import (
	"runtime"
	"strings"
	"testing"
)

// TestNesting: what is nested without bound is refused before anything recurses
// into it: Go ends the whole process when a stack is exhausted.
func TestNesting(t *testing.T) {
	for name, text := range map[string]string{
		"if":            strings.Repeat("{{ if .a }}", 100_000) + strings.Repeat("{{ end }}", 100_000),
		"not closed":    strings.Repeat("{{- with .a}}", 100_000),
		"else if":       "{{ if .a }}" + strings.Repeat("{{ else if .a }}", 100_000) + "{{ end }}",
		"else":          strings.Repeat("{{ if .a }}{{ else }}", 100_000) + strings.Repeat("{{ end }}", 100_000),
		"parentheses":   "{{ " + strings.Repeat("(", 9_000) + "1" + strings.Repeat(")", 9_000) + " }}",
		"hidden ends":   strings.Repeat("{{ range .a }}{{/* {{ end }} */}}{{ `{{ end }}` }}{{ \"\\\"{{ end }}\" }}", 20_000),
		"blocks":        strings.Repeat("{{ block \"a\" . }}", 100_000),
		"if in a quote": strings.Repeat("{{ if eq \"}}\" .a }}", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Compile(Input{Sources: []Source{{Name: "a", File: "a.yaml", Text: text}}})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "nested more than") {
				t.Errorf("it is not refused: %.300v", err)
			}
			if stack := after.StackSys >> 20; stack > 32 {
				t.Errorf("%d MiB of stack were needed", stack)
			}
		})
	}
}

// TestNestedEnough: what people write is far from the bound.
func TestNestedEnough(t *testing.T) {
	text := strings.Repeat("{{ if .a }}{{ end }}", 5000) + strings.Repeat("{{ if .a }}", 90) + "{{ print ((((1)))) `(((` \"(((\" '(' }}" +
		strings.Repeat("{{ end }}", 90) +
		"{{ if .a }}" + strings.Repeat("{{ else if .b }}", 90) +
		"{{ end }}{{/* {{ if }} */}}{{- /* ((( */ -}}{{ with .c }}{{ else with .d }}{{ end }}"
	if _, err := Compile(Input{Sources: []Source{{Name: "a", File: "a.yaml", Text: text}}}); err != nil {
		t.Error(err)
	}
}
