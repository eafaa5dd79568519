package observe

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// A feed is the running watches of a kind: one shard for each namespace that
// is watched, or one for all. It is guarded by its kind's mutex.
type feed struct {
	kind     *kind
	need     Need
	resource Resource
	shards   []*shard
	cancel   context.CancelFunc
	stopped  bool
	// ready is closed when every shard has listed, or the feed is stopped.
	ready    chan struct{}
	listings bool // ready was closed because of lists
}

// deliver runs fn under the kind's mutex and tells the outcome afterwards. A
// feed that was stopped delivers nothing any more.
func (f *feed) deliver(fn func(*outbox)) {
	k := f.kind
	k.mu.Lock()
	if f.stopped {
		k.mu.Unlock()
		return
	}
	o := k.outbox()
	o.mute = f != k.current
	before := k.state()
	fn(o)
	o.turned(before, k.state())
	k.mu.Unlock()
	k.told(o)
}

// listed makes the feed ready once every shard has listed, and puts it in the
// place of the feed that it is to follow.
func (f *feed) listed(o *outbox) {
	if f.listings || !f.synced() {
		return
	}
	f.listings = true
	close(f.ready)
	k := f.kind
	if f == k.current {
		o.synced = true
		return
	}
	before, last := k.view(), k.current
	k.current, k.next = f, nil
	for _, s := range f.shards {
		k.stands.settle(s)
	}
	o.mute, o.synced = false, last.need < f.need
	o.differences(before, k.view())
	last.stop()
}

func (f *feed) stop() {
	if f == nil || f.stopped {
		return
	}
	f.stopped = true
	f.cancel()
	if !f.listings {
		close(f.ready)
	}
}

func (f *feed) synced() bool {
	for _, s := range f.shards {
		if !s.synced {
			return false
		}
	}
	return true
}

func (f *feed) trouble() error {
	errs := make([]error, 0, len(f.shards))
	for _, s := range f.shards {
		errs = append(errs, s.err(RuleError{Resource: f.resource.GVR.GroupResource(), Namespace: s.namespace, Name: f.kind.scope.Name}))
	}
	return together(errs)
}

func (f *feed) all() map[types.NamespacedName]Live {
	all := map[types.NamespacedName]Live{}
	for _, s := range f.shards {
		maps.Copy(all, s.items)
	}
	return all
}

// run lists and watches until ctx ends, again and again with back-off.
func (f *feed) run(ctx context.Context, s *shard, source *cache.ListWatch) {
	gvk := f.resource.GVK
	var expected runtime.Object = &metav1.PartialObjectMetadata{}
	if f.need != Metadata {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		expected = u
	}
	reflector := cache.NewReflectorWithOptions(source, expected, s, cache.ReflectorOptions{Name: f.kind.watches.about, TypeDescription: gvk.String()})
	pauses := backOff()
	for ctx.Err() == nil {
		began := time.Now()
		err := reflector.ListAndWatchWithContext(ctx)
		f.deliver(func(*outbox) {
			if err != nil && ctx.Err() == nil && s.troubles == (troubles{}) {
				s.troubles.list = err
			}
		})
		if time.Since(began) > time.Minute {
			pauses = backOff()
		}
		sleep(ctx, pauses.Step())
	}
}

// backOff is the pauses between tries: half a second up to half a minute, and
// up to half as long again.
func backOff() *wait.Backoff {
	return &wait.Backoff{Duration: time.Second / 2, Factor: 2, Jitter: 0.5, Steps: 20, Cap: 30 * time.Second}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
