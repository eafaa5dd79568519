package controller

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/panics"
)

// TestAbreast: as many are worked on at the same time as may be, and no more; each
// once; and a panic of one is the caller's.
func TestAbreast(t *testing.T) {
	const most = 4
	var now, peak atomic.Int32
	together := make(chan struct{})
	all := make([]int, 3*most)
	inParallel(all, most, func(one *int) {
		n := now.Add(1)
		defer now.Add(-1)
		if peak.Store(max(peak.Load(), n)); n == most && !closed(together) {
			close(together)
		}
		*one++
		select {
		case <-together:
		case <-time.After(5 * time.Second):
		}
	})
	if !closed(together) || peak.Load() > most || slices.ContainsFunc(all, func(n int) bool { return n != 1 }) {
		t.Errorf("at most %d at the same time, want %d; each was done %v times", peak.Load(), most, all)
	}
	var err error
	func() {
		defer panics.Catch(&err, "trying")
		inParallel(all, most, func(one *int) {
			if one == &all[2] {
				panic("a mistake")
			}
		})
	}()
	if panics.In(err) == nil {
		t.Error("the panic is lost")
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
