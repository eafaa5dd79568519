package controller

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
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
