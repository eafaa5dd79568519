package live

import (
	"errors"
	"fmt"
	"testing"
)

// TestComing: what is only waited for is told apart from what somebody must mend.
func TestComing(t *testing.T) {
	forbidden := &RuleError{Verbs: []string{"list"}, Err: errors.New("forbidden")}
	for name, c := range map[string]struct {
		state State
		want  bool
	}{
		"not asked for yet":   {State{}, true},
		"being listed":        {State{Err: fmt.Errorf("pods: %w", ErrNotYet)}, true},
		"forbidden":           {State{Err: forbidden}, false},
		"known":               {State{Phase: Synced}, false},
		"known, and troubled": {State{Phase: Synced, Err: ErrNotYet}, false},
		"not served":          {State{Phase: NotServed, Err: ErrNotServed}, false},
	} {
		if got := c.state.Coming(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
