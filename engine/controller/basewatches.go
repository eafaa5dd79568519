package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// unreadyAfter is for how long a base watch may fail before the process is not ready: a
// restart of the API server is shorter.
const unreadyAfter = 30 * time.Second

// baseWatches records whether the objects can be listed and watched without which no kind
// is served: CRDs, and the ConfigMaps that hold folders.
type baseWatches struct {
	clock    clock.PassiveClock
	mu       locks.Mutex
	failures map[string]watchFailure
}

// A watchFailure is the last error of a watch that has failed since some time.
type watchFailure struct {
	since time.Time
	err   error
}

// baseName returns how people call the objects of a base watch, or "" for others.
func baseName(example runtime.Object) string {
	switch example.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return "CRDs"
	case *corev1.ConfigMap:
		return "the ConfigMaps that hold folders"
	}
	return ""
}

// newInformer returns an informer that lists again after etcd was restored, and records
// the failures of a base watch.
func (b *baseWatches) newInformer(of toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
	by toolscache.Indexers) toolscache.SharedIndexInformer {
	if name := baseName(example); name != "" {
		of = b.wrapSource(name, of)
	}
	return toolscache.NewSharedIndexInformer(cluster.InformerSource(of), example, resync, by)
}

// wrapSource returns a source that does as another one, and records how its requests end.
func (b *baseWatches) wrapSource(name string, of toolscache.ListerWatcher) toolscache.ListerWatcher {
	source := toolscache.ToListerWatcherWithContext(of)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := source.ListWithContext(ctx, opts)
			b.recordResult(ctx, name, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			w, err := source.WatchWithContext(ctx, opts)
			b.recordResult(ctx, name, err)
			return w, err
		},
	}
}

// recordResult records how a request ended. A resourceVersion that is too old is no failure: a
// new list follows.
func (b *baseWatches) recordResult(ctx context.Context, name string, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.failures, name)
		return
	}
	failure, failed := b.failures[name]
	if !failed {
		failure.since = b.clock.Now()
	}
	failure.err = err
	if b.failures == nil {
		b.failures = map[string]watchFailure{}
	}
	b.failures[name] = failure
}

// joinFailures returns why no kind can be served reliably; nil if no base watch has failed for long.
func (b *baseWatches) joinFailures() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(b.failures)) {
		if f := b.failures[name]; b.clock.Since(f.since) >= unreadyAfter {
			errs = append(errs, fmt.Errorf("%s cannot be listed or watched since %s: %w", name, f.since.UTC().Format(time.RFC3339), f.err))
		}
	}
	return errors.Join(errs...)
}
