package plan

import (
	"errors"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestBackOff: the wait doubles with each failure, up to the longest one, with jitter.
func TestBackOff(t *testing.T) {
	for _, c := range []struct {
		retry Retry
		want  []time.Duration // in seconds
	}{
		{Retry{Max: time.Minute}, []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}},
		{Retry{Min: 5 * time.Second, Max: 5 * time.Minute}, []time.Duration{5, 10, 20, 40, 80, 160, 300, 300}},
		{Retry{Min: 10 * time.Minute, Max: time.Minute}, []time.Duration{600, 600}}, // as the API server asks
	} {
		a, k, now := Attempts{}, Key{Operation: OpWrite}, start
		for i, want := range c.want {
			at := a.Fail(k, "h", c.retry, now)
			if d := at.Next.Sub(now) - want*time.Second; d < 0 || d > want*time.Second/5 {
				t.Errorf("%v: after %d failures it waits %s, want %d s and up to a fifth more", c.retry, i+1, at.Next.Sub(now), want)
			}
			now = at.Next
		}
	}
}

// TestBlocking: the same content waits, other content does not, nor does another object.
func TestBlocking(t *testing.T) {
	a := Attempts{}
	k := Key{Operation: OpWrite, Ref: Ref{Name: "a"}, UID: "1"}
	a.Fail(k, "h", Retry{Max: time.Minute}, start)
	never := Key{Operation: OpWrite, Ref: Ref{Name: "b"}}
	a.Fail(never, "h", Retry{}, start)
	sent := Key{Operation: OpDelete, Ref: Ref{Name: "a"}, UID: "1"}
	a.AwaitWatch(sent)
	other := k
	other.UID = "2"
	for name, c := range map[string]struct {
		key   Key
		hash  string
		after time.Duration
		want  bool
	}{
		"the same content":            {k, "h", 500 * time.Millisecond, true},
		"the same content, later":     {k, "h", 2 * time.Second, false},
		"other content":               {k, "i", 0, false},
		"another object of this name": {other, "h", 0, false},
		"never again":                 {never, "h", time.Hour, true},
		"never again, other content":  {never, "i", 0, false},
		"sent":                        {sent, "", time.Hour, true},
	} {
		if got := a.Blocking(c.key, c.hash, start.Add(c.after)) != nil; got != c.want {
			t.Errorf("%s: it waits: %v, want %v", name, got, c.want)
		}
	}
}

// TestTriesBeginAnew: other content begins from the start, and so does the same content long
// after its time.
func TestTriesBeginAnew(t *testing.T) {
	a, k := Attempts{}, Key{Operation: OpWrite}
	for range 3 {
		a.Fail(k, "h", Retry{Max: time.Minute}, start)
	}
	if at := a.Fail(k, "i", Retry{Max: time.Minute}, start); at.Tries != 1 {
		t.Errorf("other content is tried for the %dth time", at.Tries)
	}
	at := a.Fail(k, "i", Retry{Max: time.Minute}, start)
	if at = a.Fail(k, "i", Retry{Max: time.Minute}, at.Next.Add(forgetAfter+time.Second)); at.Tries != 1 {
		t.Errorf("long after, it is tried for the %dth time", at.Tries)
	}
}

// TestForget: what is not planned any more is forgotten once its time has come: what waits for
// a reconciliation comes back.
func TestForget(t *testing.T) {
	a := Attempts{}
	planned, waits, due, other := Key{OpWrite, Ref{Name: "planned"}, ""}, Key{OpWrite, Ref{Name: "waits"}, ""},
		Key{OpWrite, Ref{Name: "due"}, ""}, Key{OpStatus, Ref{}, ""}
	for _, k := range []Key{planned, waits, due, other} {
		a.Fail(k, "", Retry{Max: time.Second}, start)
	}
	a[waits].Next = start.Add(time.Hour)
	a.Forget(map[Key]bool{planned: true}, start.Add(time.Minute), OpWrite)
	for k, want := range map[Key]bool{planned: true, waits: true, due: false, other: true} {
		if (a[k] != nil) != want {
			t.Errorf("%v is remembered: %v, want %v", k, a[k] != nil, want)
		}
	}
}

// TestReset: a person who asks to reconcile has everything tried again, but for what the API
// server said of the status.
func TestReset(t *testing.T) {
	a := Attempts{}
	for _, o := range []Operation{OpWrite, OpRecreate, OpDelete, OpRelease, OpStatus, OpMetadata} {
		a.Fail(Key{Operation: o}, "", Retry{}, start)
	}
	a.Fail(Key{Operation: OpStatusFields}, "h", Retry{}, start).Err = errors.New("refused")
	if a.Reset(); len(a) != 1 || a[Key{Operation: OpStatusFields}] == nil {
		t.Errorf("it remembers %v", a)
	}
}

// TestRefusedReleaseEnds: what cannot be released is waited for ten minutes from its first
// refusal, however often it is tried.
func TestRefusedReleaseEnds(t *testing.T) {
	for name, c := range map[string]struct {
		refused *RefusedRelease
		at      time.Duration
		want    bool
	}{
		"not refused":     {nil, time.Hour, false},
		"forbidden":       {&RefusedRelease{IsForbidden: true}, time.Hour, false},
		"just refused":    {&RefusedRelease{At: start}, 0, false},
		"not for so long": {&RefusedRelease{At: start}, 10*time.Minute - 1, false},
		"for so long":     {&RefusedRelease{At: start}, 10 * time.Minute, true},
		"after dropping":  {&RefusedRelease{At: start, IsDropped: true}, time.Hour, true},
	} {
		if got := c.refused.IsOver(start.Add(c.at)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
