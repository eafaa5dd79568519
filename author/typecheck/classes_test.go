package typecheck

import "testing"

func TestWrongType(t *testing.T) {
	finds(t, map[string][]string{
		`a: {{ add .spec.text 1 }}`:       {"argument-type 1:11 add needs"},
		`a: {{ eq .spec.size "3" }}`:      {"argument-type 1:7 eq cannot compare spec.size, an integer, with \"3\", a string"},
		`a: {{ lt .spec.text 3 }}`:        {"argument-type 1:7 lt cannot compare spec.text"},
		`a: {{ upper .spec.size }}`:       {"argument-type 1:13 upper needs a string here, and spec.size is an integer"},
		`a: {{ .spec.size | upper }}`:     {"argument-type 1:7 upper needs"},
		`a: {{ index .spec.size 0 }}`:     {"argument-type 1:"},
		`a: x-{{ .spec.db }}`:             {"argument-type 1:9 spec.db is a map and cannot be part of a text"},
		`a: {{ printf "%d" .spec.text }}`: {"argument-type 1:19 printf needs an integer here, and spec.text is a string"},
		`a: {{ join "," .spec.size }}`:    {"argument-type 1:16 join needs"},
		`a: {{ hasKey .spec.tags "x" }}`:  {"argument-type 1:14 hasKey needs a map here, and spec.tags is a list"},
		`a: {{ if kindIs "string" .spec.target }}{{ upper .spec.target }}{{ else }}{{ add .spec.target 1 }}{{ end }}`: {"nil 1:82 spec.target may be absent, and add needs a value"},
		`a: {{ if eq .spec.mode "fast" }}1{{ else }}{{ add .spec.mode 1 }}{{ end }}`:                                  {"argument-type 1:51 add needs"},
		`a: {{ $x := 1 }}{{ if .spec.live }}{{ $x = "a" }}{{ end }}{{ upper $x }}`:                                    {"argument-type 1:68 upper needs a string here, and 1 is an integer"},
		`a: {{ range .spec.tags }}{{ add . 1 }}{{ end }}`:                                                             {"argument-type 1:33 add needs"},
		`a: {{ range $i, $e := .spec.tags }}{{ add $i 1 }}{{ $e }}{{ end }}`:                                          nil,
		`a: {{ .spec.size.x }}`:   {"unknown-field 1:7 spec.size, an integer, has no field x"},
		`a: {{ (printf "x").y }}`: {"argument-type 1:"},
		`a: {{ gt .spec.size 3 }}{{ add .spec.count 1 | printf "%d" }}`: nil,
		`a: {{ int "x" }}`: {"argument-type 1:7 int:"},
	})
}

func TestNotAList(t *testing.T) {
	finds(t, map[string][]string{
		`{{ range .spec.text }}a: 1{{ end }}`:                                         {"not-a-list 1:10 range needs a list, a map or a whole number, and spec.text is a string"},
		`{{ range $i, $e := .spec.live }}{{ $e }}: 1{{ end }}`:                        {"not-a-list 1:10 range"},
		`{{ range splitList "," .spec.text }}{{ . }}: 1{{ end }}`:                     nil,
		`{{ range split "," .spec.text }}{{ . }}: 1{{ end }}`:                         nil,
		`{{ range .spec.db }}{{ . }}: 1{{ end }}`:                                     nil,
		"{{ range .spec.size }}{{ . }}: 1\n{{ end }}":                                 nil,
		`{{ range (include "p" .) }}a: 1{{ end }}{{ define "p" }}x{{ end }}`:          {"not-a-list 1:10 range"},
		`{{ range (child "deployment").status.conditions }}{{ .type }}: 1{{ end }}`:   nil,
		`{{ range (child "deployment").status.replicas | printf "%v" }}a: 1{{ end }}`: {"not-a-list 1:10 range", "nil 1:30"},
	})
}

