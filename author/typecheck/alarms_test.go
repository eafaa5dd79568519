package typecheck

import "testing"

// TestNoFalseAlarm: what may look absent is there.
func TestNoFalseAlarm(t *testing.T) {
	finds(t, map[string][]string{
		// A variable that a loop sets, once it was asked for.
		`{{ $x := "" }}{{ range .spec.env }}{{ if eq .name "x" }}{{ $x = .value }}{{ end }}{{ end }}a: {{ if $x }}x-{{ $x }}{{ end }}`: nil,
		`{{ $x := "" }}{{ range .spec.env }}{{ $x = .value }}{{ end }}a: x-{{ $x }}`:                                                   {"nil 1:"},
		`{{ $x := nil }}{{ range .spec.env }}{{ $x = .value }}{{ end }}a: {{ with $x }}x-{{ . }}{{ else }}none{{ end }}`:               nil,
		`{{ $x := nil }}{{ range .spec.env }}{{ $x = .value }}{{ end }}{{ if not $x }}{{ fail "no" }}{{ end }}a: x-{{ $x }}`:           nil,
		`{{ $x := nil }}{{ range .spec.env }}{{ if not $x }}{{ $x = .value }}{{ end }}{{ end }}a: {{ $x }}`:                            nil,
		// What compact leaves.
		"a:\n{{- range compact (list .spec.title .spec.text) }}\n- {{ . | quote }}\n{{- end }}": nil,
		`a: {{ compact (list .spec.title) | join "," }}`:                                        nil,
		// The keys of a map, sorted.
		"{{ range $k := keys .spec.labels | sortAlpha }}{{ $k }}: x-{{ get $.spec.labels $k }}\n{{ end }}":                                   nil,
		"{{ range keys .spec.labels | sortAlpha }}{{ . }}: x-{{ index $.spec.labels . }}\n{{ end }}":                                         nil,
		"{{ range $k := keys (.spec.labels | default dict) | sortAlpha | uniq }}{{ $k }}: x-{{ index $.spec.labels $k | upper }}\n{{ end }}": nil,
		"{{ $m := .spec.labels | default dict }}{{ range $k := $m | keys | sortAlpha }}{{ $k }}: x-{{ index $m $k }}\n{{ end }}":             nil,
		"{{ range $k, $v := .spec.labels }}{{ $k }}: x-{{ index $.spec.labels $k }}{{ $v }}\n{{ end }}":                                      nil,
		"{{ range $i, $v := .spec.env }}{{ $v.name }}: x-{{ (index $.spec.env $i).name }}\n{{ end }}":                                        nil,
		"{{ range $k := keys .spec.labels }}{{ $k }}: x-{{ index $.spec.more $k | quote }}\n{{ end }}":                                       nil,
		"{{ range $k := keys .spec.more }}{{ $k }}: x-{{ index $.spec.labels $k }}\n{{ end }}":                                               {"nil 1:"},
		// One of the words that a field can be.
		`{{ $m := dict "fast" "a" "slow" "b" }}a: x-{{ index $m (.spec.mode | default "fast") }}`: nil,
		`{{ $m := dict "fast" "a" "slow" "b" }}a: x-{{ get $m (.spec.mode | default "fast") }}`:   nil,
		`{{ $m := dict "fast" "a" }}a: x-{{ get $m (.spec.mode | default "fast") }}`:              {"nil 1:"},
		`{{ $m := dict "fast" 1 "slow" 2 }}a: {{ add 1 (get $m (.spec.mode | default "fast")) }}`: nil,
		// What typeIs asks of a list is decided by its type.
		"a:\n  x: b\n  c:\n  - d\n{{ include \"p\" (dict \"v\" .spec.tags) | indent 2 }}{{ define \"p\" }}{{ if typeIs \"string\" .v }}{{ .v }}{{ else }}{{ toYaml .v }}{{ end }}{{ end }}": nil,
		`a: {{ if typeIs "string" .spec.target }}{{ upper .spec.target }}{{ end }}`:                                                                                                         nil,
		`a: {{ if typeIs "string" .spec.size }}1{{ end }}`:                                                                                                                                  {"unreachable 1:10 this branch"},
		// As many turns as there are items.
		"{{ range $i := until (len .spec.env) }}a{{ $i }}: x-{{ (index $.spec.env $i).name }}\n{{ end }}":                       nil,
		"{{ range $i := until (int (len .spec.env)) }}a{{ $i }}: x-{{ (index $.spec.env $i).name }}\n{{ end }}":                 nil,
		"{{ range $i := len .spec.env }}a{{ $i }}: x-{{ (index $.spec.env $i).name }}\n{{ end }}":                               nil,
		"{{ range $i := until (len .spec.env) }}a{{ $i }}: x-{{ index $.spec.tags $i }}\n{{ end }}":                             {"nil 1:"},
		"{{ range $i := until (len .spec.env | add 1 | int) }}a{{ $i }}: x-{{ (index $.spec.env $i).name }}\n{{ end }}":         {"nil 1:"},
		"{{ $m := unset .spec.labels \"x\" }}{{ range $k, $v := .spec.labels }}{{ $k }}: {{ $v }}-{{ index $m $k }}\n{{ end }}": {"nil 1:"},
		// What fail stands in for has no value to use.
		`{{ if .spec.debug }}{{ $ca := fail "no" }}a: {{ .spec.text }}{{ end }}`: {"unreachable 1:43"},
		// What a refused argument leads to is not told again.
		`a: {{ ternary "on" "off" (and .spec.db .spec.live) | quote }}`: {"argument-type 1:27 ternary needs a boolean"},
	})
}
