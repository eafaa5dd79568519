package template

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// most is how much more memory a bomb may take while it is put out.
const most = 64 << 20

// bombs end with an error; budget says that the error must be ErrBudget.
var bombs = []struct {
	name, text string
	budget     bool
}{
	{"loops in loops", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", true},
	{"a loop to the largest number", "{{ range 9223372036854775807 }}{{ end }}", true},
	{"recursion", `{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}`, true},
	{"recursion by include", `{{ define "r" }}{{ include "r" . }}{{ end }}a: {{ include "r" . }}`, true},
	{"recursion by turns",
		`{{ define "a" }}{{ include "b" . | upper }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}a: {{ include "a" . }}`, true},
	{"branching recursion", `{{ define "r" }}{{ if lt (len .) 60 }}{{ include "r" (append . 1) }}{{ include "r" (append . 1) }}{{ end }}{{ end }}a: {{ include "r" (list) }}`, true},
	{"repeat", `a: {{ repeat 1000000000 "x" }}`, false},
	{"until", `a: {{ until 50000000 }}`, false},
	{"untilStep", `a: {{ untilStep 0 50000000 1 }}`, false},
	{"seq", `a: {{ seq 50000000 }}`, false},
	{"printf", `a: {{ printf "%1000000000d" 1 }}`, false},
	{"printf of a star", `a: {{ printf "%*d" 1000000000 1 }}`, false},
	{"indent", `a: {{ indent 1000000000 "x" }}`, false},
	{"indent in turns", "{{ $s := repeat 500000 \"\\n\" }}{{ range until 90 }}{{ $s = $s | indent 2 | upper }}{{ end }}a: {{ $s }}", false},
	{"doubling text", `{{ $s := "x" }}{{ range until 60 }}{{ $s = printf "%s%s" $s $s }}{{ end }}a: {{ $s }}`, false},
	{"doubling text by cat", `{{ $s := "x" }}{{ range until 60 }}{{ $s = cat $s $s }}{{ end }}a: {{ $s }}`, false},
	{"doubling maps", doubled + "a: {{ $d }}", false},
	{"doubling maps printed", doubled + "a: {{ print $d }}", false},
	{"doubling maps compared", doubled + "a: {{ eq $d $d }}", false},
	{"doubling maps of half the size", doubling(11) + "a: {{ deepEqual $d $d }}{{ toYaml $d | sha256sum }}\nb: {{ toJson $d }}\nc: {{ $d }}\nd: {{ $d }}\ne: {{ $d }}\n{{ range until 99 }}\nf{{ . }}: {{ $d }}\n{{ end }}", true},
	{"doubling lists", `{{ $d := list 1 }}{{ range until 40 }}{{ $d = list $d $d }}{{ end }}a: {{ $d }}`, false},
	{"doubling lists by concat", `{{ $d := list 1 }}{{ range until 40 }}{{ $d = concat $d $d }}{{ end }}a: {{ $d }}`, false},
	{"doubling by merge", `{{ $d := dict "a" 1 }}{{ range until 40 }}{{ $d = merge (dict "x" $d) (dict "y" $d) }}{{ end }}a: {{ $d }}`, false},
	{"doubling fragments", fragments(40, "x"), true},
	{"doubling fragments of holes", fragments(40, "{{ . }}"), true},
	{"doubling fragments in variables",
		`{{ define "f" }}{{ . }}{{ . }}{{ end }}{{ $s := "x" }}{{ range until 60 }}{{ $s = include "f" $s }}{{ end }}a: {{ $s }}`, true},
	{"holes", `{{ range until 200000 }}{{ $.spec.image }}{{ $.spec.image }}{{ $.spec.image }}{{ $.spec.image }}{{ end }}`, true},
	{"large texts kept in a list",
		`{{ $l := list }}{{ range $i := until 200000 }}{{ $l = append $l (repeat 1000000 "x") }}{{ end }}a: {{ $l }}`, true},
	{"large texts kept by include", `{{ define "big" }}{{ repeat 1000000 "x" }}{{ end }}{{ $l := list }}{{ range $i := until 200000 }}{{ $l = append $l (include "big" .) }}{{ end }}a: {{ $l }}`, true},
	{"large texts kept by quote",
		`{{ $b := repeat 1000000 "x" }}{{ $l := list }}{{ range $i := until 200000 }}{{ $l = append $l (quote $b) }}{{ end }}a: {{ $l }}`, true},
	{"large texts made anew", `{{ $b := repeat 1000000 "x" }}{{ $l := list }}{{ range $i := until 200000 }}{{ $l = append $l (printf "%s%d" $b $i) }}{{ end }}a: {{ $l }}`, true},
	{"large lists kept", `{{ define "r" }}{{ $l := until 200000 }}{{ include "r" . }}{{ $l }}{{ end }}a: {{ include "r" . }}`, true},
	{"large text printed often", "{{ $b := repeat 1000000 \"x\" }}{{ range until 10000 }}\nk{{ . }}: \"{{ $b }}.\"\n{{ end }}", true},
	{"large text printed whole", "{{ $b := repeat 1000000 \"x\" }}{{ range until 10000 }}\n---\nk: {{ $b }}\n{{ end }}", true},
	{"large text in a block", "{{ $b := repeat 500000 \"x\\n\" }}a: |\n  x\n" + strings.Repeat(" ", 100) + "{{ $b }}\n", true},
	{"large map printed often", doubling(12) + "{{ range until 900 }}\n---\nk: {{ $d }}\n{{ end }}", true},
	{"many documents", "{{ range until 100000 }}\n---\na: 1\n{{ end }}", true},
	{"many wrong documents", "{{ range until 100000 }}\n---\na: [\n{{ end }}", false},
	{"many small parts", "a: [{{ range until 200000 }}1,{{ end }}]", true},
	{"many entries", "{{ range until 200000 }}\n- 1{{ end }}", true},
	{"many holes of one line", `a: |` + "\n  " + `{{ range 200000 }}{{ $.spec.image }}{{ end }}` + "\n  {{ .n }}", false},
	{"much text", `{{ range 900000 }}xxxxxxxx{{ end }}`, true},
	{"one long line of includes",
		`{{ define "l" }}a{{ end }}a: {{ range until 200000 }}{{ include "l" . }}{{ include "l" . }}{{ end }}{{ fail "end" }}`, false},
	{"deep flow", "a: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000), false},
	{"deep maps", "a: " + strings.Repeat("{a: ", 10000) + strings.Repeat("}", 10000), false},
	{"deep blocks", "a:\n" + strings.Repeat("- ", 20000) + "1", false},
	{"a monstrous pattern", `a: {{ regexMatch "((((a{1,100}){1,100}){1,100}){1,100})" "aaaa" }}`, false},
	{"a long pattern", `a: {{ regexMatch (repeat 100000 "(a|b)*") "aaaa" }}`, false},
	{"a pattern with many matches", `a: {{ regexFindAll "" (repeat 1000000 "x") -1 }}`, false},
	{"a pattern on much text", `{{ range until 100000 }}{{ $x := regexReplaceAll "b.*c|b" (repeat 100000 "b") "x" }}{{ end }}`, false},
}

var doubled = doubling(40)

func doubling(n int) string {
	return fmt.Sprintf(`{{ $d := dict "x" 1 }}{{ range until %d }}{{ $d = dict "a" $d "b" $d }}{{ end }}`, n)
}

// fragments are n defines, each of which includes the next one twice.
func fragments(n int, innermost string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{{ define "f%d" }}%s{{ end }}`, n, innermost)
	for i := range n {
		fmt.Fprintf(&b, `{{ define "f%d" }}{{ include "f%d" . }}{{ include "f%d" . }}{{ end }}`, i, i+1, i+1)
	}
	return b.String() + `a: {{ include "f0" "x" }}`
}

func TestBombs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for _, tt := range bombs {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: tt.text}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			peak := watch()
			before := runtime.NumGoroutine()
			_, err = set.Execute(ctx, "x", resource(), still{})
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines, before %d", n, before)
			}
			used := peak()
			if t.Logf("%d MiB", used>>20); used > most {
				t.Error("that is too much memory")
			}
			if err == nil {
				t.Fatal("no error")
			}
			if tt.budget && !errors.Is(err, ErrBudget) {
				t.Errorf("not by budget: %v", err)
			}
			if len(err.Error()) > 5000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// watch looks at the heap until it is asked for the most that it grew.
func watch() func() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	start := int64(m.HeapAlloc)
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		var top int64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			top = max(top, int64(m.HeapAlloc)-start)
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(stop); return <-peak }
}

// TestDeadline ends what its steps would not end soon.
func TestDeadline(t *testing.T) {
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: "{{ range until 200000 }}{{ end }}a: 1"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := set.Execute(ctx, "x", resource(), still{}); !errors.Is(err, ErrBudget) {
		t.Errorf("got %v", err)
	}
}

// TestRoom renders what is large and no bomb.
func TestRoom(t *testing.T) {
	big := make([]any, 10000)
	for i := range big {
		big[i] = map[string]any{"name": fmt.Sprint("n", i), "value": int64(i)}
	}
	dot := resource()
	dot["spec"].(map[string]any)["big"] = big
	for name, text := range map[string]string{
		"a large list":     "a: {{ .spec.big }}",
		"ranged over":      "a:\n{{- range .spec.big }}\n- name: {{ .name }}\n  value: {{ .value }}\n{{- end }}",
		"appended":         "{{ $l := list }}{{ range .spec.big }}{{ $l = append $l .name }}{{ end }}a: {{ $l }}",
		"five hundred":     "{{ range until 500 }}\n---\nkind: {{ . }}\nspec:\n  a: {{ include \"name\" $ }}\n  b: {{ $.spec.labels }}\n  c: x{{ . }}\n{{ end }}",
		"a megabyte":       "a: {{ repeat 1000000 \"x\" }}\nb: \"{{ repeat 1000000 \"x\" }}\"",
		"literal JSON":     "a: |\n  " + strings.Repeat(`{"a": [1, 2, 3]}, `, 40000) + "\n",
		"hash of the spec": "{{ range until 20 }}\n---\na: {{ toYaml $.spec | sha256sum }}\n{{ end }}",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, text, dot); err != nil {
				t.Error(err)
			}
		})
	}
}
