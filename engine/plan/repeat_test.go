package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var then = time.Unix(1e9, 0)

// TestRepeat covers single changes after a number of writes that each followed the one
// before by a second.
func TestRepeat(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes int
		// after is when the content changes, since the last write. If that is held back,
		// then is when it is looked at again, with the hash again.
		after, then time.Duration
		again       string
		// other is when something else of the resource was written, since the last write.
		other    time.Duration
		wantHeld bool
		wants    int // tries
	}{
		{name: "the first change", writes: 1, after: time.Second, wants: 1},
		{name: "the fifth change", writes: 5, after: time.Second, wants: 5},
		{name: "the sixth change", writes: 6, after: time.Second, wantHeld: true, wants: 6},
		{name: "long after our write", writes: 6, after: 4 * time.Second},
		{name: "after another write of ours", writes: 6, after: 4 * time.Second, other: 2 * time.Second, wants: 5},
		{name: "unchanged while held back", writes: 6, after: time.Second, then: 500 * time.Millisecond, again: "held", wantHeld: true, wants: 6},
		{name: "held back for long enough", writes: 6, after: time.Second, then: time.Second, again: "held", wants: 6},
		{name: "another echo of the same write", writes: 6, after: time.Second, then: 500 * time.Millisecond, again: "new", wantHeld: true, wants: 6},
		{name: "as it was written, while held back", writes: 6, after: time.Second, then: 500 * time.Millisecond, again: "h6", wants: 6},
		{name: "changed by others while held back", writes: 7, after: time.Second, then: 2500 * time.Millisecond, again: "new"},
		{name: "perhaps by another write while held back", writes: 7, after: time.Second, then: 2500 * time.Millisecond, again: "new",
			other: 2 * time.Second, wantHeld: true, wants: 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Repeat{Tries: max(tt.writes-1, 0), Hash: fmt.Sprint("h", tt.writes), Written: then}
			last := then.Add(tt.other)
			r = r.Follow("held", last, then.Add(tt.after))
			if tt.again != "" {
				r = r.Follow(tt.again, last, then.Add(tt.after+tt.then))
			}
			if r.IsHeld() != tt.wantHeld || r.Tries != tt.wants {
				t.Errorf("held is %v after %d tries, want %v, %d", r.IsHeld(), r.Tries, tt.wantHeld, tt.wants)
			}
		})
	}
}

// A story is what happens to what a template reads: edits of others at these times, and
// what a controller copies back this long after each write of ours.
type story struct {
	edits []time.Duration
	echo  func(*rand.Rand) []time.Duration
	// delay is how late our watch is at most.
	delay time.Duration
}

// An outcome is what became of it.
type outcome struct {
	writes      int
	late        time.Duration // of the edit that arrived last
	oscillating time.Duration // when it was first called so; 0: never
}

// play simulates a resource whose content changes with each event of the story.
func (s story) play(seed uint64, until time.Duration) (out outcome) {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
	arrival := func(at time.Duration) time.Duration { return at + time.Duration(random.Float64()*float64(s.delay)) }
	const none = time.Duration(-1)
	// changes are the times at which our watch delivers something, and of which edit.
	changes := map[time.Duration]time.Duration{}
	for _, at := range s.edits {
		changes[arrival(at)] = at
	}
	var r Repeat
	var waiting []time.Duration // edits that are not written yet
	for content := 0; ; {
		at := none
		for next := range changes {
			if at == none || next < at {
				at = next
			}
		}
		if r.IsHeld() && (at == none || r.Next.Before(then.Add(at))) {
			at = r.Next.Sub(then)
		}
		if at == none || at > until {
			break
		}
		if edited, changed := changes[at]; changed {
			content++
			if edited != none {
				waiting = append(waiting, edited)
			}
			delete(changes, at)
		}
		r = r.Follow(fmt.Sprint(content), r.Written, then.Add(at))
		if r.IsOscillating() && out.oscillating == 0 {
			out.oscillating = max(at, 1)
		}
		if r.IsHeld() {
			continue
		}
		out.writes++
		for _, edited := range waiting {
			out.late = max(out.late, at-edited)
		}
		waiting = nil
		if s.echo != nil {
			for _, after := range s.echo(random) {
				changes[arrival(at+after)] = none
			}
		}
	}
	if len(waiting) > 0 {
		out.late = max(out.late, until-waiting[0])
	}
	return out
}

// every returns n times at intervals, after the last of some times.
func every(interval time.Duration, n int, after ...time.Duration) []time.Duration {
	for range n {
		after = append(after, cmp.Or(slices.Max(append(after, 0)), 0)+interval)
	}
	return after
}

