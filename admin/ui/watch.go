package ui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// again is after how long a kind is looked for again that the cluster does not serve.
const again = 5 * time.Second

// A watcher keeps the table as the cluster is: by one watch of the metadata of CRDs, and
// one of the resources of each kind that an operator claims. client-go's informers would
// keep whole objects, or what has their metadata; loops leave that to us.
type watcher struct {
	table    *Table
	objects  dynamic.Interface
	metadata metadata.Interface
	// serves finds the resource of a CRD; false if the cluster does not serve it.
	serves func(ctx context.Context, crd string) (live.Resource, bool, error)
	// fallback is the namespace that is watched where not all may be listed.
	fallback string

	mu    sync.Mutex
	kinds map[string]*watchedKind
	// first are the kinds whose first list is waited for; nil: that of CRDs is.
	first map[string]bool
	all   sync.WaitGroup
}

// A watchedKind is a kind whose resources are watched.
type watchedKind struct {
	// generation is that of its CRD.
	generation int64
	end        context.CancelFunc
	// loop lists and watches the resources; nil while nobody knows how.
	loop *cluster.Loop
}

// run watches until the context ends.
func (w *watcher) run(ctx context.Context) {
	ctx = klog.NewContext(ctx, logr.Discard()) // what goes wrong is on the page
	w.kinds = map[string]*watchedKind{}
	s := &sink{one: func(o metav1.Object, gone bool) { w.updateKind(ctx, o, !gone && len(shard.Claims(o)) > 0) }}
	s.replaced = func(all []metav1.Object) { w.replaceKinds(ctx, all) }
	report := func(err error) {
		w.table.Unread("", describeError("kinds: listing customresourcedefinitions", err))
		if err != nil {
			w.setFirstKinds(nil)
		}
	}
	client := w.metadata.Resource(definitions)
	loopOf(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, o)
			report(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			answer, err := client.Watch(ctx, o)
			if err == nil || apierrors.IsForbidden(err) { // the reflector lists after other errors
				report(err)
			}
			return answer, err
		},
	}, watching{s, w.metadata, report}).Run(ctx)
	w.all.Wait()
}

// watching is where a loop brings what it lists and watches.
type watching struct {
	to *sink
	// client says whether a watch may stand for the first list: those of tests cannot.
	client any
	// failed is called while a list gets no answer; the source reports other errors.
	failed func(error)
}

// loopOf keeps a sink as the cluster is.
func loopOf(from *cache.ListWatch, w watching) *cluster.Loop {
	return cluster.NewLoop(cluster.LoopOptions{
		Name: "ui", Source: cache.ToListWatcherWithWatchListSemantics(from, w.client), Store: w.to,
		Failed: func(err error) {
			var silent *cluster.SilentError
			if errors.As(err, &silent) {
				w.failed(err)
			}
		},
		Guard: func(do func()) (err error) {
			defer panics.Catch(&err, "watching for the page")
			do()
			return nil
		},
	})
}

// describeError returns what the page shows of an error, or "" if there is none.
func describeError(doing string, err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", doing, refusals.Classify(err))
}

// replaceKinds watches the kinds of all claimed CRDs, and no others.
func (w *watcher) replaceKinds(ctx context.Context, all []metav1.Object) {
	claimed, names := map[string]metav1.Object{}, map[string]bool{}
	for _, o := range all {
		if len(shard.Claims(o)) > 0 {
			claimed[o.GetName()], names[o.GetName()] = o, true
		}
	}
	w.mu.Lock()
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(w.kinds)), func(name string) bool { return names[name] })
	w.mu.Unlock()
	for _, name := range gone {
		w.updateKind(ctx, &metav1.ObjectMeta{Name: name}, false)
	}
	w.setFirstKinds(names)
	for _, o := range claimed {
		w.updateKind(ctx, o, true)
	}
}

// setFirstKinds sets the kinds whose first lists are waited for, at its first call only. If there
// are none to wait for, the table is ready.
func (w *watcher) setFirstKinds(kinds map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil {
		w.first = map[string]bool{}
		maps.Copy(w.first, kinds)
	}
	if len(w.first) == 0 {
		w.table.Ready()
	}
}

// read: the first list of a kind was read, or cannot be.
func (w *watcher) read(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.first, kind); w.first != nil && len(w.first) == 0 {
		w.table.Ready()
	}
}

// updateKind begins or ends to watch the kind of a CRD. Where the CRD changed, it watches again at
// once, since the API server ends the watches.
func (w *watcher) updateKind(ctx context.Context, crd metav1.Object, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := crd.GetName()
	k := w.kinds[name]
	switch {
	case is && k == nil:
		ctx, end := context.WithCancel(ctx)
		w.kinds[name] = &watchedKind{generation: crd.GetGeneration(), end: end}
		w.all.Go(func() { w.watchKind(ctx, name) })
	case is && k.generation != crd.GetGeneration():
		if k.generation = crd.GetGeneration(); k.loop != nil {
			k.loop.Renew()
		}
	case !is && k != nil:
		k.end()
		delete(w.kinds, name)
	}
}

