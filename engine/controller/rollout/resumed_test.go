package rollout

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// TestResumed: a process that comes in the middle of a rollout, and has the version
// before: what was reached is served by the new version, also if it was edited since;
// what is as the new version wants it and not as the one before was reached too.
func TestResumed(t *testing.T) {
	trials := ready(6)
	first := Begin(trials, settings("2"), Record{}, start)
	serve(first, trials, first.Step(start), Outcome{Ready: false})
	first.Step(start.Add(first.settings.Rollout.ProgressDeadline.Duration))
	if first.State() != Stopped {
		t.Fatalf("it is %s", first.Record())
	}
	record := first.Record()
	record.Reached = first.Holds().String()

	again := ready(6)
	again[0].Same = true                                    // as it was left
	again[1].Generation, again[1].Error = 2, "a read fails" // edited
	again[2].Same, again[2].Mine = true, true               // reached after the record was written
	again[3].Same = true                                    // both versions want it so
	second := Begin(again, settings("2"), Read(record.String()), start)
	for i, want := range []bool{true, true, true, false, false, false} {
		if got := second.Choose(again[i].resource()).New; got != want {
			t.Errorf("resource %d is served by the new version: %v, want %v", i, got, want)
		}
	}
	if got := second.Record(); got.State != Stopped || got.Reason != NotReady || got.Done != 3 || got.Of != 5 {
		t.Errorf("the record is %s", got)
	}
	other := record
	other.Digest = "other"
	if third := Begin(again, settings("2"), other, start); third.Choose(again[2].resource()).New {
		t.Error("the record of another folder tells what this one reached")
	}
}

// TestSince: what turned unready in the second in which a rollout began counts as made
// unready by it, though conditions tell of whole seconds; what was so before does not.
func TestSince(t *testing.T) {
	r := Record{Began: start.Add(700 * time.Millisecond)}
	if !r.since(start) || !r.since(start.Add(time.Second)) || r.since(start.Add(-time.Second)) {
		t.Error("the second in which it began counts as another one")
	}
}

// TestReachedFirst: the process that comes in the middle of a rollout waits for what was
// reached before, as for one wave, and stops if it does not become ready.
func TestReachedFirst(t *testing.T) {
	trials := ready(6)
	first := Begin(trials, settings("2"), Record{}, start)
	serve(first, trials, first.Step(start), Outcome{Ready: false})
	record := first.Record()
	record.Reached = first.Holds().String()
	for _, well := range []bool{false, true} {
		again := ready(6)
		again[1].Same = true // as it was left
		r := Begin(again, settings("2"), record, start)
		if names := r.Step(start); len(names) > 0 {
			t.Fatalf("%v are released before what was reached is looked at", names)
		}
		serve(r, again, []types.NamespacedName{named(0), named(1)}, Outcome{Ready: well})
		names := r.Step(start.Add(time.Second))
		if well != slices.Equal(names, []types.NamespacedName{named(2), named(3)}) {
			t.Errorf("what was reached is ready again: %v, and %v are released", well, names)
		}
		r.Step(start.Add(first.settings.Rollout.ProgressDeadline.Duration))
		if told := r.Record(); !well && (told.State != Stopped || told.Reason != NotReady || told.Done != 2 || told.Of != 6) {
			t.Errorf("once the time of what was reached is over: %s", told)
		}
	}
}

// TestCut: a set that has no room in a record says that something was left out.
func TestCut(t *testing.T) {
	some := SetOf([]types.UID{"a", "b"}).Join(SetOf([]types.UID{"b", "c"}))
	whole, n := some.Cut(3)
	if got := ReadSet(whole); n != 3 || got.Full() || !got.Has("a") || !got.Has("b") || !got.Has("c") || got.Has("d") {
		t.Errorf("%q of %d is read as %v", whole, n, got)
	}
	for _, most := range []int{2, 0} {
		text, n := some.Cut(most)
		got := ReadSet(text)
		if n != most || !got.Full() || !got.Join(SetOf(nil)).Full() {
			t.Errorf("%q of %d is read as %v", text, n, got)
		}
		if again, _ := got.Cut(3); again != text {
			t.Errorf("%q is written again as %q", text, again)
		}
	}
}
