package reconcile

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// An executor is how a reconciliation acts on a plan: [writing] writes, a [*DryRun]
// asks the server what it would do, and [previewing] sends nothing.
type executor interface {
	// draws reports whether texts for Secrets are needed, and draw draws one.
	draws() bool
	draw(at secretKey, length int) (string, error)
	// repeats reports whether what is executed happens again and again, so that it
	// may oscillate.
	repeats() bool
	// wrote notes a write, refused a refusal, skipped children that need no
	// request, and corrected the managers from whom fields were taken back.
	wrote(metrics.Operation)
	refused(*apply.Refusal)
	skipped(n int)
	corrected(takers []string)
	// executed notes what came of a step.
	executed(w *stepExecutor, p *status.Problem, err error)
	// replacement is what the server would make of a document under another name,
	// for people; nil where nobody looks at it, since it is made later.
	replacement(ctx context.Context, w *stepExecutor) (*unstructured.Unstructured, error)
}

// writing writes, and counts what it does.
type writing struct{ t *reconciliation }

func (w writing) draws() bool { return true }

func (w writing) draw(_ secretKey, length int) (string, error) { return random(length) }

func (w writing) repeats() bool { return true }

func (w writing) wrote(o metrics.Operation) {
	metrics.Kind(w.t.r.name).Wrote(o)
	w.t.known.writes.Add(1)
	w.t.known.lastWrite.Store(w.t.r.now().UnixNano())
	if o != metrics.Status && o != metrics.Metadata && o != metrics.Record {
		w.t.wrote.Store(true)
	}
}

func (w writing) refused(r *apply.Refusal) { metrics.Kind(w.t.r.name).Refused(outcomes[r.Cause].label) }

func (w writing) skipped(n int) { metrics.Kind(w.t.r.name).Skipped(n) }

func (w writing) corrected(takers []string) {
	w.t.undone.Store(true)
	metrics.Kind(w.t.r.name).Corrected(takers)
}

func (w writing) executed(*stepExecutor, *status.Problem, error) {}

func (w writing) replacement(context.Context, *stepExecutor) (*unstructured.Unstructured, error) {
	return nil, nil
}

// previewing plans alone.
type previewing struct{}

func (previewing) draws() bool                                    { return false }
func (previewing) draw(secretKey, int) (string, error)            { return "", nil }
func (previewing) repeats() bool                                  { return false }
func (previewing) wrote(metrics.Operation)                        {}
func (previewing) refused(*apply.Refusal)                         {}
func (previewing) skipped(int)                                    {}
func (previewing) corrected([]string)                             {}
func (previewing) executed(*stepExecutor, *status.Problem, error) {}
func (previewing) replacement(context.Context, *stepExecutor) (*unstructured.Unstructured, error) {
	return nil, nil
}

func (d *DryRun) draws() bool { return true }

// draw only stands in for a text, and takes that down.
func (d *DryRun) draw(at secretKey, length int) (string, error) {
	d.Drawn = append(d.Drawn, at.file+"/"+at.key)
	return strings.Repeat("x", length), nil
}

func (d *DryRun) executed(w *stepExecutor, p *status.Problem, err error) {
	d.Acts = append(d.Acts, Act{w.step, w.answer, w.over, p, err})
}

func (d *DryRun) replacement(ctx context.Context, w *stepExecutor) (*unstructured.Unstructured, error) {
	return w.to.Probe(ctx, w.resource, w.step.Document)
}

func (d *DryRun) repeats() bool           { return false }
func (d *DryRun) wrote(metrics.Operation) {}
func (d *DryRun) refused(*apply.Refusal)  {}
func (d *DryRun) skipped(int)             {}
func (d *DryRun) corrected([]string)      {}

// refusal counts a write that the API server refused; other errors are none.
func (t *reconciliation) refusal(err error) {
	var refusal *apply.Refusal
	if errors.As(err, &refusal) {
		t.executor.refused(refusal)
	}
}
