package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A writer writes documents with other values, as far as it may.
type writer struct {
	attempts  Attempts
	now, last time.Time
	cause     string
	writes    int
	held      time.Duration
}

var echoKey = Key{Operation: OpRepeat, Ref: Ref{Name: "child"}}

// write has a document with this value written after a while, if it may be.
func (w *writer) write(after time.Duration, value any) bool {
	w.now = w.now.Add(after)
	content := Content{Hash: fmt.Sprint(value), Document: map[string]any{"data": map[string]any{"value": value}}, Cause: w.cause}
	if w.held = w.attempts.FollowRepeat(echoKey, content, w.last, w.now); w.held == 0 {
		w.writes++
		w.last = w.now
	}
	return w.held == 0
}

// TestEchoIsReported: what changes because it was written, and only then, is written less
// and less often, and reported with its field; another generation is written at once.
func TestEchoIsReported(t *testing.T) {
	w := &writer{attempts: Attempts{}, now: start, cause: "1@a"}
	value := 0
	for end := w.now.Add(time.Hour); w.now.Before(end); {
		if w.write(max(w.held, 100*time.Millisecond), value) {
			value++
		}
	}
	p, due := w.attempts.Oscillation(echoKey, "ConfigMap a", func() string { return "map.yaml:1" }, w.now)
	if w.writes > 40 || p == nil || due == 0 || !strings.Contains(p.Message, "ConfigMap a: data.value changes again") {
		t.Errorf("%d writes in an hour; it is reported as %v, and looked at again in %s", w.writes, p, due)
	}
	w.cause = "2@a"
	if w.write(0, value+1); w.held > 0 {
		t.Error("another generation is not written at once")
	}
	if p, _ := w.attempts.Oscillation(echoKey, "ConfigMap a", func() string { return "map.yaml:1" }, w.now); p != nil {
		t.Errorf("another generation is reported: %v", p)
	}
}

// TestProgressIsNoEcho: what follows from children that are created is written at once.
func TestProgressIsNoEcho(t *testing.T) {
	w := &writer{attempts: Attempts{}, now: start}
	for value := range 100 {
		w.attempts.ForgetRepeats()
		if !w.write(time.Second, value) {
			t.Fatalf("what follows from child %d is held back", value)
		}
	}
}
