package rollout

import "testing"

// TestRollbackEnds: only a folder that is neither the one that is left nor the one of the
// revision ends a rollback.
func TestRollbackEnds(t *testing.T) {
	for _, tt := range []struct {
		back, folder  string
		applies, ends bool
	}{
		{"", "old", false, false},
		{"old bad", "bad", true, false},
		{"old bad", "old", false, false},
		{"old bad", "third", false, true},
	} {
		r := ReadRollback(tt.back)
		if applies, ends := r.AppliesTo(tt.folder), r.EndsWith(tt.folder); applies != tt.applies || ends != tt.ends {
			t.Errorf("%q and folder %s: it applies: %v, and ends: %v", tt.back, tt.folder, applies, ends)
		}
	}
}

// TestHalt: a rollout that was rolled back moves nothing while the revision to return to
// cannot be used, whatever is approved, and goes on from where it was.
func TestHalt(t *testing.T) {
	trials := ready(3)
	for _, stopped := range []bool{false, true} {
		r := Begin(trials, settings("1"), Record{}, start)
		first := r.Step(start)
		if stopped { // the first wave waits for what cannot become ready
			serve(r, trials, first, Outcome{Refused: "no"})
		}
		r.Halt("revision 1 is not kept", start)
		if got := r.Record(); got.State != Stopped || !stopped && (got.Reason != RollbackFailed || got.Text("things") != got.Message+" ("+got.Counts()+")") {
			t.Errorf("%s", got.Text("things"))
		}
		for range 2 {
			r.Approve(Approval{Stop: r.Record().Stop(), AllWaves: true}, start)
			r.Halt("revision 1 is not kept", start)
			released := r.Step(after(3600))
			for i, trial := range trials {
				if r.Choose(trial.resource()).New != (stopped && i == 0) || len(released) > 0 {
					t.Errorf("resource %d is moved, or released: %v", i, released)
				}
			}
		}
		r.Halt("", start)
		for range 4 {
			for _, trial := range trials {
				if r.Choose(trial.resource()).New {
					r.Served(trial.resource(), Outcome{Digest: "d", Ready: true})
				}
			}
			r.Step(start)
		}
		if r.State() != Complete {
			t.Errorf("%s", r.Record())
		}
	}
}
