package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A scriptedSource answers lists and watches as a test says, and counts them.
type scriptedSource struct {
	mu    sync.Mutex
	lists int
	list  func(n int) error
	// begun are the watches that go on.
	watches []*watch.FakeWatcher
	watch   func(n int) error
	// stream answers a list that is to stream in; nil: none can.
	stream func() watch.Interface
	// failed is called with each failure, if it is not nil.
	failed func(*Loop)
}

func (s *scriptedSource) source() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (apiruntime.Object, error) {
			s.mu.Lock()
			s.lists++
			n, answer := s.lists, s.list
			s.mu.Unlock()
			if answer != nil {
				if err := answer(n); err != nil {
					return nil, err
				}
			}
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(n)}}, ctx.Err()
		},
		WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			if isStreaming(opts) && s.stream != nil {
				return s.stream(), nil
			}
			if isStreaming(opts) {
				return nil, errors.New("it streams no lists")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			w := watch.NewFake()
			s.watches = append(s.watches, w)
			if s.watch != nil {
				return w, s.watch(len(s.watches))
			}
			return w, nil
		},
	}
}

// endWatch has the API server end the last watch, which delivered something.
func (s *scriptedSource) endWatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.watches[len(s.watches)-1]
	last.Modify(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "9"}})
	last.Stop()
}

func (s *scriptedSource) counts() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, len(s.watches)
}

// runLoop runs a Loop in a bubble of fake time. It returns the loop and what failed.
func runLoop(t *testing.T, s *scriptedSource) (*Loop, func() []error) {
	t.Helper()
	var mu sync.Mutex
	var failed []error
	var l *Loop
	l = NewLoop(LoopOptions{
		Name: "test", Source: s.source(), Expected: &metav1.PartialObjectMetadata{}, Store: cache.NewStore(cache.MetaNamespaceKeyFunc),
		Failed: func(err error) {
			mu.Lock()
			failed = append(failed, err)
			mu.Unlock()
			if s.failed != nil {
				s.failed(l)
			}
		},
		Guard: func(do func()) error { do(); return nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return l, func() []error { mu.Lock(); defer mu.Unlock(); return failed }
}

// TestLoopBacksOff: a list that is refused is tried again by nobody but the Loop: at
// first soon, and at most every 15 to 23 seconds.
func TestLoopBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := apierrors.NewTooManyRequests("storage is (re)initializing", 30)
		s := &scriptedSource{list: func(int) error { return busy }}
		_, failed := runLoop(t, s)
		for _, c := range []struct {
			until       time.Duration
			least, most int
		}{{3 * time.Second, 2, 4}, {30 * time.Second, 5, 7}, {10 * time.Minute, 28, 46}} {
			time.Sleep(c.until)
			if lists, _ := s.counts(); lists < c.least || lists > c.most {
				t.Errorf("after %s more there were %d lists, want %d to %d", c.until, lists, c.least, c.most)
			}
		}
		if lists, _ := s.counts(); len(failed()) != lists || !apierrors.IsTooManyRequests(failed()[0]) {
			t.Errorf("%d of %d lists are said to have failed: %v", len(failed()), lists, failed()[0])
		}
	})
}

// TestLoopIsWellAgain: however long the API server refused, a list comes in within 25
// seconds after it no longer does.
func TestLoopIsWellAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isHealed atomic.Bool
		s := &scriptedSource{list: func(int) error {
			if !isHealed.Load() {
				return apierrors.NewInternalError(errors.New("conversion webhook failed"))
			}
			return nil
		}}
		l, _ := runLoop(t, s)
		time.Sleep(20 * time.Minute)
		well := time.Now()
		isHealed.Store(true)
		for !l.hasListed.Load() {
			time.Sleep(100 * time.Millisecond)
		}
		if after := time.Since(well); after > 25*time.Second {
			t.Errorf("it was known after %s", after)
		}
	})
}

// TestLoopRenews: after each of many changes of a CRD, of which each ends the watch, the
// objects are listed again within a second or two, and never in a hot loop.
func TestLoopRenews(t *testing.T) {
	for name, every := range map[string]time.Duration{"every 3 seconds": 3 * time.Second, "every 0.1 seconds": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedSource{}
				l, failed := runLoop(t, s)
				time.Sleep(time.Second)
				const many = 30
				for i := range many {
					before, _ := s.counts()
					l.Renew()
					synctest.Wait()
					time.Sleep(every)
					if _, watches := s.counts(); watches > 0 && every > time.Second {
						s.endWatch()
						time.Sleep(every)
						if after, _ := s.counts(); after < before+2 {
							t.Errorf("after change %d and the end of the watch there were %d lists more", i, after-before)
						}
					}
				}
				time.Sleep(2 * time.Second)
				lists, watches := s.counts()
				if !l.hasListed.Load() || watches == 0 {
					t.Error("it does not watch after the last change")
				}
				if most := 1 + 3*many; lists > most {
					t.Errorf("%d changes caused %d lists", many, lists)
				}
				for _, err := range failed() {
					t.Errorf("it is in trouble: %v", err)
				}
			})
		})
	}
}

