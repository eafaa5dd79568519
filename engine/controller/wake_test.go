package controller

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// leaver is a resource with a uid that was served before, and is deleted so that its children stay.
func leaver(t *testing.T, uid string) live.Object {
	t.Helper()
	return packed(t, `{"metadata":{"name":"a","uid":"`+uid+`","deletionTimestamp":"1970-01-01T00:00:01Z","finalizers":["`+api.Finalizer+`","orphan"]}}`)
}

// waking is a kind without resources whose queue takes what is woken.
func waking(t *testing.T, resources kindResources) (*Operator, *kindController) {
	t.Helper()
	o := defining(t)
	children, err := cluster.NewChildren(&rest.Config{}, cluster.ChildrenOptions{Changed: func(api.Owner, types.UID) {}})
	if err != nil {
		t.Fatal(err)
	}
	o.children = children
	r := &kindController{o: o.kindTable, name: resources.kind, resources: resources, versions: newKindVersions(nil, nil),
		reconciler: reconcile.New(resources.kind, schema.GroupVersionKind{}, nil, reconcile.Cluster{})}
	q := priorityqueue.New[ctrl.Request]("things")
	t.Cleanup(q.ShutDown)
	t.Cleanup(o.names.ShutDown)
	r.queue.Store(&q)
	o.stateOf(resources.kind).controller = r
	return o, r
}

// TestUnseenIsForgotten: of resources that come and go before they are ever
// looked at, nothing is kept.
func TestUnseenIsForgotten(t *testing.T) {
	o, r := waking(t, known(t, "webs.example.com"))
	holds := func(when string, want int) {
		t.Helper()
		for _, field := range []string{"arrivals", "deletions"} {
			if n := reflect.ValueOf(r.reconciler).Elem().FieldByName(field).Len(); n != want {
				t.Errorf("%s: %s holds %d, want %d", when, field, n, want)
			}
		}
	}
	changes := func(before, after live.Object) {
		o.wakeUps.resourceChanged(r.name, cluster.Change{Before: before, After: after})
	}
	changes(live.Object{}, leaver(t, "1"))
	changes(leaver(t, "1"), leaver(t, "1"))
	holds("it came", 1)
	changes(leaver(t, "1"), leaver(t, "2"))
	holds("another one took its place", 1)
	changes(leaver(t, "2"), live.Object{})
	holds("that one is gone", 0)
}

// TestChangesAreEnqueued: what a person changed is looked at at once, what is new in the first list
// and has a current status after all others, and what changed in its status after a while.
func TestChangesAreEnqueued(t *testing.T) {
	const status = `"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}`
	plain, current := packed(t, `{"metadata":{"name":"a","uid":"1","generation":1}}`), packed(t, `{"metadata":{"name":"a","uid":"1","generation":1},`+status+`}`)
	edited := packed(t, `{"metadata":{"name":"a","uid":"1","generation":2},`+status+`}`)
	for name, c := range map[string]struct {
		change   cluster.Change
		priority int
		waits    bool
	}{
		"it is new":                           {change: cluster.Change{After: current}},
		"it is gone":                          {change: cluster.Change{Before: current}},
		"it was edited":                       {change: cluster.Change{Before: current, After: edited}},
		"its status changed":                  {change: cluster.Change{Before: plain, After: current}, waits: true},
		"in the first list":                   {change: cluster.Change{After: plain, IsFirst: true}},
		"in the first list, edited":           {change: cluster.Change{After: edited, IsFirst: true}},
		"in the first list, and it is served": {change: cluster.Change{After: current, IsFirst: true}, priority: handler.LowPriority},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, r := waking(t, known(t, "webs.example.com"))
				q := *r.queue.Load()
				o.wakeUps.resourceChanged(r.name, c.change)
				began := time.Now()
				if _, priority, _ := q.GetWithPriority(); priority != c.priority || (time.Since(began) > 0) != c.waits {
					t.Errorf("looked at with priority %d, after %s", priority, time.Since(began))
				}
			})
		})
	}
}

// TestOthersAreNotWoken: an object of which an annotation names a resource wakes
// this one if the operator serves it, and nobody else's.
func TestOthersAreNotWoken(t *testing.T) {
	const webs = "webs.example.com"
	o, r := waking(t, known(t, webs, `{"metadata":{"namespace":"served","name":"ours"}}`))
	woken := func() int { return reflect.ValueOf(r.reconciler).Elem().FieldByName("eventAt").Len() }
	for _, of := range []api.Owner{
		{Kind: webs, Namespace: "served", Name: "gone"}, {Kind: webs, Namespace: "elsewhere", Name: "ours"},
		{Kind: "others.example.com", Namespace: "served", Name: "ours"},
	} {
		if o.wakeUps.childChanged(of, "1"); woken() != 0 {
			t.Errorf("%v is woken, and is not served here", of)
		}
	}
	if o.wakeUps.childChanged(api.Owner{Kind: webs, Namespace: "served", Name: "ours"}, "1"); woken() != 1 {
		t.Error("a resource that is served is not woken")
	}
}
