package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
)

// A Scope is which objects of a kind one watch delivers, and as whom it asks.
type Scope struct {
	schema.GroupVersionKind
	// Namespace and Name narrow it; empty means all.
	Namespace, Name string
	// As is the service account that is impersonated, namespace/name; empty:
	// the operator itself.
	As string
}

// watches are what Children and Reads have in common: a kind for each scope
// that somebody wants.
type watches struct {
	about      string   // what is watched, for errors and the log
	namespaces []string // where namespaced kinds are watched; none means all
	// begin makes what is watched for a scope; it is called with the mutex.
	begin   func(Scope) *kind
	running sync.WaitGroup
	// panicked is called for each panic, with those who want what was watched;
	// nil: nobody is told.
	panicked func(holders []string, err error)
	// deleted is called before a deletion is taken up; nil: nobody needs to know.
	deleted func(l live.Object, version string)

	mu      sync.Mutex // taken before the mutex of a kind, never after it
	ctx     context.Context
	log     logger
	served  func() *Served // what the cluster serves, as last discovered
	holders map[string]map[Scope]live.Need
	kinds   map[Scope]*kind
}

// logger is what watches need of a log.
type logger interface {
	Info(msg string, keysAndValues ...any)
	Error(err error, msg string, keysAndValues ...any)
}

func newWatches(about string, namespaces []string) watches {
	return watches{
		about:      about,
		namespaces: namespaces,
		holders:    map[string]map[Scope]live.Need{},
		kinds:      map[Scope]*kind{},
	}
}

// Start watches until ctx ends and returns when every watch has.
func (w *watches) Start(ctx context.Context) error {
	w.mu.Lock()
	if w.ctx != nil {
		w.mu.Unlock()
		return fmt.Errorf("watching %s: started twice", w.about)
	}
	w.ctx, w.log = ctx, log.FromContext(ctx).WithName(w.about)
	w.mu.Unlock()
	w.syncAll()
	<-ctx.Done()
	// Nothing starts once ctx has ended and the mutex was free in between.
	w.mu.Lock()
	w.mu.Unlock() //nolint:staticcheck // only to wait for one that is starting
	w.running.Wait()
	return nil
}

// Served tells where it stands what the cluster serves, and that this changed:
// kinds start, stop, and start again with another scope accordingly. It is asked
// whenever something is wanted, so that nobody who knows already that a kind is
// served is told that it is not.
func (w *watches) Served(served func() *Served) {
	w.mu.Lock()
	w.served = served
	w.mu.Unlock()
	w.syncAll()
}

// setWanted replaces what a holder wants.
func (w *watches) setWanted(holder string, scopes map[Scope]live.Need) {
	w.mu.Lock()
	if len(scopes) == 0 {
		delete(w.holders, holder)
	} else {
		w.holders[holder] = maps.Clone(scopes)
	}
	w.mu.Unlock()
	w.syncAll()
}

// Renew lists the objects of a kind again at once, since its CRD changed, and with it how
// the API server shows them. What is known stays known meanwhile.
func (w *watches) Renew(gk schema.GroupKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for scope, k := range w.kinds {
		if scope.GroupKind() == gk {
			k.renewLists()
		}
	}
}

// Wake tries at once what could not be listed or watched.
func (w *watches) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.kinds {
		k.wakeWatches()
	}
}

func (w *watches) stateOf(scope Scope, in ...string) live.State {
	k := w.kindAt(scope)
	if k == nil {
		return live.State{Err: errors.New("nobody wants this kind watched")}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stateIn(in...)
}

// kindAt returns what is watched for a scope, or nil.
func (w *watches) kindAt(scope Scope) *kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kinds[scope]
}

// isLive reports whether watches may start. The caller must hold the mutex.
func (w *watches) isLive() bool { return w.ctx != nil && w.ctx.Err() == nil && w.served != nil }

// run runs what Start waits for.
func (w *watches) run(fetch func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isLive() {
		w.running.Go(func() { _ = w.runGuarded(Scope{}, "reading "+w.about, fetch) })
	}
}

// runGuarded does something without the mutex. A panic becomes an error, which is reported for
// those who want the scope.
func (w *watches) runGuarded(scope Scope, doing string, do func()) (err error) {
	defer func() {
		if err != nil && w.panicked != nil {
			w.panicked(w.holdersFor(scope), err)
		}
	}()
	defer panics.Catch(&err, doing)
	do()
	return nil
}

// holdersFor returns those who want a scope. Nobody may, where queries alone need it.
func (w *watches) holdersFor(scope Scope) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holdersOf(scope)
}

// holdersOf is holding for who has the mutex.
func (w *watches) holdersOf(scope Scope) []string {
	var all []string
	for holder, scopes := range w.holders {
		if _, wants := scopes[scope]; wants {
			all = append(all, holder)
		}
	}
	return all
}