// TestLoopRenewsWhilePaused: a change of the CRD ends the pause after a failure.
func TestLoopRenewsWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedSource{list: func(n int) error {
			if n < 8 {
				return apierrors.NewTooManyRequests("storage is (re)initializing", 30)
			}
			return nil
		}}
		l, _ := runLoop(t, s)
		for lists, _ := s.counts(); lists < 7; lists, _ = s.counts() {
			time.Sleep(time.Second)
		}
		l.Renew()
		time.Sleep(time.Second)
		if !l.hasListed.Load() {
			t.Error("it waits although the CRD changed")
		}
	})
}

// TestLoopReportsSilence: a list that is not answered is reported within ten seconds,
// given up after a minute, and reported no more once it comes in.
func TestLoopReportsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		s := &scriptedSource{list: func(n int) error {
			if n == 1 {
				<-hangs
			}
			return nil
		}}
		l, failed := runLoop(t, s)
		time.Sleep(10 * time.Second)
		var silent *SilentError
		if all := failed(); len(all) != 1 || !errors.As(all[0], &silent) {
			t.Errorf("after ten seconds it says %v", all)
		}
		time.Sleep(time.Minute)
		if lists, watches := s.counts(); lists != 2 || watches != 1 || !l.hasListed.Load() {
			t.Errorf("after a minute there were %d lists and %d watches", lists, watches)
		}
		n := len(failed())
		time.Sleep(time.Minute)
		if len(failed()) != n {
			t.Errorf("while it watches it says %v", failed()[n:])
		}
		close(hangs)
	})
}

// TestLastingTrouble: what an API server refuses again and again for some seconds makes
// a kind unknown; what it refuses for a moment, and a connection that breaks, do not.
func TestLastingTrouble(t *testing.T) {
	busy := apierrors.NewTooManyRequests("storage is (re)initializing", 1)
	broken := errors.New("the connection to the API server broke")
	type try struct {
		after time.Duration
		list  error
		watch error
	}
	for name, c := range map[string]struct {
		tries []try
		want  bool
	}{
		"a moment":             {[]try{{0, busy, nil}, {time.Second, busy, nil}, {2 * time.Second, busy, nil}}, false},
		"some seconds":         {[]try{{0, busy, nil}, {time.Second, busy, nil}, {3 * time.Second, busy, nil}}, true},
		"watches too":          {[]try{{0, nil, busy}, {4 * time.Second, nil, busy}}, true},
		"no connection":        {[]try{{0, broken, nil}, {time.Minute, broken, nil}}, false},
		"no connection before": {[]try{{0, broken, nil}, {time.Minute, busy, nil}, {time.Minute + time.Second, busy, nil}}, false},
		"no rights":            {[]try{{0, errForbidden, nil}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var at troubles
			began := time.Now()
			for _, one := range c.tries {
				at.recordFailure(one.list, one.watch, began.Add(one.after))
			}
			if at.isStuck() != c.want {
				t.Errorf("it is lasting: %t", at.isStuck())
			}
			compared := at
			if compared.listAllowed(); compared.isStuck() && compared.asError(live.RuleError{}) == nil {
				t.Error("after a list that was only compared, there is lasting trouble without a reason")
			}
			if at.recordList(true); at.isStuck() || at.asError(live.RuleError{}) != nil {
				t.Errorf("after a list it is in trouble: %v", at.asError(live.RuleError{}))
			}
		})
	}
}

// TestLoopBacksOffFromBrokenStreams: a list that is to stream in, and whose stream ends
// again and again before it is complete, is asked for without streaming.
func TestLoopBacksOffFromBrokenStreams(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old resource version").Status()
	for name, end := range map[string]func(*watch.FakeWatcher){
		"closed":  (*watch.FakeWatcher).Stop,
		"expired": func(w *watch.FakeWatcher) { w.Error(&expired); w.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, streams := &scriptedSource{}, atomic.Int64{}
				s.stream = func() watch.Interface {
					n := streams.Add(1)
					w := watch.NewFakeWithChanSize(2, false)
					w.Add(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}})
					if n < 1000 { // else it would never end
						end(w)
					}
					return w
				}
				l, failed := runLoop(t, s)
				time.Sleep(10 * time.Second)
				if lists, _ := s.counts(); streams.Load() != 1 || lists != 1 || !l.hasListed.Load() || len(failed()) != 0 {
					t.Errorf("there were %d streams and %d lists, and it failed by %v", streams.Load(), lists, failed())
				}
			})
		})
	}
}

// TestLoopReportsNoPastSilence: a list that comes in while its silence is being reported
// is taken after that, so that the report does not outlast the silence.
func TestLoopReportsNoPastSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		s := &scriptedSource{list: func(int) error { <-hangs; return nil }}
		var hadListed atomic.Bool
		s.failed = func(l *Loop) {
			close(hangs)
			for range 10_000 { // what waits for a mutex keeps the time from going on
				runtime.Gosched()
			}
			hadListed.Store(l.hasListed.Load())
		}
		l, _ := runLoop(t, s)
		time.Sleep(patience + time.Second)
		if hadListed.Load() || !l.hasListed.Load() {
			t.Errorf("it had listed while its silence was reported: %t; it has listed: %t", hadListed.Load(), l.hasListed.Load())
		}
	})
}
