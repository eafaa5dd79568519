package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

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

func (c clients) list(ctx context.Context, s *store, opts metav1.ListOptions) (runtime.Object, error) {
	gvr := s.watch.resource.GVR
	switch opts = s.watch.kind.narrow(opts); s.watch.need {
	case live.Metadata:
		return c.partial(gvr, s.namespace).List(ctx, opts)
	case live.Readiness:
		return c.packed.list(ctx, gvr, s.namespace, opts)
	}
	return c.full(gvr, s.namespace).List(ctx, opts)
}

func (c clients) watch(ctx context.Context, s *store, opts metav1.ListOptions) (watch.Interface, error) {
	gvr := s.watch.resource.GVR
	switch opts = s.watch.kind.narrow(opts); s.watch.need {
	case live.Metadata:
		return c.partial(gvr, s.namespace).Watch(ctx, opts)
	case live.Readiness:
		return c.packed.watch(ctx, gvr, s.namespace, opts)
	}
	return c.full(gvr, s.namespace).Watch(ctx, opts)
}

func (c clients) partial(gvr schema.GroupVersionResource, namespace string) metadata.ResourceInterface {
	if namespace == "" {
		return c.metadata.Resource(gvr)
	}
	return c.metadata.Resource(gvr).Namespace(namespace)
}

func (c clients) full(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.dynamic.Resource(gvr)
	}
	return c.dynamic.Resource(gvr).Namespace(namespace)
}

// source is what a reflector lists and watches for a store. It turns every
// list, and every watch that begins with a list, into a quorum read, and keeps
// the last error of each verb.
func (c clients) source(s *store) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			if opts.Continue == "" {
				opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
				s.ask(false)
			}
			list, err := c.list(ctx, s, opts)
			if err == nil {
				list, err = s.page(list)
			}
			if err != nil && ctx.Err() == nil { // Replace clears it
				s.watch.deliver(func(*notifications) { s.troubles = troubles{list: err, watch: s.refused} })
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			streams := opts.SendInitialEvents != nil && *opts.SendInitialEvents
			if streams {
				opts.ResourceVersion = ""
				s.ask(true)
			}
			var w watch.Interface
			var err error
			if !streams {
				if err = c.wentBack(ctx, s, opts.ResourceVersion); apierrors.IsResourceExpired(err) {
					return nil, err
				}
			}
			if err == nil {
				w, err = c.watch(ctx, s, opts)
			}
			switch {
			case ctx.Err() != nil:
				return w, err
			case !streams:
				s.watch.deliver(func(*notifications) { s.troubles.watch = err })
				return w, err
			}
			// What this means is known when the list is in, or refused too.
			s.watch.deliver(func(*notifications) { s.refused = err })
			if err != nil {
				// Where the reflector would wait on some errors without
				// heeding ctx, it shall go on to the list.
				return nil, errors.New(err.Error())
			}
			return w, nil
		},
	}
}

// wentBack returns an error if the server's past came back, as when etcd is restored:
// a watch from a version that the server has yet to reach would deliver nothing
// until it has. It is asked, by a list of one, only after a watch could not
// begin. While it cannot be told, that is the error, and no watch begins.
func (c clients) wentBack(ctx context.Context, s *store, version string) error {
	failed := false
	s.watch.deliver(func(*notifications) { failed = s.troubles.watch != nil })
	if !failed {
		return nil
	}
	list, err := c.partial(s.watch.resource.GVR, s.namespace).List(ctx, s.watch.kind.narrow(metav1.ListOptions{Limit: 1}))
	if err != nil {
		return err
	}
	return expired(version, list.ResourceVersion)
}

// expired is an error if the version is newer than that of the server.
func expired(version, now string) error {
	if newer(version, now) {
		return apierrors.NewResourceExpired("resource versions went back")
	}
	return nil
}

// HeedRestores is a source of a reflector that lists again if the server's past
// came back, as when etcd is restored. Without it a watch from a version that the
// server has yet to reach would deliver nothing until it has. The server is asked,
// by a list of one, only after a watch could not begin.
func HeedRestores(of cache.ListerWatcher) cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(of)
	var failed atomic.Bool
	return &cache.ListWatch{
		ListWithContextFunc: source.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			streams := opts.SendInitialEvents != nil && *opts.SendInitialEvents
			if !streams && failed.Load() {
				list, err := source.ListWithContext(ctx, metav1.ListOptions{Limit: 1})
				if err != nil {
					return nil, err
				}
				now, err := meta.ListAccessor(list)
				if err == nil {
					err = expired(opts.ResourceVersion, now.GetResourceVersion())
				}
				if err != nil {
					return nil, err
				}
			}
			w, err := source.WatchWithContext(ctx, opts)
			failed.Store(err != nil && !streams)
			return w, err
		},
	}
}

// ask notes that a list is about to be asked for, by list or by watch: it will
// see every write that was answered before.
func (s *store) ask(streams bool) {
	s.watch.deliver(func(*notifications) { s.asked, s.streams = s.watch.kind.overlay.tick, streams })
}
