package controller

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

var _ cache.TransformingStore = selecting{}

// run lists and watches what is wanted until ctx ends.
func (p *portion) run(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		chosen := p.wanted
		watching, stop := context.WithCancel(ctx)
		p.chosen = stop
		p.mu.Unlock()
		if chosen.Part == (replicas.Part{}) {
			p.isUnwatchable.Store(false)
			p.replaceAll(nil, chosen)
			<-watching.Done()
		} else {
			p.watchChosen(watching, chosen)
		}
		stop()
	}
}

// watchChosen lists and watches what is chosen until ctx ends. It begins with a quorum read: what
// was written before is in it.
func (p *portion) watchChosen(ctx context.Context, chosen choice) {
	loop := cluster.NewLoop(cluster.LoopOptions{
		Name: "resources", Source: p.recordErrors(p.source()), Expected: &live.Packed{}, Store: selecting{p, chosen},
		Failed: func(err error) {
			var silent *cluster.SilentError
			if errors.As(err, &silent) || p.trouble.Load() == nil { // of others noting knows more
				p.recordFailure(ctx, err)
			}
		},
		Guard: func(do func()) error {
			return reconcile.Guard(p.kind, "watching resources", func() error { do(); return nil })
		},
	})
	p.mu.Lock()
	p.loop = loop
	p.mu.Unlock()
	loop.Run(ctx)
}

// renewList lists the resources again at once, since their CRD changed.
func (p *portion) renewList() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loop != nil {
		p.loop.Renew()
	}
}

// recordErrors returns a source that records why lists and watches do not begin.
func (p *portion) recordErrors(of cache.ListerWatcher) cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(of)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := source.ListWithContext(ctx, opts)
			if err != nil {
				p.recordFailure(ctx, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			w, err := source.WatchWithContext(ctx, opts)
			p.isUnwatchable.Store(apierrors.IsForbidden(err))
			switch isList := opts.SendInitialEvents != nil; {
			case isList: // what this means is known when the list is in, or refused too
			case err != nil:
				p.recordFailure(ctx, err)
			default:
				p.recordRecovery()
			}
			return w, err
		},
	}
}

// A choice is what is to be known, and of which time: what was not to be known in between
// is listed again.
type choice struct {
	replicas.Part
	epoch int
}

// setWanted says what is to be known from now on.
func (p *portion) setWanted(wanted choice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted == wanted {
		return
	}
	if p.wanted = wanted; p.chosen != nil {
		p.chosen()
	}
}

// wantedChoice returns what was chosen last.
func (p *portion) wantedChoice() choice {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

func (p *portion) has(wanted choice) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.synced && p.selected == wanted
}

func (p *portion) hasSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.synced
}

// firstList returns a channel that is closed once the resources were listed.
func (p *portion) firstList() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		if p.first = make(chan struct{}); p.synced {
			close(p.first)
		}
	}
	return p.first
}

// get returns a resource, or nil; known is false before the first list.
func (p *portion) get(name cache.ObjectName) (o *live.Packed, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.items[name], p.synced
}

// listKnown returns the resources that are known.
func (p *portion) listKnown() []*live.Packed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.synced {
		return nil
	}
	return slices.Collect(maps.Values(p.items))
}

// setFollower passes to a follower all that is known, and all that changes from then on. It follows
// in the place of another one.
func (p *portion) setFollower(follower cache.ResourceEventHandler) {
	p.delivering.Lock()
	defer p.delivering.Unlock()
	known := p.listKnown()
	p.mu.Lock()
	p.follower = follower
	p.mu.Unlock()
	for _, o := range known {
		follower.OnAdd(o, true)
	}
}

// currentFollower returns the follower. Before setFollower there is none.
func (p *portion) currentFollower() cache.ResourceEventHandler {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follower == nil {
		return cache.ResourceEventHandlerFuncs{}
	}
	return p.follower
}

// putResource takes an object that a watch delivered.
func (p *portion) putResource(o *live.Packed) {
	p.delivering.Lock()
	defer p.delivering.Unlock()
	p.mu.Lock()
	name := cache.MetaObjectToName(o)
	old := p.items[name]
	p.items[name] = o
	p.mu.Unlock()
	if old == nil {
		p.currentFollower().OnAdd(o, false)
	} else {
		p.currentFollower().OnUpdate(old, o)
	}
}

// dropResource records that an object is gone.
func (p *portion) dropResource(o *live.Packed) {
	p.delivering.Lock()
	defer p.delivering.Unlock()
	p.mu.Lock()
	name := cache.MetaObjectToName(o)
	_, had := p.items[name]
	delete(p.items, name)
	p.mu.Unlock()
	if had {
		p.currentFollower().OnDelete(o)
	}
}

// replaceAll takes a whole list, and passes on how it differs from what was known.
func (p *portion) replaceAll(list []*live.Packed, chosen choice) {
	p.delivering.Lock()
	defer p.delivering.Unlock()
	items := make(map[cache.ObjectName]*live.Packed, len(list))
	for _, o := range list {
		items[cache.MetaObjectToName(o)] = o
	}
	p.mu.Lock()
	before, first := p.items, !p.synced
	p.items, p.synced, p.selected = items, true, chosen
	if first && p.first != nil {
		close(p.first)
	}
	p.mu.Unlock()
	if !p.isUnwatchable.Load() {
		p.recordRecovery()
	}
	p.listed()
	to := p.currentFollower()
	for name, o := range items {
		switch old := before[name]; {
		case old == nil:
			to.OnAdd(o, first)
		case old.UID != o.UID || !bytes.Equal(old.JSON, o.JSON):
			to.OnUpdate(old, o)
		}
	}
	for name, old := range before {
		if items[name] == nil {
			to.OnDelete(cache.DeletedFinalStateUnknown{Key: name.String(), Obj: old})
		}
	}
}

// A selecting store takes what is selected into a portion.
type selecting struct {
	*portion
	of choice
}

func (s selecting) has(o metav1.Object) bool { return s.of.Has(o.GetUID()) }

// Add takes an object that the watch delivered.
func (s selecting) Add(o any) error { return s.Update(o) }

// Update takes an object that the watch delivered.
func (s selecting) Update(o any) error {
	if packed, is := o.(*live.Packed); is && s.has(packed) {
		s.putResource(packed)
	}
	return nil
}

// Delete takes a deletion that the watch delivered.
func (s selecting) Delete(o any) error {
	if packed, is := o.(*live.Packed); is {
		s.dropResource(packed)
	}
	return nil
}

// Replace takes a complete list.
func (s selecting) Replace(list []any, _ string) error {
	var selected []*live.Packed
	for _, o := range list {
		if packed, is := o.(*live.Packed); is && s.has(packed) {
			selected = append(selected, packed)
		}
	}
	s.replaceAll(selected, s.of)
	return nil
}

// Resync does nothing: nobody wants events without a change.
func (s selecting) Resync() error { return nil }

// Transformer drops what is not selected while a list streams in.
func (s selecting) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		packed, is := o.(*live.Packed)
		switch {
		case !is:
			return o, nil
		case !s.has(packed):
			return &live.Packed{PartialObjectMetadata: metav1.PartialObjectMetadata{
				ObjectMeta: metav1.ObjectMeta{Namespace: packed.Namespace, Name: packed.Name, UID: packed.UID}}}, nil
		}
		packed.ManagedFields = nil // its JSON has them
		return packed, nil
	}
}
