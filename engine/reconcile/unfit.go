package reconcile

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// fitting sends a status unless its own fields, at this generation of the resource and of its
// CRD, were refused just now, whatever else the status says; then it answers as the API did.
func (t *reconciliation) fitting(in status.Input, send func() error) error {
	hash, err := ownership.Hash(in.Own)
	if err != nil {
		return fmt.Errorf("comparing the status with the last: %w", err)
	}
	hash = fmt.Sprint(hash, " ", in.Generation, " ", schemaOf(t.subject.crd()))
	attempts, k := t.known.failures.attempts, plan.Key{Operation: plan.OpStatusFields}
	if at := attempts.Blocking(k, hash, t.r.now()); at != nil {
		return at.Err
	}
	err = send()
	if invalid(err) != "" {
		attempts.Fail(k, hash, plan.Retry{Min: longWait, Max: longWait}, t.r.now()).Err = err
	}
	return err
}
