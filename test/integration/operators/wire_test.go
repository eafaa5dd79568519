package operators

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A wire is all that connects one operator with the API server. What goes wrong
// goes wrong here: the server and the operator are the real ones.
type wire struct {
	// alive ends when the operator is killed: from then on nothing of it
	// reaches the server and nothing reaches it, watches included.
	alive context.Context
	kill  context.CancelFunc

	mu sync.Mutex
	// strike says what becomes of a request; nil lets all pass.
	strike func(request) blow
	// instead answers in place of the server, where it does; nil: it never does.
	instead func(request) *fault
	// lag is by how long the watch of a resource is late; nil: none is.
	lag func(resource string) time.Duration
	// behind has the resources whose watches bring nothing; it is closed when they go on.
	behind map[string]chan struct{}
	// gap is where nothing goes through at times; nil: there is none.
	gap *gap
	// twist changes texts on their way; nil: none.
	twist *twist
	// astray are requests of operators that were here before; nil: there are none.
	astray *astray
	// watches are those that were begun since they were ended last.
	watches []*stream
	sent    []request
	last    time.Time // when a write passed, or the wire was laid
	late    []*late   // watches
	// about are the names of the test's own group and namespace: watches bring the objects
	// of other tests too.
	about [][]byte
	// underWay and ended count the requests that a test waits for.
	underWay, ended atomic.Int64
}

// A blow is what becomes of a request.
type blow int

const (
	pass blow = iota
	// killBefore kills the operator before the request is sent.
	killBefore
	// killAfter kills it when the server has answered, before it sees that.
	killAfter
	// killLate kills it while the request is on its way: it goes astray.
	killLate
	// lose lets the server carry out the request and loses the answer.
	lose
	// expire answers 410 in place of the server.
	expire
)

var errCut = errors.New("the connection was cut")

func newWire() *wire {
	w := &wire{last: time.Now()}
	w.alive, w.kill = context.WithCancel(context.Background())
	return w
}

// through makes requests go through the wire.
func (w *wire) through(next http.RoundTripper) http.RoundTripper {
	return trip(func(r *http.Request) (*http.Response, error) {
		asked := parse(r)
		defer w.countRequest(asked)()
		b := w.note(asked)
		if w.instead != nil {
			if f := w.instead(asked); f != nil {
				return f.answer(r), nil
			}
		}
		if err := w.gap.pass(r.Context(), asked.resource); err != nil {
			return nil, err
		}
		switch b {
		case killLate:
			w.kill()
			w.astray.put(asked.object(), next, r.Clone(context.Background()))
		case killBefore:
			w.kill()
		case expire:
			return gone.answer(r), nil
		}
		if w.alive.Err() != nil {
			return nil, errCut
		}
		if w.astray != nil && asked.asks() {
			w.astray.meet(asked.object())
		}
		ctx, cancel := context.WithCancel(r.Context())
		context.AfterFunc(w.alive, cancel)
		answer, err := w.twist.through(next, r.WithContext(ctx), asked)
		if err == nil && b != pass {
			io.Copy(io.Discard, answer.Body) //nolint:errcheck // it is lost anyway
			answer.Body.Close()
		}
		if b == killAfter {
			w.kill()
		}
		if err != nil || b != pass || w.alive.Err() != nil {
			cancel()
			return nil, errors.Join(errCut, err)
		}
		body := &stream{ReadCloser: answer.Body, ctx: ctx, alive: w.alive, cancel: cancel, gap: w.gap, resource: asked.resource,
			began: time.Now()}
		answer.Body = body
		if asked.watch {
			w.noteWatch(body)
			answer.Body = w.delay(body, asked)
		}
		return answer, nil
	})
}