// bursts are n edits within a while, again and again.
func bursts(interval, within time.Duration, n int) (all []time.Duration) {
	for at := time.Duration(0); at < 5*time.Minute; at += interval {
		for i := range n {
			all = append(all, at+within*time.Duration(i)/time.Duration(n))
		}
	}
	return all
}

const millisecond, second = time.Millisecond, time.Second

// TestEditsAreNoEcho: whatever others do to what a template reads, no edit arrives later
// than five seconds, and nothing is called Oscillating.
func TestEditsAreNoEcho(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	irregular := func(mean time.Duration) (all []time.Duration) {
		for at := time.Duration(0); at < 10*time.Minute; at += time.Duration(random.ExpFloat64() * float64(mean)) {
			all = append(all, at)
		}
		return all
	}
	nodes := slices.Concat(every(40*millisecond, 30), []time.Duration{60 * second, 61 * second, 62 * second, 63 * second})
	stories := map[string]story{
		"every 2.5 s":                        {edits: every(2500*millisecond, 240)},
		"every 5 s":                          {edits: every(5*second, 120)},
		"every second":                       {edits: every(second, 300)},
		"every 3 s":                          {edits: every(3*second, 200)},
		"every 4 s":                          {edits: every(4*second, 150)},
		"five a second":                      {edits: every(200*millisecond, 600)},
		"seven every 2.5 s, then every 20 s": {edits: every(20*second, 20, every(2500*millisecond, 7)...)},
		"30 Nodes join, two lose and regain a label":  {edits: nodes},
		"at random, every second":                     {edits: irregular(second)},
		"at random, every 2 s":                        {edits: irregular(2 * second)},
		"at random, every 4 s":                        {edits: irregular(4 * second)},
		"two at once, every 7 s":                      {edits: bursts(7*second, 3*second, 2)},
		"ten within two seconds, every 6 s":           {edits: bursts(6*second, 2*second, 10)},
		"ten within three seconds, every 7 s":         {edits: bursts(7*second, 3*second, 10)},
		"ten within a second, every 4 s":              {edits: bursts(4*second, second, 10)},
		"five within half a second, every 5.5 s":      {edits: bursts(5500*millisecond, 500*millisecond, 5)},
		"ten within three seconds, every eight":       {edits: bursts(8*second, 3*second, 10)},
		"twenty within a second, every ten seconds":   {edits: bursts(10*second, second, 20)},
		"three within two seconds, every 6.5 seconds": {edits: bursts(6500*millisecond, 2*second, 3)},
	}
	for name, s := range stories {
		for _, s.delay = range []time.Duration{0, 200 * millisecond, second} {
			t.Run(fmt.Sprint(name, ", watch ", s.delay), func(t *testing.T) {
				for seed := range uint64(30) {
					if out := s.play(seed, 11*time.Minute); out.oscillating > 0 || out.late > 5*second {
						t.Fatalf("%d: an edit arrives %s late; it is called Oscillating after %s", seed, out.late, out.oscillating)
					}
				}
			})
		}
	}
}

// TestEchoIsSlowedDown: what a controller copies back within two seconds, with a watch
// that is up to a second late, is written less and less often, and called Oscillating.
func TestEchoIsSlowedDown(t *testing.T) {
	within := func(least, most time.Duration) func(*rand.Rand) []time.Duration {
		return func(r *rand.Rand) []time.Duration {
			return []time.Duration{least + time.Duration(r.Float64()*float64(most-least))}
		}
	}
	once := []time.Duration{0}
	for name, s := range map[string]story{
		"at once":             {edits: once, echo: within(millisecond, 20*millisecond)},
		"half a second":       {edits: once, echo: within(500*millisecond, 500*millisecond), delay: second},
		"a second":            {edits: once, echo: within(second, second), delay: second},
		"up to two seconds":   {edits: once, echo: within(0, 2*second), delay: second},
		"twice":               {edits: once, echo: func(*rand.Rand) []time.Duration { return []time.Duration{100 * millisecond, 900 * millisecond} }, delay: second},
		"and one edit":        {echo: within(0, second), edits: []time.Duration{0, 7 * second}},
		"and an edit a while": {echo: within(0, second), edits: every(3*time.Minute, 20), delay: second},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				out := s.play(seed, time.Hour)
				limit := 40 + 20*len(s.edits)
				if out.oscillating == 0 || out.oscillating > 90*second+s.edits[0] || out.writes > limit {
					t.Fatalf("%d: it is called Oscillating after %s, with %d writes in an hour", seed, out.oscillating, out.writes)
				}
			}
		})
	}
}
