package controller

import (
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// TestPanicOfTrial: a preview that panics says so of its resource, and the others
// are tried.
func TestPanicOfTrial(t *testing.T) {
	c := unserved()
	c.serve("new")
	r := &kindController{name: "things.example.com", versions: c.kindVersions}
	r.reconciler = reconcile.New(r.name, apischema.GroupVersionKind{}, nil, reconcile.Cluster{}) // whoever asks it panics
	tried, pending := r.previewOne(t.Context(), versionOf("new"), thing("a"))
	if pending || !strings.Contains(tried.Failure, "panic") || tried.UID != "a" {
		t.Errorf("got %+v, %v", tried, pending)
	}
}

// TestPanicOfLoad: a folder whose load panics is broken.
func TestPanicOfLoad(t *testing.T) {
	o := assembleParts(&process{})
	if k, err := o.manager.compileFolder(&folder.Folder{Name: "things.example.com"}, nil); k != nil || panics.In(err) == nil {
		t.Errorf("got %v, %v", k, err)
	}
}

// TestPanicOfSettle: a kind that cannot be settled does not end the process.
func TestPanicOfSettle(t *testing.T) {
	o := readOperator(Options{})
	if _, err := o.manager.syncSafely(t.Context(), "things.example.com"); panics.In(err) == nil {
		t.Errorf("got %v", err)
	}
}

// TestPanicOfEvent: a resource whose change cannot be taken is looked at all the
// same.
func TestPanicOfEvent(t *testing.T) {
	_, r := waking(t, known(t, "things.example.com"))
	r.reconciler = nil // whoever asks it panics
	r.takeChange(cluster.Change{After: packed(t, `{"metadata":{"name":"a","deletionTimestamp":"1970-01-01T00:00:01Z"}}`)})
	if q := *r.queue.Load(); q.Len() != 1 {
		t.Errorf("%d resources are in the queue", q.Len())
	}
}

// TestPanicOfLook: the slow look at one kind of object that panics does not keep
// it from the next.
func TestPanicOfLook(t *testing.T) {
	r := &kindController{name: "things.example.com", versions: newKindVersions(nil, nil)}
	v := versionOf("now")
	v.Children = map[apischema.GroupVersionKind]live.Need{{Kind: "A"}: live.Body, {Kind: "B"}: live.Body}
	r.versions.versions = []servedVersion{{version: v}}
	assembleParts(&process{}).runner.resyncKind(t.Context(), r) // there is nothing to look with
}
