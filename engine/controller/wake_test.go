package controller

import (
	"context"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// leaver is a resource with a uid that was served before, and is deleted so that
// its children stay.
func leaver(uid types.UID) *unstructured.Unstructured {
	o := thing("a")
	o.SetUID(uid)
	o.SetFinalizers([]string{api.Finalizer, metav1.FinalizerOrphanDependents})
	at := metav1.Unix(1, 0)
	o.SetDeletionTimestamp(&at)
	return o
}

// TestUnseenIsForgotten: of resources that come and go before they are ever
// looked at, nothing is kept.
func TestUnseenIsForgotten(t *testing.T) {
	kept := reconcile.New("webs.example.com", schema.GroupVersionKind{}, nil, reconcile.Cluster{})
	holds := func(when string, want int) {
		t.Helper()
		for _, field := range []string{"arrivals", "deletions"} {
			if n := reflect.ValueOf(kept).Elem().FieldByName(field).Len(); n != want {
				t.Errorf("%s: %s holds %d, want %d", when, field, n, want)
			}
		}
	}
	ctx, handler := context.Background(), newEventHandler(kept, func(types.UID) {})
	q := priorityqueue.New[ctrl.Request]("things")
	defer q.ShutDown()
	handler.Create(ctx, event.CreateEvent{Object: leaver("1")}, q)
	handler.Update(ctx, event.UpdateEvent{ObjectOld: leaver("1"), ObjectNew: leaver("1")}, q)
	holds("it came", 1)
	handler.Update(ctx, event.UpdateEvent{ObjectOld: leaver("1"), ObjectNew: leaver("2")}, q)
	holds("another one took its place", 1)
	handler.Delete(ctx, event.DeleteEvent{Object: leaver("2")}, q)
	holds("that one is gone", 0)
}

// named is a portion with resources of these names in the namespace served.
func named(t *testing.T, names ...string) *portion {
	t.Helper()
	p := &portion{namespace: "served", told: func() {}, listed: func() {}}
	var list []*live.Packed
	for _, name := range names {
		o, err := live.Pack([]byte(`{"metadata": {"namespace": "served", "name": "` + name + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	p.replaceAll(list, everything())
	return p
}

// TestOthersAreNotWoken: an object of which an annotation names a resource wakes
// this one if the operator serves it, and nobody else's.
func TestOthersAreNotWoken(t *testing.T) {
	const webs = "webs.example.com"
	o := defining(t)
	r := &kindController{name: webs, resources: portions{named(t, "ours")},
		reconciler: reconcile.New(webs, schema.GroupVersionKind{}, nil, reconcile.Cluster{})}
	q := priorityqueue.New[ctrl.Request]("things")
	defer q.ShutDown()
	r.queue.Store(&q)
	o.stateOf(webs).controller = r
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
