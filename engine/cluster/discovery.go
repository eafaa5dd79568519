package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/locks"
)

// A Discovery keeps a Served up to date.
type Discovery struct {
	client    *discovery.DiscoveryClient
	served    atomic.Pointer[Served]
	triggered locks.Signal
	refresh   sync.Mutex // one refresh at a time, so that snapshots do not go back

	mu          sync.Mutex
	subscribers []locks.Signal
}

// NewDiscovery returns a Discovery that has not asked yet: its Served is empty.
func NewDiscovery(cfg *rest.Config, httpClient *http.Client) (*Discovery, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a discovery client: %w", err)
	}
	d := &Discovery{client: client, triggered: locks.NewSignal()}
	d.served.Store(newServed(&Served{}, nil, nil, nil))
	return d, nil
}

// Served returns the latest snapshot; an empty one before the first refresh.
func (d *Discovery) Served() *Served { return d.served.Load() }

// Subscribe returns a channel that is told after each refresh that changed
// something. Tellings coalesce: read Served afterwards.
func (d *Discovery) Subscribe() <-chan struct{} {
	told := locks.NewSignal()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.subscribers = append(d.subscribers, told)
	return told
}

// Trigger asks Run for a refresh. It never blocks, and pokes coalesce. Poke for a
// CRD that came, went, or changed what it serves, and for an APIService whose
// availability changed; a poke that nothing follows costs six refreshes.
func (d *Discovery) Trigger() { d.triggered.Notify() }

// Refresh asks the cluster what it serves: two requests. Groups whose
// discovery failed keep their earlier resources and are marked unknown, which
// is no error; with an error the earlier snapshot stays as it was. An API server
// that starts answers before it shows what CRDs define: so nothing is taken for
// absent that was there, or that nobody has asked for yet, but on the word of a
// server that says it is ready.
func (d *Discovery) Refresh(ctx context.Context) error {
	d.refresh.Lock()
	defer d.refresh.Unlock()
	prev := d.Served()
	sure := len(prev.resources) == 0
	if sure {
		if err := d.checkReady(ctx); err != nil {
			return err
		}
	}
	next, err := d.requestSnapshot(ctx, prev)
	if err == nil && !sure && next.lacksSome(prev) {
		if err = d.checkReady(ctx); err == nil {
			next, err = d.requestSnapshot(ctx, prev) // what was said before it was ready does not count
		}
	}
	if err != nil {
		return err
	}
	if next.isSame(prev) {
		return nil
	}
	d.served.Store(next)
	d.notifySubscribers()
	return nil
}

// checkReady returns an error if the API server is not ready. One that does not say counts as
// ready.
func (d *Discovery) checkReady(ctx context.Context) error {
	err := d.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return nil
	}
	return fmt.Errorf("asking whether the API server is ready: %w", err)
}

// requestSnapshot returns a snapshot of what the cluster serves now.
func (d *Discovery) requestSnapshot(ctx context.Context, prev *Served) (*Served, error) {
	// The function and not the method of the client: that one asks twice again
	// at once when a group fails.
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, d.client)
	var partial *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partial) {
		return nil, fmt.Errorf("discovering what the cluster serves: %w", d.ExplainRefusal(ctx, err))
	}
	var failed map[schema.GroupVersion]error
	if partial != nil {
		failed = partial.Groups
	}
	next := newServed(prev, groups, lists, failed)
	// The client takes a 404 of /api for a server without core kinds. No
	// cluster lacks them, and believing it would forget every Pod.
	if _, found := next.Resource(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}); !found {
		return nil, errors.New("discovering what the cluster serves: the answer lacks the core kinds")
	}
	return next, nil
}

// ExplainRefusal asks once more why discovery is refused, if err says that it is. The discovery
// client drops the text of the answer, which names the user that the API server takes the caller
// for.
func (d *Discovery) ExplainRefusal(ctx context.Context, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Message != "unknown" || !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return err
	}
	if explained := d.client.RESTClient().Get().AbsPath("/api").Do(ctx).Error(); explained != nil {
		return explained
	}
	return err
}

// notifySubscribers notifies all subscribers.
func (d *Discovery) notifySubscribers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, told := range d.subscribers {
		told.Notify()
	}
}
