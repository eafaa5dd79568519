package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/locks"
)

const (
	// patience is for how long a list may make no progress before that is reported.
	patience = 8 * time.Second
	// silenceLimit is for how long it may make none before it is given up.
	silenceLimit = time.Minute
	// renewGap lies between a change of a CRD and the list that follows, so that quick
	// changes cause few lists.
	renewGap = 200 * time.Millisecond
)

// backOff is the pauses between tries: from half a second up to 15, and up to half as
// long again. What is well again is then known within a minute.
func backOff() *wait.Backoff {
	return &wait.Backoff{Duration: time.Second / 2, Factor: 2, Jitter: 0.5, Steps: 20, Cap: 15 * time.Second}
}

// LoopOptions are what a Loop lists and watches, and who is told of failures.
type LoopOptions struct {
	// Name and Description are for the log of client-go.
	Name, Description string
	Source            cache.ListerWatcher
	// Expected is an object of the type that Source delivers.
	Expected runtime.Object
	Store    cache.ReflectorStore
	// Failed is called with each error that ended a list and watch, and with a
	// SilentError while a list makes no progress.
	Failed func(error)
	// Guard calls a function; a panic of it becomes an error.
	Guard func(func()) error
}

// A Loop lists and watches into a store, again and again. client-go's reflector does
// each try. The Loop has the back-off, which ends when the CRD of the kind changes.
type Loop struct {
	LoopOptions
	patience time.Duration
	pauses   func() *wait.Backoff
	renewed  locks.Signal
	woken    locks.Signal
	// isStale: the list may be older than the change of the CRD.
	isStale atomic.Bool
	// The rest is about one try. progress is when it last made progress, in Unix
	// nanoseconds.
	progress            atomic.Int64
	hasListed, hasBegun atomic.Bool
	// reporting is held while silence is reported. A list that comes in meanwhile waits,
	// so that the store takes it after the report.
	reporting sync.Mutex
}

// NewLoop returns a Loop that has not begun.
func NewLoop(options LoopOptions) *Loop {
	l := &Loop{LoopOptions: options, patience: patience, pauses: backOff, renewed: locks.NewSignal(), woken: locks.NewSignal()}
	l.recordProgress()
	return l
}

// A SilentError is why nothing is known of a list that has not failed.
type SilentError struct{ For time.Duration }

// Error is the same however long there was no answer.
func (e *SilentError) Error() string { return "the API server gives no answer" }

// Run lists and watches until ctx ends.
func (l *Loop) Run(ctx context.Context) {
	reflector := cache.NewReflectorWithOptions(l.reflectorSource(), l.Expected, loopStore{l.Store, l},
		cache.ReflectorOptions{Name: l.Name, TypeDescription: l.Description})
	for pauses := l.pauses(); ctx.Err() == nil; {
		began := time.Now()
		isRenewed := l.tryOnce(ctx, reflector)
		if !isRenewed {
			if time.Since(began) > time.Minute {
				pauses = l.pauses()
			}
			isRenewed = l.waitForRetry(ctx, pauses.Step())
		}
		if isRenewed {
			pauses = l.pauses()
			waitFor(ctx, renewGap)
		}
	}
}

// Renew begins a new list at once: the CRD of the kind changed. An API server ends the
// watches of such a kind, and one that it did not end yet delivers objects as the CRD
// was. What is known stays known until the list has come in.
func (l *Loop) Renew() {
	l.isStale.Store(true)
	l.renewed.Notify()
}

// Wake tries at once what failed, if the next try is yet to come.
func (l *Loop) Wake() { l.woken.Notify() }

// waitForRetry waits between two tries. It reports whether Renew ended it.
func (l *Loop) waitForRetry(ctx context.Context, d time.Duration) (isRenewed bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.renewed:
		return true
	case <-ctx.Done():
	case <-l.woken:
	case <-timer.C:
	}
	return false
}

