package reconcile

import (
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// An unfit status was refused for its content: the kind's own fields, at a
// generation of the resource and of its CRD. It is not sent again before a time,
// whatever else the status says.
type unfit struct {
	hash  string
	again time.Time
	err   error
}

// fitting sends a status unless its own fields were refused just now; then it
// answers as the API did.
func (t *reconciliation) fitting(in status.Input, send func() error) error {
	hash, err := ownership.Hash(in.Own)
	if err != nil {
		return fmt.Errorf("comparing the status with the last: %w", err)
	}
	hash = fmt.Sprint(hash, " ", in.Generation, " ", schemaOf(t.subject.crd()))
	if was := t.known.failures.unfit; was.hash == hash && t.r.now().Before(was.again) {
		return was.err
	}
	err = send()
	if invalid(err) != "" {
		t.known.failures.unfit = unfit{hash, t.r.now().Add(longWait), err}
	}
	return err
}