// activity describes what has passed, for AwaitQuiet. It fails while a request is under
// way, or a watch is yet to bring what has arrived.
func (w *wire) activity() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.late {
		if n := l.waiting.Load(); n > 0 && l.ctx.Err() == nil {
			return "", fmt.Errorf("the watch of %s is late by %d events", l.of.resource, n)
		}
	}
	if n := w.underWay.Load(); n > 0 {
		return "", fmt.Errorf("%d requests are under way", n)
	}
	return fmt.Sprintf("%d requests", w.ended.Load()), nil
}

// isAbout reports whether a text is about the test's own objects.
func (w *wire) isAbout(text []byte) bool {
	return slices.ContainsFunc(w.about, func(name []byte) bool { return bytes.Contains(text, name) })
}

// countRequest counts a request, unless the clock or another test causes it. end is called at its
// end.
func (w *wire) countRequest(r request) (end func()) {
	if r.watch || r.resource == "" || r.resource == "leases" || r.resource == "events" {
		return func() {}
	}
	w.underWay.Add(1)
	return func() {
		w.ended.Add(1)
		w.underWay.Add(-1)
	}
}

func (w *wire) noteWatch(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches = append(w.watches, s)
}

// endWatches ends all watches as the server does when their time is up.
func (w *wire) endWatches() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.watches {
		s.ended.Store(true)
		s.cancel()
	}
	w.watches = nil
}

type trip func(*http.Request) (*http.Response, error)

// RoundTrip sends one request.
func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// note records a request and decides about it.
func (w *wire) note(r request) (b blow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.strike != nil {
		b = w.strike(r)
	}
	if w.alive.Err() == nil && b != killBefore {
		r.at = time.Now()
		w.sent = append(w.sent, r)
		if r.writes() {
			w.last = time.Now()
		}
	}
	return b
}

// set changes what becomes of the requests from now on.
func (w *wire) set(strike func(request) blow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strike = strike
}

// kth strikes the k-th request that counts, from 1.
func kth(k int, b blow, counts func(request) bool) func(request) blow {
	n := 0
	return func(r request) blow {
		if !counts(r) {
			return pass
		}
		if n++; n == k {
			return b
		}
		return pass
	}
}

// killed reports whether the operator was killed.
func (w *wire) killed() bool { return w.alive.Err() != nil }

// idle reports whether no write has passed for a while.
func (w *wire) idle(d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last) > d
}

// wrote are the writes that passed.
func (w *wire) wrote() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.sent), func(r request) bool { return !r.writes() })
}

// asked are the requests that passed and write or read one object.
func (w *wire) asked() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.sent), func(r request) bool { return !r.asks() })
}

// A fault is an answer that says that something is wrong.
type fault struct {
	code       int
	reason     string
	retryAfter string // seconds; "" for none
}

// gone is what a server says that has forgotten a resource version.
var gone = &fault{code: http.StatusGone, reason: "Expired"}

// answer is the fault as an answer to a request.
func (f *fault) answer(r *http.Request) *http.Response {
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"it is so","reason":%q,"code":%d}`,
		f.reason, f.code)
	out := &http.Response{
		StatusCode: f.code, Status: fmt.Sprint(f.code, " ", http.StatusText(f.code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
	if f.retryAfter != "" {
		out.Header.Set("Retry-After", f.retryAfter)
	}
	return out
}

// A stream is an answer that ends with the operator.
type stream struct {
	io.ReadCloser
	ctx      context.Context // ends with the request
	alive    context.Context
	cancel   context.CancelFunc
	gap      *gap
	ended    atomic.Bool
	began    time.Time
	resource string
}

// Read reads as long as the operator is alive.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if cut := s.gap.pass(s.ctx, s.resource); cut != nil && err == nil {
		n, err = 0, cut
	}
	switch {
	case s.alive.Err() != nil:
		return 0, errCut
	case err != nil && s.ended.Load():
		return 0, io.EOF
	}
	return n, err
}

// Close ends the request.
func (s *stream) Close() error {
	defer s.cancel()
	return s.ReadCloser.Close()
}
