package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRollbackText: a rollback is read as it was written; what has no request was
// written by hand.
func TestRollbackText(t *testing.T) {
	for text, want := range map[string]Rollback{
		"":                      {},
		"to":                    {},
		"to from":               {To: "to", From: "from"},
		"to from asked":         {To: "to", From: "from", Request: "asked"},
		"to from asked set":     {To: "to", From: "from", Request: "asked", Approved: "set"},
		"to from asked set and": {},
	} {
		got := ParseRollback(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if got.String() != text && got != (Rollback{}) {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}

// TestRollBackByOperator: what the operator rolls back is on record until another folder is rolled
// out, also when it is released, and read as it was written.
func TestRollBackByOperator(t *testing.T) {
	a, b, c := Revision{1, "a"}, Revision{2, "b"}, Revision{3, "c"}
	back, record := Record{Revisions: []Revision{a, b}, State: Stopped, Reason: NotReady, Message: "not ready"}.RollBack()
	failed := Failure{"b", "not ready"}
	if want := (Rollback{To: "a", From: "b", Request: byOperator}); back != want || ParseRollback(back.String()) != back || !back.IsByOperator() {
		t.Errorf("the rollback is %v", back)
	}
	if record = ParseRecord(record.String()); record.Failed != failed {
		t.Errorf("the record is %s", record)
	}
	for _, tt := range []struct {
		name   string
		target Revision
		back   Rollback
		want   Record
	}{
		{"rolled back", a, back, Record{Rollback: byOperator, Failed: failed}},
		{"released", b, Rollback{}, Record{Failed: failed}},
		{"rolled back by a person", c, Rollback{To: "c", From: "b", Request: "asked"}, Record{Rollback: "asked", Failed: failed}},
		{"the folder of the revision, released", a, Rollback{}, Record{}},
		{"a third folder", c, Rollback{}, Record{}},
	} {
		got := Record{Revisions: []Revision{tt.target}}.WithRollback(tt.back, record)
		if got.Rollback != tt.want.Rollback || got.Failed != tt.want.Failed {
			t.Errorf("%s: the record is %s", tt.name, got)
		}
	}
}

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
		r := ParseRollback(tt.back)
		if applies, ends := r.AppliesTo(tt.folder), r.EndsWith(tt.folder); applies != tt.applies || ends != tt.ends {
			t.Errorf("%q and folder %s: it applies: %v, and ends: %v", tt.back, tt.folder, applies, ends)
		}
	}
}

// TestRollbackDeletesWhatIsApproved: a rollback does not stop for the deletions that were
// approved with it, and stops for one more.
func TestRollbackDeletesWhatIsApproved(t *testing.T) {
	services := schema.GroupKind{Kind: "Service"}
	set := settings()
	set.Approved = ApproveDeletions(deleting(changing(6), 5, services), func(Preview, Child) bool { return false })
	begin(set, Record{}, deleting(changing(6), 5, services)).expect(t, "what was listed", Running, "")
	s := begin(set, Record{}, deleting(changing(6), 6, services))
	s.expect(t, "one more", Stopped, Deletes)
	if now := s.Record(); now.DeletionCount != 1 || len(now.DeletionNames) != 1 || now.DeletionNames[0] != "Service ns/c005" {
		t.Errorf("it waits for %s", now.Why())
	}
}

// TestRollbackRecreatesWhatIsApproved: a child that was listed as one to be recreated may
// be deleted, its neighbour may not.
func TestRollbackRecreatesWhatIsApproved(t *testing.T) {
	previews := changing(2)
	for i := range previews {
		previews[i].Recreates = []Child{{GroupKind: claim, Namespace: "ns", Name: resource(i).Name, UID: previews[i].UID}}
	}
	set := settings()
	set.Approved = ApproveDeletions(previews, func(p Preview, _ Child) bool { return p.UID == resource(0).UID })
	s := begin(set, Record{}, previews)
	if err := s.MayDelete(resource(0), previews[0].Recreates[0]); err != nil {
		t.Error(err)
	}
	if err := s.MayDelete(resource(1), previews[1].Recreates[0]); err == nil || s.State() != Stopped {
		t.Errorf("the rollout is %s: %v", s.State(), err)
	}
}

// TestHalt: a rollout that was rolled back moves nothing while the revision to return to
// cannot be used, whatever is approved, and continues from where it was.
func TestHalt(t *testing.T) {
	const lost = "revision 1 is not kept"
	for _, isStopped := range []bool{false, true} {
		s := begin(settings(sizes("1")...), Record{}, changing(3))
		if isStopped { // the first wave waits for what cannot become ready
			s.serve(Outcome{Refused: "no"})
		}
		s.Halt(lost, s.now)
		if got := s.Record(); got.State != Stopped || !isStopped && (got.Reason != RollbackFailed || got.Text("things") != lost+" ("+got.Counts()+")") {
			t.Errorf("%s", got.Text("things"))
		}
		for range 2 {
			s.Approve(Approval{Stop: s.Record().Stop, AllWaves: true}, s.now)
			s.Halt(lost, s.now)
			s.now = s.now.Add(time.Hour)
			s.Step(s.now)
			for i, o := range s.resources {
				if s.Choose(o).Target != (isStopped && i == 0) {
					t.Errorf("resource %d is moved: stopped before: %v", i, isStopped)
				}
			}
		}
		s.Halt("", s.now)
		s.Step(s.now)
		s.run(Outcome{Ready: true})
		s.expect(t, "it is not halted any more", Complete, "")
	}
}

// TestHaltBeforeStart: a rollout that is halted while it is previewed does not begin.
func TestHaltBeforeStart(t *testing.T) {
	r := New(settings(), Record{}, start)
	r.Halt("lost", start)
	r.Observe(resource(0))
	r.Previewed(changing(1)[0])
	if r.Step(start); r.Record().Reason != RollbackFailed || r.Choose(resource(0)).Target {
		t.Errorf("it is %s", r.Record())
	}
}
