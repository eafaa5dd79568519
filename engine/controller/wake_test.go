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
		for _, field := range []string{"reassigned", "orphaned"} {
			if n := reflect.ValueOf(kept).Elem().FieldByName(field).Len(); n != want {
				t.Errorf("%s: %s holds %d, want %d", when, field, n, want)
			}
		}
	}
	ctx, handler := context.Background(), changes(kept, func(types.UID) {})
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
