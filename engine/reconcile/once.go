package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/ready"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// succeeded are the hashes of the Jobs made once that have succeeded, by
// plan.OnceKey, as the resource has them on record.
func (t *turn) succeeded() map[string]string {
	all := map[string]string{}
	for _, item := range strings.Split(t.resource.GetAnnotations()[api.AnnotationSucceeded], ",") {
		if name, hash, found := strings.Cut(item, "="); found {
			all[name] = hash
		}
	}
	return all
}

// record notes on the resource which Jobs made once have succeeded, so that
// they may go.
func (t *turn) record(ctx context.Context, p *plan.Plan) {
	have := t.succeeded()
	want := map[string]string{}
	waiting := len(t.found.problems) > 0 // what is not rendered just now stays on record
	for i := range p.Steps {
		s := &p.Steps[i]
		name := plan.OnceKey(s.Child)
		switch {
		case !s.Child.Policy.Once:
		case s.Action == plan.Done, s.Action == plan.Keep && succeeded(s):
			want[name] = s.Hash
		case have[name] == s.Hash:
			want[name] = s.Hash
		}
	}
	if waiting {
		for name, hash := range have {
			if want[name] == "" {
				want[name] = hash
			}
		}
	}
	if t.leaving() || maps.Equal(have, want) {
		return
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		texts = append(texts, name+"="+want[name])
	}
	var value any // nil takes the annotation off
	if len(texts) > 0 {
		value = strings.Join(texts, ",")
	}
	if err := t.metadata(ctx, map[string]any{"annotations": map[string]any{api.AnnotationSucceeded: value}}); err != nil {
		t.found.add(status.Problem{Severity: status.Retry, Reason: "NotRecorded", Message: err.Error()})
		t.found.again(backOff(t.memory.tries, 0, longWait))
		t.memory.tries++
	}
}

// succeeded says whether a live Job is complete.
func succeeded(s *plan.Step) bool {
	verdict, err := ready.Of(s.Live.Body, false)
	return err == nil && verdict.Ready
}
