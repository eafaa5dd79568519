package rollout

import "testing"

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
