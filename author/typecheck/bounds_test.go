package typecheck

import (
	"fmt"
	"strings"
	"testing"
)

// TestBounds: what grows with every branch, loop or call ends.
func TestBounds(t *testing.T) {
	loops := strings.Repeat("{{ range $i, $e := .spec.tags }}", 20) + "x" + strings.Repeat("{{ end }}", 20)
	var defines, branches strings.Builder
	for i := range 40 {
		fmt.Fprintf(&defines, "{{ define \"d%d\" }}{{ template \"d%d\" . }}{{ template \"d%d\" . }}{{ end }}", i, i+1, i+1)
	}
	for i := range 300 {
		fmt.Fprintf(&branches, "{{ if .spec.more.f%d }}\nk%d: 1\n{{ else }}\nj%d: 1\n{{ end }}\n", i, i, i)
	}
	for name, text := range map[string]string{
		"loops":   loops,
		"defines": "{{ template \"d0\" . }}" + defines.String() + "{{ define \"d40\" }}{{ end }}",
		"itself":  "{{ template \"a\" . }}{{ define \"a\" }}{{ template \"a\" . }}{{ template \"a\" . }}{{ end }}",
		"grows":   "{{ $m := dict }}{{ range .spec.tags }}{{ $m = dict \"a\" $m }}{{ end }}a: {{ $m }}",
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, text)
			if cut := name == "loops" || name == "defines"; f.Cut["x"] != cut {
				t.Errorf("cut: %v", f.Cut)
			}
		})
	}
	if f := follow(t, branches.String()); len(f.Paths["x"]) > 110 || len(f.Cut) > 0 || len(f.Findings) > 0 {
		t.Errorf("%d ways through 300 branches, cut %v; %v", len(f.Paths["x"]), f.Cut, f.Findings)
	}
}