func TestNil(t *testing.T) {
	finds(t, map[string][]string{
		`a: x-{{ .spec.title }}`:                                                             {"nil 1:9 spec.title may be absent, and nil cannot be part of a text"},
		`{{ .spec.title }}: 1`:                                                               {"nil 1:4 spec.title may be absent"},
		`a: ["{{ .spec.db.host }}"]`:                                                         {"nil 1:9 spec.db.host may be absent"},
		"a:\n- {{ .spec.title }}":                                                            {"nil 2:6 spec.title may be absent, and an item of a list cannot be nil"},
		"a:\n- x: {{ .spec.title }}":                                                         {"nil 2:3 every field of this item may be absent"},
		"a:\n- x: {{ .spec.title }}\n  z: 1":                                                 nil,
		"a:\n- {{ if .spec.live }}x{{ end }}":                                                {"nil 2:2 an item of a list is nil on one path"},
		`a: {{ printf "%s" .spec.title }}`:                                                   {"nil 1:19 spec.title may be absent, and printf needs a value"},
		`a: {{ join "-" (list .spec.title "x") }}`:                                           {"nil 1:17 an item of"},
		"selector: {a: {{ .spec.title }}}":                                                   {"nil 1:18 spec.title may be absent, and without it selector would select or allow more"},
		"nodeSelector: {a: {{ .spec.title }}}":                                               nil,
		"kind: NetworkPolicy\nspec:\n  ports: {{ .spec.tags }}":                              {"nil 3:13 spec.tags may be absent"},
		`a: {{ .spec.title }}{{ .spec.text }}`:                                               {"nil 1:7 spec.title"},
		`a: {{ .spec.title }}`:                                                               nil,
		`a: x-{{ .spec.text }}-{{ .spec.count }}-{{ .metadata.name }}`:                       nil,
		`a: x-{{ .spec.title | default "x" }}`:                                               nil,
		`a: x-{{ ifNil "x" .spec.title }}`:                                                   nil,
		`a: x-{{ required "no" .spec.title }}-{{ .spec.title }}`:                             nil,
		`a: {{ if .spec.title }}x-{{ .spec.title }}{{ end }}`:                                nil,
		`a: {{ with .spec.title }}x-{{ . }}{{ end }}`:                                        nil,
		`a: {{ if and .spec.db .spec.title }}{{ .spec.db.host }}-{{ .spec.title }}{{ end }}`: nil,
		`{{ if not .spec.title }}{{ fail "no" }}{{ end }}a: x-{{ .spec.title }}`:             nil,
		`{{ if not .spec.db }}{{ wait "no" }}{{ end }}a: x-{{ .spec.db.host }}`:              nil,
		`{{ if or (not .spec.title) (not .spec.db) }}{{ else }}a: {{ .spec.db.host }}-{{ .spec.title }}{{ end }}`: nil,
		`{{ if ne .spec.title nil }}a: x{{ .spec.title }}{{ end }}`:                                               nil,
		`{{ if eq .spec.title "a" }}a: x{{ .spec.title }}{{ end }}`:                                               nil,
		`{{ if hasKey .spec "title" }}a: x{{ .spec.title }}{{ end }}`:                                             nil,
		`{{ if empty .spec.title }}a: x{{ .spec.title }}{{ end }}`:                                                {"nil 1:34 spec.title may be absent"},
		`{{ if .spec.db.port }}a: x{{ .spec.db.host }}{{ end }}`:                                                  {"falsy 1:"},
		`{{ range .spec.env }}{{ .name }}: x{{ .value }}{{ end }}`:                                                {"nil 1:39 spec.env[].value may be absent"},
		`{{ range .spec.env }}{{ if .value }}{{ .name }}: x{{ .value }}{{ end }}{{ end }}`:                        nil,
		`{{ range $k, $v := .spec.labels }}{{ $k }}: x{{ $v }}{{ end }}`:                                          nil,
		`a: {{ .metadata.namespace }}-{{ .metadata.uid }}-{{ .metadata.generation }}`:                             nil,
		`a: {{ (await "deployment").metadata.namespace }}-x`:                                                      nil,
		`a: x-{{ .spec.labels.app }}`:                                                                             {"nil 1:9 spec.labels.*"},
		`a: x-{{ (child "deployment").metadata.name }}`:                                                           {"nil 1:"},
		`a: x-{{ (await "deployment").metadata.name }}`:                                                           nil,
		`{{ with child "deployment" }}a: x-{{ .metadata.name }}{{ end }}`:                                         nil,
		`a: x{{ (lookup "v1" "ConfigMap" "" "x").data.y }}`:                                                       {"nil 1:"},
		`a: x{{ config "image" }}-{{ config "limit" }}`:                                                           nil,
		`a: {{ include "p" . }}{{ define "p" }}x-{{ .spec.title }}{{ end }}`:                                      {"nil 1:44 spec.title may be absent"},
		`a: {{ include "p" . }}{{ define "p" }}{{ .spec.title }}{{ end }}`:                                        nil,
		`a: {{ include "p" . | upper }}{{ define "p" }}x-{{ .spec.title }}{{ end }}`:                              {"nil 1:52 spec.title may be absent"},
		`{{ $x := .spec.title }}{{ if $x }}a: x-{{ $x }}-{{ .spec.title }}{{ end }}`:                              nil,
		`a: x-{{ first .spec.tags }}`:                                                                             {"nil 1:"},
		`{{ if .spec.tags }}a: {{ .spec.tags | join "," }}{{ end }}`:                                              nil,
		`a: {{ lower .spec.title }}`:                                                                              {"nil 1:13 spec.title may be absent, and lower needs a value"},
		`a: {{ .spec.title | quote }}`:                                                                            nil,
		`a: x {{ .spec.title | quote }}`:                                                                          {"nil 1:"},
		`a: x {{ .spec.db | toJson }}`:                                                                            nil,
		`a: {{ and .spec.title (upper .spec.title) }}`:                                                            nil,
		`a: {{ or .spec.title (fail "no") | upper }}`:                                                             nil,
		`a: x{{ coalesce .spec.title .spec.text }}`:                                                               nil,
		`a: x{{ ternary .spec.title "b" .spec.live }}`:                                                            {"nil 1:8"},
	})
}

