package controller

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// TestEnding: a Lease that is given back is an error only of who was not told to
// end.
func TestEnding(t *testing.T) {
	var lines []string
	var ends atomic.Bool
	inner := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	log := logr.New(ending{inner.GetSink(), &ends}).WithName("manager").WithValues("a", "b")
	lost := errors.New("leader election lost")
	log.Error(lost, "stopping")
	ends.Store(true)
	log.Error(lost, "stopping")
	log.Error(errors.New("another"), "stopping")
	for i, isError := range []bool{true, false, true} {
		if got := strings.Contains(lines[i], `"error"=`); got != isError {
			t.Errorf("line %d is an error: %v, want %v: %s", i, got, isError, lines[i])
		}
	}
}
