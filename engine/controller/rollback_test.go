package controller

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// TestRollbackOnRecord: the record names the request of a rollback with the first rollout
// that serves it, and not before, so that nobody takes an earlier one for its end.
func TestRollbackOnRecord(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "1"}}, State: rollout.Complete}
	crd := &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationChildKinds: "ConfigMap", api.AnnotationRollout: record.String()}}
	c := newVersionTracker(func() bool { return false })
	set := func(digest, rollback string) {
		crd.Annotations[api.AnnotationRollback] = rollback
		v := versionOf(digest)
		v.Kind.CRD.Object = &apiextensionsv1.CustomResourceDefinition{}
		c.setVersion(v, pastOf(crd, v, shard.Shard{}))
	}
	set("1", "")
	set("0", "0 1 asked")
	if now, changed := c.announced(); changed {
		t.Errorf("while it is tried, the record becomes %s", now)
	}
	try(c)
	if now := c.written; now.Rollback != "asked" || now.State != rollout.Running {
		t.Errorf("once it is rolled out, the record is %s", now)
	}
	for _, name := range []string{"a", "b"} {
		c.choose(thing(name))
		c.served(thing(name), reconcile.Outcome{Version: c.targetRevision().version, Ready: true})
		c.rollout.Step(time.Now())
	}
	now, _ := c.announced()
	if now.Rollback != "asked" || now.State != rollout.Complete || now.Target().Digest != "0" {
		t.Errorf("at its end the record is %s", now)
	}
	c.acceptRecord(now)
	crd.Annotations[api.AnnotationRollout] = now.String()
	if now, changed := c.announced(); changed {
		t.Errorf("it is written again: %s", now)
	}
	set("0", "0 2 again") // the folder was another one, and nothing is to be changed
	if now, changed := c.announced(); !changed || now.Rollback != "again" || now.State != rollout.Complete {
		t.Errorf("asked again, the record is %s", now)
	}
	set("0", "")
	if now, changed := c.announced(); !changed || now.Rollback != "" {
		t.Errorf("once it is over, the record is %s", now)
	}
}

// TestRollbackOnRecordAtStart: an operator begins with a folder that it never served, from
// which a person rolled back, and there was no rollout yet.
func TestRollbackOnRecordAtStart(t *testing.T) {
	crd := &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationChildKinds: "ConfigMap", api.AnnotationRolledOut: "0",
		api.AnnotationRollback: "0 1 asked"}}
	c, v := newVersionTracker(func() bool { return false }), versionOf("0")
	c.setVersion(v, pastOf(crd, v, shard.Shard{}))
	now, changed := c.announced()
	if !changed || now.Rollback != "asked" || now.State != rollout.Complete || now.Target().Digest != "0" {
		t.Errorf("the record is %s", now)
	}
	c.acceptRecord(now)
	if now, changed := c.announced(); changed {
		t.Errorf("it is written again: %s", now)
	}
}