func TestFalsy(t *testing.T) {
	finds(t, map[string][]string{
		`a: {{ .spec.port | default 80 }}`:                       {"falsy 1:20 spec.port may be 0, which default replaces: use ifNil"},
		`a: {{ .spec.debug | default true }}`:                    {"falsy 1:21 spec.debug may be false"},
		`a: {{ default 1.5 .spec.ratio }}`:                       {"falsy 1:7 spec.ratio may be 0"},
		`a: {{ .spec.port | default 0 }}`:                        nil,
		`a: {{ .spec.high | default 80 }}`:                       nil,
		`a: {{ .spec.port | ifNil 80 }}`:                         nil,
		`{{ if .spec.port }}a: {{ .spec.port }}{{ end }}`:        {"falsy 1:7 spec.port may be 0"},
		`{{ with .spec.port }}a: {{ . }}{{ end }}`:               {"falsy 1:9 spec.port may be 0"},
		`{{ with .spec.live }}a: {{ . }}{{ end }}`:               {"falsy 1:9 spec.live may be false"},
		`{{ if .spec.size }}a: 1{{ end }}`:                       nil,
		`{{ if .spec.debug }}a: 1{{ end }}`:                      nil,
		`{{ if .spec.high }}a: 1{{ end }}`:                       nil,
		`{{ if ne .spec.port nil }}a: {{ .spec.port }}{{ end }}`: nil,
	})
}

func TestUnused(t *testing.T) {
	finds(t, map[string][]string{
		`{{ $x := .spec.text }}a: 1`:                                        {"unused-variable 1:4 nothing uses the variable $x: take it out"},
		`{{ $x := 1 }}{{ if .spec.live }}{{ $x := 2 }}{{ end }}a: {{ $x }}`: {"unused-variable 1:36 nothing uses this $x, a new variable beside the one of outside: write $x = …"},
		`{{ with $x := .spec.title }}a: 1{{ end }}`:                         {"unused-variable 1:9"},
		`{{ $x := 1 }}{{ $x = 2 }}a: 1`:                                     {"unused-variable 1:4"},
		"{{ range $i, $e := .spec.tags }}\n{{ $e }}: 1{{ end }}":            nil,
		`{{ $x := 1 }}{{ if .spec.live }}{{ $x = 2 }}{{ end }}a: {{ $x }}`:  nil,
		`{{ $_ := .spec.text }}a: 1`:                                        nil,
		`{{ define "p" }}{{ $y := . }}x{{ end }}a: {{ include "p" . }}`:     {"unused-variable 1:20"},
	})
}

