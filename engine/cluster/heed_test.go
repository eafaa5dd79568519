package cluster

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestRestoreIsNotMissed: after a watch could not begin, none begins before the server
// has told which versions it has: one from a version that the server has yet to reach
// would deliver nothing.
func TestRestoreIsNotMissed(t *testing.T) {
	down, busy := errors.New("no connection"), errors.New("too busy")
	var listed, watched error
	now, begun := "50", 0
	source := HeedRestores(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: now}}, listed
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			begun++
			return watch.NewEmptyWatch(), watched
		},
	})
	begins := func(when string, want int) error {
		t.Helper()
		begun = 0
		_, err := source.(*cache.ListWatch).WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "100"})
		if begun != want {
			t.Errorf("%s: %d watches begin, want %d", when, begun, want)
		}
		return err
	}
	if err := begins("at first", 1); err != nil {
		t.Error(err)
	}
	watched = down
	if err := begins("without a connection", 1); !errors.Is(err, down) {
		t.Error(err)
	}
	watched, listed = nil, busy
	if err := begins("while it cannot be told", 0); !errors.Is(err, busy) {
		t.Error(err)
	}
	listed = nil
	if err := begins("once it is told", 0); !apierrors.IsResourceExpired(err) {
		t.Error(err)
	}
	now = "100"
	if err := begins("when nothing went back", 1); err != nil {
		t.Error(err)
	}
}
