package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// approvedOf is the record of a rollout that stopped and was approved.
func approvedOf(trials []Preview, digest string) Record {
	how := settings()
	how.Digest = digest
	r := Begin(trials, how, Record{}, start)
	r.approve()
	return Read(r.Record().String())
}

// approve approves the stop that there is.
func (r *Rollout) approve() { r.Approve(Approval{Stop: r.Record().Stop()}, start) }

// TestApproval: an approval is of one stop; the next one of the same folder
// wants its own.
func TestApproval(t *testing.T) {
	trials := lose(fail(ready(4), 2), 4, claim)
	r := Begin(trials, settings(), Record{}, start)
	first := r.Record()
	r.approve()
	second := r.Record()
	if first.Reason != RenderFailed || second.Reason != Deletes || first.Stop() == second.Stop() {
		t.Errorf("%s, and once that is approved by %s, %s by %s", first, first.Stop(), second, second.Stop())
	}
	other := first
	if other.Digest = "e"; other.Stop() == first.Stop() {
		t.Error("an approval is good for another folder")
	}
	for _, a := range []Approval{{Stop: "d/Deletes/x"}, {Stop: "d/NotReady", AllWaves: true},
		{Stop: "d/NotReady", Only: []string{"ns/a", "/b"}}} {
		if got := ReadApproval(a.String()); !cmp.Equal(got, a) {
			t.Errorf("%q is read as %+v", a, got)
		}
	}
}

// TestOthersDeleted: an approval of deletions is good for the very objects that
// it lists; another one of the same name wants its own.
func TestOthersDeleted(t *testing.T) {
	trials := lose(ready(3), 1, statefulSet)
	trials[0].Lost[0].UID = "old"
	r := Begin(trials, settings(), Record{}, start)
	before := r.Record()
	trials[0].Lost[0].UID, trials[0].Generation = "new", 2
	r.Choose(trials[0].resource())
	r.Previewed(trials[0])
	if r.Record().Stop() == before.Stop() || r.Record().Same(before) {
		t.Errorf("another object is listed by the same approval: %s", r.Record())
	}
	r.approve()
	if r.State() != Running {
		t.Errorf("%s", r.Record())
	}
}

// TestGoPast: an approval goes past the resources that it named, and the next
// wave waits again; how many are not ready stays on record until they are.
func TestGoPast(t *testing.T) {
	trials := ready(12)
	r := Begin(trials, settings("1", "2"), Record{}, start)
	late := start.Add(time.Hour)
	serve(r, trials, r.Step(start), Outcome{})
	r.Step(late)
	if got := r.Record(); !strings.Contains(got.Text("x"), "of 12 resources that change 1 are reached, 0 of them ready, 11 to go") {
		t.Errorf("the counts of a stop are %s", got.Text("x"))
	}
	r.Approve(Approval{Stop: r.Record().Stop()}, late)
	if next := r.Step(late); serve(r, trials, next, Outcome{}) != 2 {
		t.Fatalf("approved, it goes on with %v", next)
	}
	if next := r.Step(late); len(next) > 0 || r.State() != Running {
		t.Fatalf("the next wave does not wait: %v, %s", next, r.Record())
	}
	told := r.Record()
	if told.NotReady != 1 || told.Forced[0] != "ns/r0000" {
		t.Errorf("%s", told)
	}
	r.Served(trials[0].resource(), Outcome{Digest: "d", Ready: true})
	if got := r.Record(); got.NotReady != 0 || got.Same(told) {
		t.Errorf("it is ready at last: %s", got)
	}
}

// TestApprovalLate: an approval is not of deletions that a later trial found
// while the rollout was stopped for something else.
func TestApprovalLate(t *testing.T) {
	trials := fail(ready(20), 2)
	r := Begin(trials, settings("100%"), Record{}, start)
	serve(r, trials, r.Step(start), Outcome{Ready: true})
	if r.Step(start); r.Record().Reason != RenderFailed {
		t.Fatalf("%s", r.Record())
	}
	again := lose(ready(1), 1, claim)[0]
	r.Previewed(again)
	if r.approve(); r.Record().Reason != Deletes {
		t.Errorf("%s", r.Record())
	}
	if len(r.Step(start)) > 0 || r.Choose(again.resource()).New {
		t.Error("the new version serves it without approval")
	}
}

// TestApprovedIsNotMore: an approval of deletions is not one of those that a later
// preview finds once the rollout goes on.
func TestApprovedIsNotMore(t *testing.T) {
	trials := lose(ready(3), 1, statefulSet)
	r := Begin(trials, settings(), Record{}, start)
	r.approve()
	r.Step(start)
	more := trials[2]
	more.Generation, more.Lost = 2, []Child{{GroupKind: statefulSet, Namespace: "ns", Name: "more"}}
	r.Choose(more.resource())
	r.Previewed(more)
	if got := r.Record(); got.State != Stopped || got.Reason != Deletes || got.Deleted == 0 {
		t.Errorf("it goes on: %s", got)
	}
}

// TestPicked: single resources are moved, with what is deleted of them, while the
// rollout stays stopped, also after a restart.
func TestPicked(t *testing.T) {
	trials := lose(ready(3), 3, statefulSet)
	r := Begin(trials, settings(), Record{}, start)
	before := r.Record()
	r.Approve(ReadApproval(Approval{Stop: before.Stop(), Only: []string{"ns/r0001", "ns/none"}}.String()), start)
	moved := func(r *Rollout) {
		t.Helper()
		for i, trial := range trials {
			if got := r.Choose(trial.resource()).New; got != (i == 1) {
				t.Errorf("the new version serves resource %d: %v", i, got)
			}
		}
	}
	if now := r.Record(); r.State() != Stopped || now.Deleted != 2 || now.Same(before) {
		t.Errorf("%s", now)
	}
	moved(Begin(trials, settings(), Read(r.Record().String()), start))
	moved(r)
	if err := r.MayDelete(trials[1].resource(), trials[1].Lost[0]); err != nil {
		t.Error(err)
	}
	trials[1].Lost = append(trials[1].Lost, Child{GroupKind: statefulSet, Name: "more"})
	if Begin(trials, settings(), Read(r.Record().String()), start).Choose(trials[1].resource()).New {
		t.Error("it is moved although it loses more than was approved")
	}
}
