package apply

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A mode restricts the writes of a Writer.
type mode struct {
	// isDry is true if the API server is asked what it would do, and changes nothing.
	isDry bool
	// gate decides whether a write may be sent now; nil permits all.
	gate transport.Gate
}

// errReadOnly is the answer of a Writer that writes nothing.
var errReadOnly error = &refusals.Refusal{Cause: refusals.Forbidden, Text: "the operator is read-only: nothing is written"}

// errNotLeading is the answer of a Writer of an operator that may lead no more.
var errNotLeading error = &refusals.Refusal{Cause: refusals.TryAgain,
	Text: "the Lease was not renewed in time: another operator may lead by now"}

// Dry returns a Writer all of whose writes are dry runs: the server answers as
// it would answer the write, admission and preconditions included, and changes
// nothing.
func (w *Writer) Dry() *Writer { return w.withMode(mode{isDry: true, gate: w.gate}) }

// ReadOnly returns a Writer that sends no write, not even as a dry run: each is
// answered by errReadOnly. It reads.
func (w *Writer) ReadOnly() *Writer {
	return w.withMode(mode{isDry: w.isDry, gate: func() (time.Duration, error) { return 0, errReadOnly }})
}

// While returns a Writer that sends a write only if there is time left directly before,
// and waits for the answer no longer than that. left says how much there is, and whether
// a request has to end with it.
func (w *Writer) While(left func() (time.Duration, bool)) *Writer {
	return w.withMode(mode{isDry: w.isDry, gate: func() (time.Duration, error) {
		most, ends := left()
		switch {
		case most <= 0:
			return 0, errNotLeading
		case !ends:
			most = 0
		}
		return most, nil
	}})
}

func (w *Writer) withMode(m mode) *Writer {
	return &Writer{Reader: w.Reader, mode: m, accounts: w.accounts}
}

// Tries reports whether all writes are dry runs.
func (m mode) Tries() bool { return m.isDry }

// checkGate returns an error if no write may be sent now. The context that it returns checks that
// again when it is the turn of the request.
func (m mode) checkGate(ctx context.Context) (context.Context, error) {
	if m.gate == nil {
		return ctx, nil
	}
	_, err := m.gate()
	return transport.WithGate(ctx, m.gate), err
}

// dryRunOption is the option by which the API server changes nothing.
func (m mode) dryRunOption() []string {
	if m.isDry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// patchOptions are the options of what is no apply.
func (m mode) patchOptions() metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: m.dryRunOption()}
}
