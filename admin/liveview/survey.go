package liveview

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
)

// A Survey is one look at a cluster. What was read once is not read again. It
// may be used by several goroutines at once.
type Survey struct {
	cfg      *rest.Config
	objects  dynamic.Interface
	metadata metadata.Interface
	served   *cluster.Served
	writer   *apply.Writer
	// definitions finds a CRD that the caller has on file, or nil.
	definitions func(name string) *apiextensionsv1.CustomResourceDefinition

	crds     answers[string, *apiextensionsv1.CustomResourceDefinition]
	defined  answers[string, map[schema.GroupKind]bool]
	accounts answers[string, dynamic.Interface]
}

// Open asks a cluster which kinds it serves. definitions finds, by name, CRDs
// that the caller has on file: they stand in for those which may not be read; it
// may be nil.
func Open(ctx context.Context, cfg *rest.Config, definitions func(name string) *apiextensionsv1.CustomResourceDefinition) (*Survey, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // requests are bounded by how many are under way
	cfg.Wrap(keepSilence)
	s := &Survey{cfg: cfg, definitions: definitions}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making an HTTP client: %w", err)
	}
	if err := s.makeClients(client); err != nil {
		return nil, err
	}
	discovery, err := cluster.NewDiscovery(cfg, client)
	if err != nil {
		return nil, err
	}
	if err := discovery.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("%w: %s", err, cfg.Host)
	}
	s.served = discovery.Served()
	return s, nil
}

// makeClients makes the clients of a survey. Its writer makes only dry runs.
func (s *Survey) makeClients(client *http.Client) (err error) {
	if s.objects, err = dynamic.NewForConfigAndClient(s.cfg, client); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if s.metadata, err = metadata.NewForConfigAndClient(s.cfg, client); err != nil {
		return fmt.Errorf("making a metadata client: %w", err)
	}
	writer, err := apply.NewWriter(s.cfg, client)
	if err != nil {
		return err
	}
	s.writer = writer.Dry()
	return nil
}

// Served is what the cluster serves.
func (s *Survey) Served() *cluster.Served { return s.served }

// Writer tries writes as dry runs; it changes nothing.
func (s *Survey) Writer() *apply.Writer { return s.writer }

// clientFor returns a client that reads as a service account, namespace/name. "" is the caller.
func (s *Survey) clientFor(account string) (dynamic.Interface, error) {
	if account == "" {
		return s.objects, nil
	}
	return s.accounts.get(account, func() (dynamic.Interface, error) { return impersonateAccount(s.cfg, account) })
}

// answers are questions that are asked once each, at the same time if they are
// different ones.
type answers[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]*answer[V]
}

type answer[V any] struct {
	once  sync.Once
	value V
	err   error
}

func (a *answers[K, V]) get(key K, ask func() (V, error)) (V, error) {
	a.mu.Lock()
	if a.all == nil {
		a.all = map[K]*answer[V]{}
	}
	one := a.all[key]
	if one == nil {
		one = &answer[V]{}
		a.all[key] = one
	}
	a.mu.Unlock()
	one.once.Do(func() { one.value, one.err = ask() })
	return one.value, one.err
}