func TestUnreachable(t *testing.T) {
	finds(t, map[string][]string{
		`a: {{ if eq .spec.mode "fat" }}1{{ else }}2{{ end }}`:                                               {"unreachable 1:10 this branch is never taken: eq .spec.mode \"fat\" never holds"},
		`a: {{ if true }}1{{ else }}2{{ end }}`:                                                              {"unreachable 1:10 the else of this is never taken"},
		`a: {{ if .spec.text }}1{{ else }}2{{ end }}`:                                                        {"unreachable 1:10 the else"},
		`a: {{ if .spec.live }}{{ if not .spec.live }}1{{ end }}{{ end }}`:                                   {"unreachable 1:29 this branch is never taken"},
		`a: {{ if eq .spec.mode "fast" }}1{{ else if eq .spec.mode "fast" }}2{{ end }}`:                      {"unreachable 1:45 this branch"},
		`a: {{ if kindIs "string" .spec.size }}1{{ end }}`:                                                   {"unreachable 1:10 this branch"},
		"{{ if .spec.live }}{{ fail \"no\" }}a: 1{{ end }}b: 1":                                              {"unreachable 1:35 this is never reached: fail ends the file before it"},
		"{{ if not .spec.title }}{{ fail \"no\" }}{{ end }}{{ if .spec.title }}a: 1{{ else }}b: 1{{ end }}":  {"unreachable 1:55 the else"},
		`a: {{ if .spec.live }}1{{ end }}{{ if .spec.live }}2{{ else }}3{{ end }}`:                           nil,
		`{{ $x := false }}{{ if .spec.live }}{{ $x = true }}{{ end }}a: {{ if $x }}1{{ else }}2{{ end }}`:    nil,
		`{{ $x := false }}{{ range .spec.tags }}{{ $x = true }}{{ end }}a: {{ if $x }}1{{ else }}2{{ end }}`: nil,
		`a: [{{ range $i, $e := .spec.tags }}{{ if $i }}, {{ end }}{{ $e }}{{ end }}]`:                       nil,
		`a: {{ if eq .spec.mode "fast" }}1{{ else if eq .spec.mode "slow" }}2{{ else }}3{{ end }}`:           nil,
		`{{ define "p" }}{{ if .x }}1{{ else }}2{{ end }}{{ end }}a: {{ include "p" (dict "x" true) }}`:      nil,
		`{{ if or .spec.live .spec.debug }}{{ if .spec.live }}a: 1{{ else }}a: 2{{ end }}{{ end }}`:          nil,
	})
}

func TestSyntax(t *testing.T) {
	finds(t, map[string][]string{
		"a: 1\n{{ if .spec.live }}\nb: [1\n{{ end }}":                                 {"syntax 3:"},
		"{{ if .spec.live }}a: 1{{ else }}\n- a: 1\n b: 1\n{{ end }}":                 {"syntax 3:"},
		"a: yes\n{{ if .spec.live }}b: no{{ end }}":                                   {"syntax 1:4"},
		"a: 1\n{{ if .spec.live }}\na: 2\n{{ end }}":                                  {"syntax 3:1 the key \"a\" stands here and at x.yaml:1:1 in the same map"},
		"{{ if .spec.live }}\na: 1\n{{ end }}\n{{ if .spec.debug }}\na: 2\n{{ end }}": nil,
		"{{ range .spec.env }}\n{{ if eq .name \"x\" }}\na: 1\n{{ end }}\n{{ end }}":  nil,
		"{{ if .spec.live }}a: 1{{ else }}a: 2{{ end }}":                              nil,
		"just text": {"syntax 1:1 a document is a map"},
		"a: {{ include \"p\" . }}{{ define \"p\" }}{{ if .spec.live }}x: [{{ end }}{{ end }}": {"syntax 1:"},
	})
}
