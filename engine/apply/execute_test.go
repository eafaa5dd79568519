package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// A fakeWriter notes what it is asked for. What is named in outcomes fails, panics or has to
// be recreated.
type fakeWriter struct {
	mu       sync.Mutex
	outcomes map[string]string
	sent     []string
}

func (w *fakeWriter) do(what string) plan.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, what)
	switch w.outcomes[what] {
	case "fails":
		return plan.Outcome{Err: errors.New(what)}
	case "panics":
		panic(what)
	case "is recreated":
		return plan.Outcome{Recreation: &plan.Recreation{}}
	}
	return plan.Outcome{}
}

func (w *fakeWriter) Write(_ context.Context, s *plan.Step) plan.Outcome {
	return w.do("write " + s.Child.File)
}

func (w *fakeWriter) WriteMetadata(_ context.Context, m plan.Metadata) plan.Outcome {
	return w.do(string(m.Finalizer))
}

func (w *fakeWriter) Delete(_ context.Context, l live.Object) plan.Outcome {
	return w.do("delete " + l.Meta.GetName())
}

func (w *fakeWriter) Release(_ context.Context, r plan.Release) plan.Outcome {
	return w.do("release " + r.Live.Meta.GetName())
}

// TestExecute covers the order of a plan: nothing is deleted or released before all that is
// rendered is there, and what contains a generated text waits for its Secret alone.
func TestExecute(t *testing.T) {
	step := func(file string, action plan.Action, changes ...func(*plan.Step)) plan.Step {
		s := plan.Step{Action: action, Child: render.Child{File: file}, Document: &unstructured.Unstructured{Object: map[string]any{"kind": "Secret"}}}
		s.Document.SetName(file)
		for _, change := range changes {
			change(&s)
		}
		return s
	}
	generates := func(s *plan.Step) { s.GeneratesText = true }
	contains := func(file string) func(*plan.Step) {
		return func(s *plan.Step) { s.GeneratedFrom = append(s.GeneratedFrom, file) }
	}
	old := live.Object{Meta: &metav1.ObjectMeta{Name: "old"}}
	const deletes, releases = "delete old", "release old"
	for name, c := range map[string]struct {
		steps    []plan.Step
		outcomes map[string]string
		// sent is in order, but for what is written at the same time, which is sorted.
		sent    []string
		skipped string
	}{
		"all succeeds":       {[]plan.Step{step("a", plan.Create), step("b", plan.Update)}, nil, []string{"write a", "write b", deletes, releases}, ""},
		"nothing to write":   {[]plan.Step{step("a", plan.Keep), step("b", plan.Done)}, nil, []string{deletes, releases}, ""},
		"a write fails":      {[]plan.Step{step("a", plan.Create), step("b", plan.Patch)}, map[string]string{"write a": "fails"}, []string{"write a", "write b"}, "old old"},
		"a write panics":     {[]plan.Step{step("a", plan.Create), step("b", plan.Update)}, map[string]string{"write b": "panics"}, []string{"write a", "write b"}, "old old"},
		"one is recreated":   {[]plan.Step{step("a", plan.Update)}, map[string]string{"write a": "is recreated"}, []string{"write a"}, "old old"},
		"one is blocked":     {[]plan.Step{step("a", plan.Block), step("b", plan.Create)}, nil, []string{"write b"}, "old old"},
		"one is not ours":    {[]plan.Step{step("a", plan.Refuse)}, nil, nil, "old old"},
		"one backs off":      {[]plan.Step{step("a", plan.BackOff), step("b", plan.Create)}, nil, []string{"write b"}, "old old"},
		"a deletion fails":   {nil, map[string]string{deletes: "fails"}, []string{deletes, releases}, ""},
		"the Secret first":   {[]plan.Step{step("a", plan.Create, contains("s")), step("s", plan.Create, generates)}, nil, []string{"write s", "write a", deletes, releases}, ""},
		"the Secret fails":   {[]plan.Step{step("a", plan.Create, contains("s")), step("b", plan.Create), step("s", plan.Create, generates)}, map[string]string{"write s": "fails"}, []string{"write s", "write b"}, "a: Secret s old old"},
		"the Secret waits":   {[]plan.Step{step("a", plan.Create, contains("s")), step("s", plan.Block, generates)}, nil, nil, "a: Secret s old old"},
		"the Secret is kept": {[]plan.Step{step("a", plan.Create, contains("s")), step("s", plan.Keep, generates)}, nil, []string{"write a", deletes, releases}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fakeWriter{outcomes: c.outcomes}
			results := Execute(t.Context(), w, &plan.Plan{Steps: c.steps, Prune: []live.Object{old}, Release: []plan.Release{{Live: old}}})
			sent := w.sent
			if len(c.sent) > 1 && len(sent) > 1 && c.sent[0] < c.sent[1] { // these two are written at the same time
				slices.Sort(sent[:2])
			}
			if !slices.Equal(sent, c.sent) {
				t.Errorf("it sends %q, want %q", sent, c.sent)
			}
			var skipped []string
			for _, r := range results {
				switch {
				case !r.Skipped:
				case r.Step != nil:
					skipped = append(skipped, r.Step.Child.File+": "+r.Lacks)
				default:
					skipped = append(skipped, "old")
				}
			}
			if got := strings.Join(skipped, " "); got != c.skipped {
				t.Errorf("it skips %q, want %q", got, c.skipped)
			}
			for what, outcome := range c.outcomes {
				if outcome == "panics" && !slices.ContainsFunc(results, func(r plan.Result) bool { return panics.In(r.Err) != nil }) {
					t.Errorf("the panic of %s is not a result", what)
				}
			}
		})
	}
}

// TestExecuteChangesOfResource: our finalizer is there before anything is written, and is removed
// after everything else has succeeded.
func TestExecuteChangesOfResource(t *testing.T) {
	old := live.Object{Meta: &metav1.ObjectMeta{Name: "old"}}
	for name, c := range map[string]struct {
		fails string
		sent  []string
	}{
		"all succeeds":             {"", []string{"Add", "write a", "delete old", "Remove"}},
		"the finalizer is refused": {"Add", []string{"Add"}},
		"a write fails":            {"write a", []string{"Add", "write a"}},
		"a deletion fails":         {"delete old", []string{"Add", "write a", "delete old"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fakeWriter{outcomes: map[string]string{c.fails: "fails"}}
			Execute(t.Context(), w, &plan.Plan{
				Before: plan.Metadata{Finalizer: plan.AddFinalizer}, After: plan.Metadata{Finalizer: plan.RemoveFinalizer},
				Steps: []plan.Step{{Action: plan.Create, Child: render.Child{File: "a"}, Document: &unstructured.Unstructured{}}},
				Prune: []live.Object{old},
			})
			if !slices.Equal(w.sent, c.sent) {
				t.Errorf("it sends %q, want %q", w.sent, c.sent)
			}
		})
	}
}
