package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/template"
)

const forked = `{{- if .spec.on }}
a: {{ include "port" . }}
{{- else if .spec.image }}
b: 1
{{- end }}
{{- range $i, $arg := .spec.args }}
---
c: {{ $arg }}
{{- if eq $i 1 }}
d: {{ include "deep" (dict "n" $i) }}
{{- end }}
{{- else }}
---
e: 1
{{- end }}
{{- with .spec.nope }}
f: 1
{{- end }}
{{- define "deep" }}{{ with .n }}{{ . }}{{ end }}{{ end }}
{{- define "idle" }}{{ if .x }}{{ end }}{{ end }}
`

const partials = `{{ define "port" }}{{ .spec.port }}{{ end }}`

// resource is what the templates are rendered for.
func resource() map[string]any {
	return map[string]any{"spec": map[string]any{
		"image": "nginx", "port": int64(80), "on": true, "evil": "x\n  hostNetwork: true",
		"labels": map[string]any{"a": "1", "b": "2"}, "args": []any{"--x", "--y"},
	}}
}

// world is a World that has one object at most, and answers lookups alone.
type world struct {
	template.World
	object map[string]any
}

func (w world) Lookup(template.Object) (any, error) { return w.object, nil }

// record runs a text with a Recorder.
func record(t *testing.T, text string, dot map[string]any, world template.World) *Run {
	t.Helper()
	set, err := compile(text)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(set, []string{"x"})
	_, _ = set.For(dot, world).Trace(r.Begin).Execute(context.Background(), "x")
	if len(r.Runs) != 1 {
		t.Fatalf("got %d runs", len(r.Runs))
	}
	return r.Runs[0]
}

func compile(text string) (*template.Set, error) {
	return template.Compile(template.Input{Sources: []template.Source{
		{Name: "x", File: "x.yaml", Text: text}, {Name: "_h.tpl", File: "_h.tpl", Text: partials}}})
}

// say writes a run for people to compare.
func say(r *Run) []string {
	var all []string
	for _, s := range r.Steps {
		in := ""
		if s.In != nil {
			in = fmt.Sprintf(" in %d %v", s.In.Branch.Place.Line, s.InTaken)
		}
		for _, c := range s.Calls {
			in += fmt.Sprintf(" by %d:%d", c.Line, c.Column)
		}
		all = append(all, fmt.Sprintf("%d %s%s: %d %d: %s", s.Branch.Place.Line, s.Branch.Text, in, s.Took, s.Left, strings.Join(s.Came, ", ")))
	}
	for i, d := range r.Documents {
		all = append(all, fmt.Sprintf("document %d%s", i, sayArms(ArmsOf(d))))
	}
	if r.Err != nil {
		all = append(all, "stopped"+sayArms(r.Stopped))
	}
	return all
}

func sayArms(arms []Arm) string {
	text := ""
	for _, a := range arms {
		text += fmt.Sprintf(" %d %s %d/%d", a.Step.Branch.Place.Line, a.Step.Branch.Outcome(a.Taken), a.Item, a.Items)
	}
	return text
}

