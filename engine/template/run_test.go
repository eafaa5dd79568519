package template

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// traced runs a text on a track.
func traced(t *testing.T, text string, dot map[string]any, world World) *Run {
	t.Helper()
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: text}, {Name: "_h.tpl", File: "_h.tpl", Text: partials}}})
	if err != nil {
		t.Fatal(err)
	}
	files := set.For(dot, world).Traced()
	_, _ = files.Execute(context.Background(), "x")
	if len(files.Runs()) != 1 {
		t.Fatalf("got %d runs", len(files.Runs()))
	}
	return files.Runs()[0]
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
		all = append(all, fmt.Sprintf("document %d%s", i, sayArms(d.Arms())))
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
	if diff := cmp.Diff(want, say(traced(t, forked, resource(), still{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = []string{
		"1 {{- if .spec.on }}: 0 1: nothing",
		"3 {{- else if .spec.image }} in 1 false: 0 1: nothing",
		"6 {{- range $i, $arg := .spec.args }}: 0 1: nothing",
		"16 {{- with .spec.nope }}: 0 1: nothing",
		"document 0 6 without items 0/0",
	}
	if diff := cmp.Diff(want, say(traced(t, forked, map[string]any{}, still{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestStopped: where a file waits or fails, the way to there stays.
func TestStopped(t *testing.T) {
	run := traced(t, `{{ if .spec.on }}{{ range .spec.args }}{{ if eq . "--y" }}{{ wait "no" }}{{ end }}{{ end }}{{ end }}`, resource(),
		still{})
	want := "stopped 1 taken 0/0 1 with items 2/2 1 taken 0/0"
	var wait *Wait
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
	run := traced(t, text, resource(), still{objects: []map[string]any{secret}})
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
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: forked}}})
	if err != nil && !strings.Contains(err.Error(), `"port"`) {
		t.Fatal(err)
	}
	var got []string
	for _, b := range set.Branches() {
		got = append(got, fmt.Sprintf("%s %s %s", b.Place, b.Define, b.Outcome(true)))
	}
	want := []string{"x.yaml:1:8  taken", "x.yaml:3:13  taken", "x.yaml:6:11  with items", "x.yaml:9:8  taken", "x.yaml:16:10  taken",
		"x.yaml:19:29 deep taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// BenchmarkTrack executes a file of many branches off and on the track by
// turns; "ratio" is how many times as long it takes on the track. What it costs
// off the track is a comparison with nil for each branch.
func BenchmarkTrack(b *testing.B) {
	const text = `{{ range until 200 }}{{ if eq . 7 }}{{ else if eq . 8 }}{{ end }}{{ with $.spec.image }}{{ end }}{{ end }}a: 1`
	set, err := Compile(Input{Sources: []Source{{Name: "x", File: "x.yaml", Text: text}}})
	if err != nil {
		b.Fatal(err)
	}
	dot := resource()
	took := func(r *Rendering) time.Duration {
		start := time.Now()
		if _, err := r.Execute(context.Background(), "x"); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, float64(took(set.For(dot, still{}).Traced()))/float64(took(set.For(dot, still{}))))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
