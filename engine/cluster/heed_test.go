package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// TestRestoreIsNotMissed: after a watch that did not last its time, none begins before
// the server has told which versions it has: one from a version that the server has yet
// to reach would deliver nothing. After one that did, nothing is asked.
func TestRestoreIsNotMissed(t *testing.T) { synctest.Test(t, restoreIsNotMissed) }

func restoreIsNotMissed(t *testing.T) {
	down, busy := errors.New("no connection"), errors.New("too busy")
	var listed, watched error
	now, begun, asked := "50", 0, 0
	source := heedRestores(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			asked++
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: now}}, listed
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			begun++
			return watch.NewEmptyWatch(), watched
		},
	}).(*cache.ListWatch)
	begins := func(when string, asks, begins int) error {
		t.Helper()
		begun, asked = 0, 0
		_, err := source.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "100", TimeoutSeconds: ptr.To[int64](300)})
		if begun != begins || asked != asks {
			t.Errorf("%s: asks %d times and begins %d watches, want %d and %d", when, asked, begun, asks, begins)
		}
		return err
	}
	if err := begins("at first", 0, 1); err != nil {
		t.Error(err)
	}
	time.Sleep(300*time.Second + time.Millisecond)
	if err := begins("after its time", 0, 1); err != nil {
		t.Error(err)
	}
	time.Sleep(299 * time.Second) // a whole outage may pass between two tries
	if err := begins("before its time", 1, 0); !apierrors.IsResourceExpired(err) {
		t.Error(err)
	}
	if _, err := source.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	watched = down
	if err := begins("after a list", 0, 1); !errors.Is(err, down) {
		t.Error(err)
	}
	watched, listed = nil, busy
	if err := begins("while it cannot be told", 1, 0); !errors.Is(err, busy) {
		t.Error(err)
	}
	listed = nil
	if err := begins("once it is told", 1, 0); !apierrors.IsResourceExpired(err) {
		t.Error(err)
	}
	now = "100"
	if err := begins("when nothing went back", 1, 1); err != nil {
		t.Error(err)
	}
	time.Sleep(310 * time.Second) // it ended before, and the reflector waited
	if err := begins("some time after its time", 1, 1); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Hour) // a machine that slept
	if err := begins("long after its time", 1, 1); err != nil {
		t.Error(err)
	}
}