func TestRun(t *testing.T) {
	want := []string{
		"1 {{- if .spec.on }}: 1 0: true",
		"6 {{- range $i, $arg := .spec.args }}: 1 0: a list of 2",
		"9 {{- if eq $i 1 }} in 6 true: 1 1: false, true",
		"19 {{ with .n }} in 9 true by 10:7: 1 0: 1",
		"16 {{- with .spec.nope }}: 0 1: nothing",
		"document 0 1 taken 0/0",
		"document 1 6 with items 1/2",
		"document 2 6 with items 2/2",
	}
	if diff := cmp.Diff(want, say(record(t, forked, resource(), world{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = []string{
		"1 {{- if .spec.on }}: 0 1: nothing",
		"3 {{- else if .spec.image }} in 1 false: 0 1: nothing",
		"6 {{- range $i, $arg := .spec.args }}: 0 1: nothing",
		"16 {{- with .spec.nope }}: 0 1: nothing",
		"document 0 6 without items 0/0",
	}
	if diff := cmp.Diff(want, say(record(t, forked, map[string]any{}, world{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestStopped: where a file waits or fails, the way to there stays.
func TestStopped(t *testing.T) {
	run := record(t, `{{ if .spec.on }}{{ range .spec.args }}{{ if eq . "--y" }}{{ wait "no" }}{{ end }}{{ end }}{{ end }}`, resource(),
		world{})
	want := "stopped 1 taken 0/0 1 with items 2/2 1 taken 0/0"
	var wait *template.Wait
	if got := say(run); !errors.As(run.Err, &wait) || got[len(got)-1] != want {
		t.Errorf("got %v and %q, want %q", run.Err, got, want)
	}
}

// TestRunKeepsSecrets: what a condition came to shows no text, and nothing of
// a Secret.
func TestRunKeepsSecrets(t *testing.T) {
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "default"},
		"data": map[string]any{"n": "c2VjcmV0", "m": int64(7391)}}
	text := `{{ $s := lookup "v1" "Secret" "" "s" }}{{ define "p" }}{{ .data.n }}{{ end }}
{{- if $s.data.n }}{{ end }}{{ if $s.data.m }}{{ end }}{{ with $s }}{{ end }}{{ if b64dec $s.data.n }}{{ end }}{{ range $s.data }}{{ if . }}{{ end }}{{ end }}
{{- if include "p" $s }}{{ end }}{{ if .spec.evil }}{{ end }}{{ if quote .spec.evil }}{{ end }}{{ if toYaml .spec.labels }}{{ end }}{{ if list }}{{ end }}{{ if dict }}{{ end }}{{ if "" }}{{ end }}`
	run := record(t, text, resource(), world{object: secret})
	if run.Err != nil {
		t.Fatal(run.Err)
	}
	var came []string
	for _, s := range run.Steps {
		came = append(came, s.Came...)
	}
	const of = "a value of a Secret"
	want := []string{of, of, of, of, of, of, of, "a string", "a string", "a map of 2", "an empty list", "an empty map", "an empty string"}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBranches(t *testing.T) {
	set, err := compile(forked)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range Branches(set, []string{"x"}) {
		got = append(got, fmt.Sprintf("%s %s %s", b.Place, b.Define, b.Outcome(true)))
	}
	want := []string{"x.yaml:1:8  taken", "x.yaml:3:13  taken", "x.yaml:6:11  with items", "x.yaml:9:8  taken", "x.yaml:16:10  taken",
		"x.yaml:19:29 deep taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTurnsOf: the arms that a line of the file stands in, by its number.
func TestTurnsOf(t *testing.T) {
	set, err := compile(forked)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{2: "1 taken", 4: "1 not taken 3 taken", 8: "6 with items", 10: "6 with items 9 taken",
		14: "6 without items", 17: "16 taken"} {
		got := ""
		for _, turn := range TurnsOf(set, "x", line) {
			got += fmt.Sprintf(" %d %s", turn.Branch.Place.Line, turn.Branch.Outcome(turn.Taken))
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("line %d stands in %q, want %q", line, got, want)
		}
	}
}

// BenchmarkRecorder executes a file of many branches without and with a Recorder by
// turns; "ratio" is how many times as long it takes with one. What it costs without is
// a comparison with nil for each branch.
func BenchmarkRecorder(b *testing.B) {
	const text = `{{ range until 200 }}{{ if eq . 7 }}{{ else if eq . 8 }}{{ end }}{{ with $.spec.image }}{{ end }}{{ end }}a: 1`
	set, err := compile(text)
	if err != nil {
		b.Fatal(err)
	}
	dot := resource()
	took := func(r *template.Rendering) time.Duration {
		start := time.Now()
		if _, err := r.Execute(context.Background(), "x"); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, float64(took(set.For(dot, world{}).Trace(NewRecorder(set, []string{"x"}).Begin)))/float64(took(set.For(dot, world{}))))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
