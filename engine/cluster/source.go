package cluster

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// clients are the ways to read objects: without bodies, packed, and with bodies.
type clients struct {
	cfg      *rest.Config
	http     *http.Client
	metadata metadata.Interface
	packed   packed
	dynamic  dynamic.Interface
}

func newClients(cfg *rest.Config, httpClient *http.Client) (clients, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.NegotiatedSerializer = nil
	// One limit for all kinds would let a sick kind's tries slow the others.
	// Each try has its own back-off, and the server has fair queues.
	cfg.QPS, cfg.RateLimiter = -1, nil
	if httpClient == nil {
		var err error
		if httpClient, err = rest.HTTPClientFor(cfg); err != nil {
			return clients{}, fmt.Errorf("making an HTTP client: %w", err)
		}
	}
	m, err := metadata.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return clients{}, fmt.Errorf("making a metadata client: %w", err)
	}
	d, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return clients{}, fmt.Errorf("making a dynamic client: %w", err)
	}
	p, err := newPacked(cfg, httpClient)
	if err != nil {
		return clients{}, fmt.Errorf("making a client of packed objects: %w", err)
	}
	return clients{cfg: cfg, http: httpClient, metadata: m, packed: p, dynamic: d}, nil
}

func (c clients) list(ctx context.Context, s *store, namespace string, opts metav1.ListOptions) (runtime.Object, error) {
	gvr := s.watch.resource.GVR
	switch opts = s.watch.kind.narrowOptions(opts); {
	case s.watch.kind.isPacked:
	case s.watch.need == live.Metadata:
		return c.metadataClient(gvr, namespace).List(ctx, opts)
	case s.watch.need == live.Body:
		return c.fullClient(gvr, namespace).List(ctx, opts)
	}
	return c.packed.list(ctx, gvr, namespace, opts)
}

// watchFor begins a watch for a store.
func (c clients) watchFor(ctx context.Context, s *store, opts metav1.ListOptions) (watch.Interface, error) {
	gvr := s.watch.resource.GVR
	switch opts = s.watch.kind.narrowOptions(opts); {
	case s.watch.kind.isPacked:
	case s.watch.need == live.Metadata:
		return c.metadataClient(gvr, s.namespace).Watch(ctx, opts)
	case s.watch.need == live.Body:
		return c.fullClient(gvr, s.namespace).Watch(ctx, opts)
	}
	return c.packed.watchPacked(ctx, gvr, s.namespace, opts)
}

// metadataClient returns the client of the metadata of a resource.
func (c clients) metadataClient(gvr schema.GroupVersionResource, namespace string) metadata.ResourceInterface {
	if namespace == "" {
		return c.metadata.Resource(gvr)
	}
	return c.metadata.Resource(gvr).Namespace(namespace)
}

// fullClient returns the client of whole objects of a resource.
func (c clients) fullClient(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.dynamic.Resource(gvr)
	}
	return c.dynamic.Resource(gvr).Namespace(namespace)
}

// sourceFor returns what a reflector lists and watches for a store. It turns every list, and every
// watch that begins with a list, into a quorum read, and keeps the last error of each verb.
func (c clients) sourceFor(s *store) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			if opts.Continue == "" {
				opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
				s.past = past{}
				s.noteList(false)
			}
			list, err := c.list(ctx, s, s.namespace, opts)
			if err == nil {
				list, err = s.reducePage(list)
			} else if s.watch.kind.scope.Name == "" {
				err = Explain(ctx, err, func(ctx context.Context, one metav1.ListOptions) (runtime.Object, error) {
					return c.metadataClient(s.watch.resource.GVR, s.namespace).List(ctx, one)
				})
			}
			if err != nil && ctx.Err() == nil { // Replace clears it
				s.watch.deliverChange(func(*notifications) { s.troubles.recordFailure(err, s.refused, time.Now()) })
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			streams := isStreaming(opts)
			if streams {
				opts.ResourceVersion = ""
				s.noteList(true)
			}
			err := s.past.checkWatch(opts, func(one metav1.ListOptions) (runtime.Object, error) {
				return c.metadataClient(s.watch.resource.GVR, s.namespace).List(ctx, s.watch.kind.narrowOptions(one))
			})
			if apierrors.IsResourceExpired(err) {
				return nil, err
			}
			var w watch.Interface
			if err == nil {
				w, err = c.watchFor(ctx, s, opts)
			}
			switch {
			case ctx.Err() != nil:
				return w, err
			case !streams:
				s.watch.deliverChange(func(*notifications) { s.troubles.watch = err })
				return w, err
			}
			// What this means is known when the list is in, or refused too.
			s.watch.deliverChange(func(*notifications) { s.refused = err })
			return w, err
		},
	}
}