// watchKind watches the resources of a kind until the context ends.
func (w *watcher) watchKind(ctx context.Context, name string) {
	rows := &kindRows{table: w.table, kind: name}
	s := &sink{replaced: func(all []metav1.Object) {
		rows.replaceRows(all)
		w.read(name)
	}, one: rows.updateRow}
	namespace := ""
	for ctx.Err() == nil {
		r, served, err := w.serves(ctx, name)
		if err == nil && !served {
			err = errors.New("the cluster does not serve it")
		}
		if err != nil {
			w.table.Unread(name, fmt.Sprintf("resources of %s: %v", name, err))
			w.read(name)
			rows.replaceRows(nil)
			waitForRetry(ctx)
			continue
		}
		last := namespace
		if namespace = w.watchResources(ctx, place{name, r, namespace}, s); namespace == last {
			waitForRetry(ctx)
		}
	}
	rows.replaceRows(nil)
	w.table.Unread(name, "")
}

// waitForRetry waits before a kind is looked for again.
func waitForRetry(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(again):
	}
}

// A place is where the resources of a kind are watched; namespace "" is everywhere.
type place struct {
	kind      string
	resource  live.Resource
	namespace string
}

// watchResources watches the resources of a kind until they have to be looked for in another way.
// It returns the namespace to look in.
func (w *watcher) watchResources(ctx context.Context, in place, s *sink) string {
	name, r, namespace := in.kind, in.resource, in.namespace
	ctx, end := context.WithCancel(ctx)
	defer end()
	next := namespace
	report := func(err error) {
		text := describeError("resources of "+name, err)
		switch {
		case apierrors.IsForbidden(err) && r.Namespaced && namespace == "" && w.fallback != "":
			next = w.fallback
			end()
		case apierrors.IsNotFound(err): // another version may be served now
			end()
		case err == nil && namespace != "":
			text = "resources of " + name + " outside of namespace " + namespace + ": they may not be listed"
		}
		w.table.Unread(name, text)
		if err != nil && next == namespace {
			w.read(name)
		}
	}
	var client dynamic.ResourceInterface = w.objects.Resource(r.GVR)
	if namespace != "" {
		client = w.objects.Resource(r.GVR).Namespace(namespace)
	}
	loop := loopOf(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, o)
			err = cluster.Explain(ctx, err, func(ctx context.Context, one metav1.ListOptions) (runtime.Object, error) {
				return client.List(ctx, one)
			})
			if ctx.Err() == nil {
				report(err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			answer, err := client.Watch(ctx, o)
			if ctx.Err() == nil && (err == nil || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)) {
				report(err)
			}
			return answer, err
		},
	}, watching{s, w.objects, report})
	w.mu.Lock()
	if k := w.kinds[name]; k != nil {
		k.loop = loop
	}
	w.mu.Unlock()
	loop.Run(ctx)
	return next
}

// A sink is what a reflector writes to; it keeps nothing.
type sink struct {
	replaced func(all []metav1.Object)
	one      func(o metav1.Object, gone bool)
}

var _ cache.ReflectorStore = &sink{}

// passObject passes an object on, or the last known state of a deleted one.
func (s *sink) passObject(o any, gone bool) error {
	if last, is := o.(cache.DeletedFinalStateUnknown); is {
		o = last.Obj
	}
	one, err := meta.Accessor(o)
	if err == nil {
		s.one(one, gone)
	}
	return err
}

// Add takes up an object.
func (s *sink) Add(o any) error { return s.passObject(o, false) }

// Update takes up an object that changed.
func (s *sink) Update(o any) error { return s.passObject(o, false) }

// Delete takes an object out.
func (s *sink) Delete(o any) error { return s.passObject(o, true) }

// Replace takes up all objects that there are.
func (s *sink) Replace(items []any, _ string) error {
	all := make([]metav1.Object, 0, len(items))
	for _, item := range items {
		one, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	s.replaced(all)
	return nil
}

// Resync does nothing: nothing is kept.
func (s *sink) Resync() error { return nil }

// kindRows are the rows of a kind in a table. One goroutine uses them at a time.
type kindRows struct {
	table *Table
	kind  string
	have  map[Key]bool
}

// updateRow puts the row of an object into the table, or takes it out if the object is gone.
func (k *kindRows) updateRow(o metav1.Object, gone bool) {
	if k.have == nil {
		k.have = map[Key]bool{}
	}
	key := Key{k.kind, o.GetNamespace(), o.GetName()}
	if gone {
		delete(k.have, key)
		k.table.Drop(key)
		return
	}
	if u, whole := o.(*unstructured.Unstructured); whole {
		k.have[key] = true
		k.table.Put(rowOf(k.kind, u))
	}
}

// replaceRows puts the rows of all objects into the table, and takes out all others.
func (k *kindRows) replaceRows(all []metav1.Object) {
	had := k.have
	k.have = map[Key]bool{}
	for _, o := range all {
		k.updateRow(o, false)
	}
	for key := range had {
		if !k.have[key] {
			k.table.Drop(key)
		}
	}
}

// rowOf is what lists show of a resource. It holds nothing of the object itself, so that
// the object can be forgotten.
func rowOf(kind string, o *unstructured.Unstructured) Row {
	ready, state := health.ReadyOf(o), health.StateOf(o)
	return Row{
		State:   state.Meaning().Word,
		Key:     Key{kind, strings.Clone(o.GetNamespace()), strings.Clone(o.GetName())},
		Created: o.GetCreationTimestamp().UTC(), Ready: strings.Clone(ready.Status), Reason: strings.Clone(ready.Reason),
		Message: strings.Clone(ready.Message),
		Paused:  health.IsPaused(o),
	}
}
