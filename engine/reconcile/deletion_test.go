package reconcile

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

const (
	oneRole  = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: role}\nrules: [{verbs: [get]}]\n"
	farKinds = nodes + "- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n"

	deleteNode = "delete nodes node"
	deleteRole = "delete clusterroles role"
	deleteOne  = "delete configmaps default/one"
)

var roleKind = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}

// withFarChildren has the ConfigMaps one and two, and a Node and a ClusterRole that the
// garbage collector does not reach from their resource.
var withFarChildren = map[string]string{"kind.yaml": farKinds, "one.yaml": oneMap, "two.yaml": twoMap, "node.yaml": oneNode, "role.yaml": oneRole}

// with returns the files, changed.
func with(files map[string]string, changes ...string) map[string]string {
	all := maps.Clone(files)
	for i := 0; i < len(changes); i += 2 {
		all[changes[i]] = changes[i+1]
	}
	return all
}

// forge applies a ConfigMap as somebody who may write ConfigMaps does, so that it looks
// like a child of the thing without an owner reference.
func (w *world) forge(name string) {
	w.server.Apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "default",
			"labels":      map[string]any{api.LabelOwnerUID: string(w.resource.GetUID())},
			"annotations": map[string]any{api.AnnotationOwner: things + "/default/a", api.AnnotationFile: "one"}},
	}}, api.FieldManager)
}

// strip takes the owner references off a ConfigMap, as the garbage collector does when it
// orphans it.
func (w *world) strip(name string) {
	w.server.Change(w.server.Get(mapKind, "default", name), "garbage-collector", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
}

// collect deletes ConfigMaps that refer to the thing, as the garbage collector does in a
// foreground deletion.
func (w *world) collect() {
	for _, o := range w.server.All(mapKind) {
		if len(o.GetOwnerReferences()) > 0 {
			w.server.Delete(o)
		}
	}
}

// deleted deletes the thing with a finalizer of the garbage collector, or "".
func (w *world) deleted(finalizer string) {
	if finalizer != "" {
		w.edit(func(o *unstructured.Unstructured) { o.SetFinalizers(append(o.GetFinalizers(), finalizer)) })
	}
	w.server.Delete(w.resource)
	w.now = time.Now()
}

// collected takes that finalizer off, as the garbage collector does when it is done.
func (w *world) collected() {
	w.edit(func(o *unstructured.Unstructured) { o.SetFinalizers([]string{api.Finalizer}) })
}

// restart forgets what the Reconciler knows, as a new process does.
func (w *world) restart() { w.r.End() }

// unlisted lets nobody list a kind; nil: they may again.
func (w *world) unlisted(gvk ...schema.GroupVersionKind) { w.unknown = gvk }

// TestDeletionOfForgedChild plays deletions of a thing beside a ConfigMap that somebody
// forged: the children that the garbage collector does not reach are deleted all the same.
func TestDeletionOfForgedChild(t *testing.T) {
	for name, play := range map[string]func(w *world){
		"plain": func(w *world) { w.deleted("") },
		"in the foreground": func(w *world) {
			w.deleted(metav1.FinalizerDeleteDependents)
			w.turn()
			w.collect()
			w.collected()
		},
		"in the foreground, which nobody saw": func(w *world) {
			w.deleted(metav1.FinalizerDeleteDependents)
			w.collect()
			w.collected()
			w.restart()
		},
		"in the foreground, which nobody saw, in place of a child": func(w *world) {
			w.deleted(metav1.FinalizerDeleteDependents)
			w.collect()
			w.forge("one")
			w.collected()
			w.restart()
		},
		"after the first pass, and a restart": func(w *world) {
			w.server.Refuse = refusing(answered(503, metav1.StatusReasonServiceUnavailable, "etcd"), "delete")
			w.deleted("")
			w.turn()
			w.server.Refuse = nil
			w.collect()
			w.restart()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withFarChildren)
			w.settle()
			w.forge("forged")
			play(w)
			w.settleDeletion()
			for _, o := range []*unstructured.Unstructured{w.server.Get(nodeKind, "", "node"), w.server.Get(roleKind, "", "role")} {
				if o != nil {
					t.Errorf("%s %s is there still", o.GetKind(), o.GetName())
				}
			}
		})
	}
}

// settleDeletion reconciles until the thing is gone.
func (w *world) settleDeletion() {
	w.Helper()
	for range 20 {
		w.turn()
		if w.server.Get(thingKind, "default", "a") == nil {
			return
		}
		w.now = w.now.Add(time.Minute)
	}
	w.Fatal("the thing is there still")
}

// TestDeletionRecordsOrphaning: what a deletion in several passes has decided is recorded
// before anything is deleted.
func TestDeletionRecordsOrphaning(t *testing.T) {
	w := newWorld(t, withFarChildren)
	w.settle()
	w.deleted("")
	w.sends("when it is deleted", patchThing, deleteRole, deleteNode)
	w.sends("when both are gone", patchThing)
}

// TestDeletionWithDeleteOrder: a forged child does not end an ordered deletion.
func TestDeletionWithDeleteOrder(t *testing.T) {
	w := newWorld(t, with(withFarChildren, "kind.yaml", farKinds+"deletionOrder: [one]\n"))
	w.settle()
	w.forge("forged")
	w.deleted("")
	w.sends("when it is deleted", patchThing, deleteOne)
	w.restart()
	w.sends("when the first is gone, after a restart", deleteRole, deleteNode)
	w.sends("when all are gone", patchThing)
}

