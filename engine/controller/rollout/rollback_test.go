package rollout

import (
	"testing"

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
		got := ReadRollback(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if got.String() != text && got != (Rollback{}) {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}

// TestRollbackDeletesWhatIsApproved: a rollback does not stop for the deletions that were
// approved with it, and stops for one more.
func TestRollbackDeletesWhatIsApproved(t *testing.T) {
	services := schema.GroupKind{Kind: "Service"}
	listed := lose(ready(6), 5, services)
	set := settings()
	set.Approved = ApproveDeletions(listed, func(Preview, Child) bool { return false })
	if now := Begin(listed, set, Record{}, start).Record(); now.State != Running {
		t.Errorf("it deletes what was listed, and is %s: %s", now.State, now.Why())
	}
	now := Begin(lose(ready(6), 6, services), set, Record{}, start).Record()
	if now.State != Stopped || now.Deleted != 1 || len(now.Deletes) != 1 || now.Deletes[0] != "Service ns/c0005" {
		t.Errorf("it deletes one more, and is %s: %s", now.State, now.Why())
	}
}

// TestRollbackRecreatesWhatIsApproved: a child that was listed as one to be recreated may
// be deleted, its neighbour may not.
func TestRollbackRecreatesWhatIsApproved(t *testing.T) {
	trials, claim := ready(2), schema.GroupKind{Kind: "PersistentVolumeClaim"}
	for i := range trials {
		trials[i].Replace = []Child{{GroupKind: claim, Namespace: "ns", Name: trials[i].Name.Name, UID: trials[i].UID}}
	}
	set := settings()
	set.Approved = ApproveDeletions(trials, func(p Preview, _ Child) bool { return p.Name == named(0) })
	r := Begin(trials, set, Record{}, start)
	if err := r.MayDelete(trials[0].resource(), trials[0].Replace[0]); err != nil {
		t.Error(err)
	}
	if err := r.MayDelete(trials[1].resource(), trials[1].Replace[0]); err == nil || r.State() != Stopped {
		t.Errorf("the rollout is %s: %v", r.State(), err)
	}
}