// Explain returns why a list was refused. While its cache of a kind is not ready, an API
// server answers that it has too many requests. What is in the way, such as a conversion
// webhook that does not answer, it says only to a list that the cache does not serve: of
// few objects, whatever their labels.
func Explain(ctx context.Context, err error, list func(context.Context, metav1.ListOptions) (runtime.Object, error)) error {
	if !apierrors.IsTooManyRequests(err) || apierrors.IsUnexpectedServerError(err) { // its fair queues answer with a text
		return err
	}
	if _, cause := list(ctx, metav1.ListOptions{Limit: 1}); apierrors.IsInternalError(cause) || apierrors.IsStoreReadError(cause) {
		return cause
	}
	return err
}

// A past tells one reflector whether the server's past came back, as when etcd is
// restored: a watch from a version that the server has yet to reach would deliver
// nothing until it has.
type past struct {
	ends time.Time // when the last watch since a list ends, if nothing goes wrong; zero: there was none
}

// grace is how long after its end a watch is followed by the next, if nothing went
// wrong: a reflector does not wait then.
const grace = 5 * time.Second

// checkWatch returns an error if a watch should not begin: because the server's versions went back,
// or because that cannot be known. The server is asked, by a list of one, only if the watch before
// did not end at its time. One that was open while etcd was restored did not: its server had to
// restart.
func (p *past) checkWatch(opts metav1.ListOptions, list func(metav1.ListOptions) (runtime.Object, error)) error {
	now, last := time.Now(), p.ends
	p.ends = now.Add(time.Duration(ptr.Deref(opts.TimeoutSeconds, math.MaxInt32)) * time.Second)
	late := now.Sub(last)
	if isStreaming(opts) || last.IsZero() || late >= 0 && late < grace {
		return nil
	}
	one, err := list(metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	has, err := meta.ListAccessor(one)
	if err == nil && isNewer(opts.ResourceVersion, has.GetResourceVersion()) {
		err = apierrors.NewResourceExpired("resource versions went back")
	}
	return err
}

// isStreaming tells a watch that begins with a list.
func isStreaming(opts metav1.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}

// heedRestores is a source of a reflector that lists again if the server's past
// came back, as when etcd is restored. Without it a watch from a version that the
// server has yet to reach would deliver nothing until it has. The server is asked,
// by a list of one, only after a watch that did not last its time.
func heedRestores(of cache.ListerWatcher) cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(of)
	var p past
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			p = past{}
			return source.ListWithContext(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			err := p.checkWatch(opts, func(one metav1.ListOptions) (runtime.Object, error) { return source.ListWithContext(ctx, one) })
			if err != nil {
				return nil, err
			}
			return source.WatchWithContext(ctx, opts)
		},
	}
}

// InformerSource is heedRestores for an informer, whose reflector logs each failure: it
// hides from it what it would try again without a word.
func InformerSource(of cache.ListerWatcher) cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(heedRestores(of))
	return &cache.ListWatch{
		ListWithContextFunc: source.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			w, err := source.WatchWithContext(ctx, opts)
			return w, finalError(opts, err)
		},
	}
}

// noteList notes that a list is about to be requested, by list or by watch: it will see every write
// that was answered before.
func (s *store) noteList(streams bool) {
	s.watch.deliverChange(func(*notifications) { s.asked, s.streams = s.watch.kind.overlay.tick, streams })
}