// TestInferredOrphaning: where the garbage collector appears to have orphaned the
// children, they stay, but for permissions outside of the namespace.
func TestInferredOrphaning(t *testing.T) {
	w := newWorld(t, withFarChildren)
	w.settle()
	w.told()
	w.deleted("")
	w.strip("one")
	w.strip("two")
	w.sends("when it is deleted", patchThing, deleteRole)
	w.restart()
	w.sends("when the role is gone", patchThing)
	if w.server.Get(nodeKind, "", "node") == nil {
		t.Error("the Node is gone")
	}
	events := w.told()
	if len(events) != 1 || !strings.HasPrefix(events[0], "Warning OrphaningInferred") ||
		!strings.Contains(events[0], "ClusterRole role") || !strings.Contains(events[0], "ConfigMap default/one, ConfigMap default/two, Node node") {
		t.Errorf("the events are %q", events)
	}
}

// TestOrphaningWaitsForKinds: while the children of a kind are not known, nothing is
// inferred and only permissions go, and what the status names is still known afterwards.
func TestOrphaningWaitsForKinds(t *testing.T) {
	for name, c := range map[string]struct {
		stripped []string
		node     bool
	}{
		"all are orphaned": {[]string{"one", "two"}, true},
		"one is not":       {[]string{"one"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, with(withFarChildren, "job.yaml", strings.Replace(plainJob, "NAME", "job", 1)))
			w.settle()
			w.server.Change(w.server.Get(plan.JobKind, "default", "job"), "garbage-collector", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
			w.deleted("")
			w.unlisted(mapKind)
			for _, name := range c.stripped {
				w.strip(name)
			}
			if sent := w.turn(); !slices.Contains(sent, deleteRole) || slices.Contains(sent, deleteNode) || slices.Contains(sent, patchThing) {
				t.Errorf("while ConfigMaps are not known it sends %q", sent)
			}
			w.unlisted()
			w.restart()
			w.settleDeletion()
			if got := w.server.Get(nodeKind, "", "node") != nil; got != c.node {
				t.Errorf("the Node is there: %v", got)
			}
		})
	}
}

// TestOrphaningOfRestoredCopy: the record of a resource that was deleted before does not
// bind a copy of it.
func TestOrphaningOfRestoredCopy(t *testing.T) {
	w := newWorld(t, withFarChildren)
	w.edit(func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{api.AnnotationOrphaned: "true/uid-of-before"})
	})
	w.settle()
	w.deleted("")
	w.settleDeletion()
	if w.server.Get(nodeKind, "", "node") != nil {
		t.Error("the Node is there still")
	}
}

// TestOrphanRequested: with the finalizer orphan, or on-delete: keep, everything stays,
// permissions included, also if the deletion takes several passes.
func TestOrphanRequested(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"finalizer": func(w *world) {
			w.deleted(metav1.FinalizerOrphanDependents)
			w.turn()
			w.collected()
		},
		"annotation": func(w *world) {
			w.edit(func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{api.AnnotationOnDelete: "keep"})
			})
			w.deleted("")
			w.turn()
			w.edit(func(o *unstructured.Unstructured) {
				all := o.GetAnnotations()
				delete(all, api.AnnotationOnDelete)
				o.SetAnnotations(all)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withFarChildren)
			w.settle()
			w.unlisted(mapKind) // so it takes several passes
			begin(w)
			w.unlisted()
			w.restart()
			w.settleDeletion()
			if w.server.Get(nodeKind, "", "node") == nil || w.server.Get(roleKind, "", "role") == nil {
				t.Error("a child is gone")
			}
		})
	}
}

// TestOrphaningNotRecorded: nothing is deleted before the decision is on record.
func TestOrphaningNotRecorded(t *testing.T) {
	w := newWorld(t, withFarChildren)
	w.settle()
	w.deleted("")
	w.server.Refuse = refusing(answered(503, metav1.StatusReasonServiceUnavailable, "etcd"), patchThing)
	w.sends("when it cannot be recorded", patchThing, applyStatus)
	w.says("when it cannot be recorded", "RecordFailed")
	w.server.Refuse = nil
	w.settleDeletion()
	if w.server.Get(nodeKind, "", "node") != nil {
		t.Error("the Node is there still")
	}
}

// TestUnreferencedChildren: a child without owner reference is named when its resource goes,
// since nobody deletes it.
func TestUnreferencedChildren(t *testing.T) {
	w := newWorld(t, withFarChildren)
	w.settle()
	w.told()
	w.deleted("")
	w.strip("one")
	w.settleDeletion()
	if events := w.told(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning ChildrenNotDeleted") ||
		!strings.Contains(events[0], ": ConfigMap default/one;") {
		t.Errorf("the events are %q", events)
	}
}

// TestReferencesAfterKeep: an event tells when the children have lost or got back their
// owner references, after on-delete: keep was set or removed.
func TestReferencesAfterKeep(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
	w.settle()
	w.told()
	for _, c := range []struct{ value, event string }{
		{"keep", "Normal OwnerReferencesRemoved"}, {"", "Normal OwnerReferencesRestored"},
	} {
		w.edit(func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{api.AnnotationOnDelete: c.value})
			_ = unstructured.SetNestedField(o.Object, "edited with "+c.value, "spec", "name")
		})
		w.server.Refuse = refusing(answered(503, metav1.StatusReasonServiceUnavailable, "etcd"), applyTwo)
		w.turn()
		if events := w.told(); slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, c.event) }) {
			t.Errorf("with %q, before all is written, the events are %q", c.value, events)
		}
		w.server.Refuse = nil
		w.now = w.now.Add(time.Minute)
		w.settle()
		if events := w.told(); !slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, c.event) }) {
			t.Errorf("with %q the events are %q", c.value, events)
		}
	}
}