// tryOnce lists and watches once. It reports whether Renew ended it.
func (l *Loop) tryOnce(ctx context.Context, reflector *cache.Reflector) (isRenewed bool) {
	l.hasListed.Store(false)
	l.hasBegun.Store(false)
	l.recordProgress()
	trying, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		var err error
		if panicked := l.Guard(func() { err = reflector.ListAndWatchWithContext(trying) }); panicked != nil {
			err = panicked
		}
		ended <- err
	}()
	look := time.NewTimer(l.patience)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil && trying.Err() == nil && !apierrors.IsResourceExpired(err) {
				l.Failed(err)
			}
			return isRenewed
		case <-l.renewed:
			isRenewed = true
			stop()
		case <-look.C:
			if !l.hasListed.Load() && trying.Err() == nil {
				look.Reset(l.checkSilence(stop))
			}
		}
	}
}

// checkSilence reports a list that makes no progress, and gives it up in the end. It
// returns when to look again.
func (l *Loop) checkSilence(giveUp func()) time.Duration {
	silent := l.Silence()
	if silent >= silenceLimit {
		giveUp()
	}
	if silent < l.patience {
		return l.patience - silent
	}
	l.reporting.Lock()
	defer l.reporting.Unlock()
	if !l.hasListed.Load() {
		l.Failed(&SilentError{silent})
	}
	return max(silenceLimit-silent, time.Second)
}

// recordProgress records that a list makes progress.
func (l *Loop) recordProgress() { l.progress.Store(time.Now().UnixNano()) }

// Silence is for how long the list has made no progress; 0 once it came in.
func (l *Loop) Silence() time.Duration {
	if l.hasListed.Load() {
		return 0
	}
	return time.Since(time.Unix(0, l.progress.Load()))
}

// reflectorSource returns the source of the reflector. It hides what the reflector would try again
// by itself. After the CRD changed, the first watch that ended is followed by a list, since it may
// have delivered objects as the CRD was.
func (l *Loop) reflectorSource() cache.ListerWatcher {
	of := cache.ToListerWatcherWithContext(l.Source)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			defer l.recordProgress()
			l.hasBegun.Store(false) // a watch that was to stand for this list failed
			return of.ListWithContext(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			follows := l.hasBegun.Swap(true)
			if follows && isStreaming(opts) {
				return nil, errors.New("the stream ended before the list was complete")
			}
			if follows && l.isStale.Swap(false) {
				return nil, apierrors.NewResourceExpired("the CRD changed")
			}
			w, err := of.WatchWithContext(ctx, opts)
			return w, finalError(opts, err)
		},
	}, l.Source)
}

// finalError returns an error of a watch after which a reflector does not wait and try again by
// itself, but ends, or goes on to a list. Only after a refused connection it waits: the watch then
// goes on where it was, and no list is needed.
func finalError(opts metav1.ListOptions, err error) error {
	if err == nil || apierrors.IsResourceExpired(err) || utilnet.IsConnectionRefused(err) && !isStreaming(opts) {
		return err
	}
	return fmt.Errorf("%v", err) //nolint:errorlint // to hide what it is
}

// A loopStore is the store of a Loop's reflector. It records progress.
type loopStore struct {
	cache.ReflectorStore
	loop *Loop
}

var (
	_ cache.ReflectorBookmarkStore = loopStore{}
	_ cache.TransformingStore      = loopStore{}
)

// Replace takes a complete list.
func (s loopStore) Replace(list []any, resourceVersion string) error {
	s.loop.reporting.Lock()
	s.loop.hasListed.Store(true)
	s.loop.reporting.Unlock()
	return s.ReflectorStore.Replace(list, resourceVersion)
}

// Bookmark takes how far the watch is.
func (s loopStore) Bookmark(resourceVersion string) error {
	if of, takes := s.ReflectorStore.(cache.ReflectorBookmarkStore); takes {
		return of.Bookmark(resourceVersion)
	}
	return nil
}

// Transformer takes each object of a list that streams in.
func (s loopStore) Transformer() cache.TransformFunc {
	transform := func(o any) (any, error) { return o, nil }
	if of, transforms := s.ReflectorStore.(cache.TransformingStore); transforms {
		transform = of.Transformer()
	}
	return func(o any) (any, error) {
		s.loop.recordProgress()
		return transform(o)
	}
}
