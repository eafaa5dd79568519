package template

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// growing are templates whose work may grow with the items of the resource,
// and no faster.
var growing = map[string]string{
	"loop":         "a:\n{{- range .spec.items }}\n- name: {{ .name }}\n  value: {{ .name | quote }}\n{{- end }}\n",
	"include":      "a:\n{{- range .spec.items }}\n- {{ include \"entry\" . }}\n{{- end }}\n",
	"entry":        "a:\n{{- range .spec.items }}\n- name: {{ .name }}\n  labels: {{ include \"entry\" . }}\n{{- end }}\n",
	"entries":      "a:\n{{- range .spec.items }}\n- name: {{ .name }}\n  labels: {{ include \"entries\" . }}\n{{- end }}\n",
	"nindent":      "a:\n{{- range .spec.items }}\n- labels:\n    {{- include \"entries\" . | nindent 4 }}\n{{- end }}\n",
	"map":          "a:\n{{- range $i, $e := .spec.items }}\n  k{{ $i }}: {{ toYaml $e }}\n{{- end }}\n",
	"keys":         "a:\n{{- range .spec.items }}\n  {{ .name }}: {{ include \"entry\" . }}\n{{- end }}\n",
	"block":        "a: |\n{{- range .spec.items }}\n  text of {{ .name }}: {{ include \"entry\" . }}\n{{- end }}\n",
	"blocks":       "a:\n{{- range .spec.items }}\n- |\n  text: {{ include \"entries\" . }}\n{{- end }}\n",
	"one line":     "a: [{{ range .spec.items }}{{ include \"name\" . }}, {{ toJson . }}, {{ end }}]\n",
	"quoted":       "a: [{{ range .spec.items }}\"{{ .name }}\", {{ end }}\"\\u0041\"]\n",
	"line of text": "a: |\n  {{ range .spec.items }}to {{ include \"name\" . }} {{ end }}\n",
	"line of keys": "a: {b: {{ range .spec.items }}x{{ end }}, c: {{ include \"flow\" (index .spec.items 0) }}}\n",
	"comment":      "a: 1 # {{ range .spec.items }}and {{ include \"entries\" . }} {{ end }}\n",
	"documents":    "{{ range .spec.items }}\n---\na: {{ include \"entry\" . }}\n{{- end }}\n",
	"made list":    "{{ $l := list }}{{ range .spec.items }}{{ $l = append $l .name }}{{ end }}a: {{ $l }}\n",
}

const growingPartials = `{{ define "entry" }}app: {{ .name }}{{ end }}{{ define "name" }}{{ .name }}{{ end }}
{{- define "entries" }}app: {{ .name }}
tier: web{{ end }}{{ define "flow" }}{app: {{ .name }},
 tier: web}{{ end }}`

func growingSet(tb testing.TB, text string) *Set {
	tb.Helper()
	limits := Limits{Documents: 1 << 20, Steps: 1 << 30}
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: text},
		{Name: "_h.tpl", File: "_h.tpl", Text: growingPartials}}, Limits: limits})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func manyItems(n int) map[string]any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"name": fmt.Sprintf("n%d", i)}
	}
	return map[string]any{"spec": map[string]any{"items": list}}
}

// TestLinear: what is copied and looked at grows with the items. It is bytes
// that are counted, so that a busy machine changes nothing.
func TestLinear(t *testing.T) {
	const n = 500
	for name, text := range growing {
		t.Run(name, func(t *testing.T) {
			copied, looked := work(t, text, n)
			more, lookedMore := work(t, text, 4*n)
			t.Logf("%d and %d bytes made, %d and %d looked at", copied, more, looked, lookedMore)
			if more > 5*copied+1<<18 {
				t.Errorf("%d items make %d bytes, %d make %d", n, copied, 4*n, more)
			}
			if lookedMore > 5*looked+100 {
				t.Errorf("of %d items %d bytes are looked at, of %d %d", n, looked, 4*n, lookedMore)
			}
		})
	}
}

// work is how many bytes an execution allocates, and how many of its output it
// reads while it writes.
func work(t *testing.T, text string, n int) (made uint64, looked int) {
	t.Helper()
	set, dot := growingSet(t, text), manyItems(n)
	file := set.files["x"]
	x := &exec{ctx: context.Background(), set: set, world: still{}, out: newOutput(len(file.src.text))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := x.callRoutine(pos{file.src, 0}, file, dot); err != nil {
		t.Fatal(err)
	}
	out := x.out
	if _, err := set.fillDocuments(x.ctx, file, out); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, out.scan.looked
}

// BenchmarkLinear tells how much longer four times as many items take.
func BenchmarkLinear(b *testing.B) {
	for _, name := range sortedKeys(growing) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for i, n := range []int{1500, 6000} {
					set, dot := growingSet(b, growing[name]), manyItems(n)
					began := time.Now()
					if _, err := set.Execute(context.Background(), "x", dot, still{}); err != nil {
						b.Fatal(err)
					}
					took[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "time(4N)/time(N)")
		})
	}
}
