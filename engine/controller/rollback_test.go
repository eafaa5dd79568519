package controller

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// TestRollbackOnRecord: the record names the request of a rollback with the first rollout
// that serves it, and not before, so that nobody takes an earlier one for its end.
func TestRollbackOnRecord(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "1"}}, State: rollout.Complete}
	c := unserved()
	c.crd.Annotations[api.AnnotationRollout] = record.String()
	c.serve("1")
	c.crd.Annotations[api.AnnotationRollback] = "0 1 asked"
	c.serve("1")
	if now, changed := c.newRecord(); changed {
		t.Errorf("while it is tried, the record becomes %s", now)
	}
	c.try()
	if now := c.record; now.Rollback != "asked" || now.State != rollout.Running {
		t.Errorf("once it is rolled out, the record is %s", now)
	}
	c.reach("a", "b")
	if now, _ := c.put(); now.Rollback != "asked" || now.State != rollout.Complete || now.Target().Digest != "0" {
		t.Errorf("at its end the record is %s", now)
	}
	if now, changed := c.newRecord(); changed {
		t.Errorf("it is written again: %s", now)
	}
	c.crd.Annotations[api.AnnotationRollback] = "0 2 again"
	c.serve("2") // the folder is another one, and nothing is to be changed
	if now, changed := c.newRecord(); !changed || now.Rollback != "again" || now.State != rollout.Complete {
		t.Errorf("asked again, the record is %s", now)
	}
	delete(c.crd.Annotations, api.AnnotationRollback)
	c.serve("0")
	if now, changed := c.newRecord(); changed || now.Rollback != "asked" {
		c.put()
	}
	if now := c.record; now.Rollback != "" {
		t.Errorf("once it is over, the record is %s", now)
	}
}

// TestRollsBackOnce: a folder with onFailure: rollback that fails is rolled back by the operator,
// also after a restart. Once released, it is tried again, and stops. Another folder may fail again.
func TestRollsBackOnce(t *testing.T) {
	c := unserved()
	c.onFailure = kind.OnFailureRollback
	c.crd.Annotations[api.AnnotationRolledOut] = "0"
	fails := func(folder string) {
		c.serve(folder)
		c.try()
		c.recordServed(thing("a"), reconcile.Outcome{Version: c.chooseVersion(thing("a")).Version, Refused: "no key"})
		c.put()
	}
	rollback := func() string { return c.crd.Annotations[api.AnnotationRollback] }
	fails("1")
	if now := c.record; rollback() != "0 1 onFailure" || now.Failed != (rollout.Failure{Digest: "1", Message: "no key"}) {
		t.Fatalf("the rollback is %q, the record %s", rollback(), now)
	}
	c.try()
	c.reach("a", "b")
	c.put()
	c.is(t, "a", "0")
	if now := c.record; now.State != rollout.Complete || now.Rollback != "onFailure" || now.Failed.Digest != "1" {
		t.Errorf("once it is rolled back, the record is %s", now)
	}

	delete(c.crd.Annotations, api.AnnotationRollback)
	fails("1")
	restarted := unserved()
	restarted.crd, restarted.onFailure = c.crd, c.onFailure
	restarted.serve("1")
	if now := restarted.record; rollback() != "" || now.State != rollout.Stopped || now.Reason != rollout.Refused || now.Failed.Digest != "1" {
		t.Errorf("once it failed again, the rollback is %q, the record %s", rollback(), now)
	}

	fails("2")
	if rollback() != "0 2 onFailure" || c.record.Failed.Digest != "2" {
		t.Errorf("once another folder failed, the rollback is %q, the record %s", rollback(), c.record)
	}
}

// TestRollbackOnRecordAtStart: an operator begins with a folder that it never served, from
// which a person rolled back, and there was no rollout yet.
func TestRollbackOnRecordAtStart(t *testing.T) {
	c := unserved()
	c.crd.Annotations[api.AnnotationRolledOut], c.crd.Annotations[api.AnnotationRollback] = "0", "0 1 asked"
	c.serve("1")
	if now, changed := c.put(); !changed || now.Rollback != "asked" || now.State != rollout.Complete || now.Target().Digest != "0" {
		t.Errorf("the record is %s", now)
	}
	if now, changed := c.newRecord(); changed {
		t.Errorf("it is written again: %s", now)
	}
}
