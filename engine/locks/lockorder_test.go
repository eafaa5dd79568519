//go:build lockorder

package locks

import "testing"

// TestSecondLockPanics: a goroutine may hold one mutex after the other, and not two.
func TestSecondLockPanics(t *testing.T) {
	var a, b Mutex
	a.Lock()
	a.Unlock() //nolint:staticcheck // nothing is guarded
	b.Lock()
	defer b.Unlock()
	defer func() {
		if recover() == nil {
			t.Error("a second mutex is acquired")
		}
	}()
	a.Lock()
}
