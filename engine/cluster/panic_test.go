package cluster

import (
	"context"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
)

// panicked counts the panics that are told of children of a holder.
func panicked(t *testing.T, c *Children) *atomic.Int64 {
	t.Helper()
	var told atomic.Int64
	c.panicked = func(holders []string, err error) {
		if panics.In(err) != nil && len(holders) == 1 && holders[0] == "things.example.com" {
			told.Add(1)
		}
	}
	c.holders["things.example.com"] = map[Scope]live.Need{{GroupVersionKind: configMaps}: live.Metadata}
	return &told
}

// TestPanicOfCallback: whom a change concerns may panic; the change is taken, and
// so are those after it.
func TestPanicOfCallback(t *testing.T) {
	children, _, s := stillChildren(t)
	told := panicked(t, children)
	children.options.Changed = func(api.Owner, types.UID) { panic("a mistake") }
	for n := range 2 {
		if err := s.Update(labelled(n, "known")); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.items) != 2 || told.Load() != 2 {
		t.Errorf("%d objects are known after %d panics", len(s.items), told.Load())
	}
}

// TestPanicOfWatch: an object that cannot be taken makes its kind unknown until it
// can, and blocks nobody.
func TestPanicOfWatch(t *testing.T) {
	children, k, s := stillChildren(t)
	told := panicked(t, children)
	k.watches.log = testLog{t}
	children.options.Known = func(api.Owner, types.UID) bool {
		if told.Load() == 0 {
			panic("a mistake")
		}
		return true
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watch.newStoreLoop(ctx, s, &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &metav1.PartialObjectMetadataList{
					ListMeta: metav1.ListMeta{ResourceVersion: "5000"}, Items: []metav1.PartialObjectMetadata{*labelled(1, "known")},
				}, nil
			},
			WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				if opts.SendInitialEvents != nil {
					return nil, context.DeadlineExceeded // it gives no list
				}
				return watch.NewFake(), nil
			},
		}).Run(ctx)
	}()
	eventually(t, "known", func() bool { return children.State(configMaps).Phase == live.Synced })
	if found, err := children.Of(configMaps, "known"); len(found) != 1 || err != nil || told.Load() != 1 {
		t.Errorf("found %v, %v after %d panics", found, err, told.Load())
	}
	cancel()
	<-done
}

// A testLog takes what watches say.
type testLog struct{ *testing.T }

func (l testLog) Info(msg string, _ ...any)             { l.Log(msg) }
func (l testLog) Error(err error, msg string, _ ...any) { l.Log(msg, err) }
