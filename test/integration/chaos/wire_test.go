package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// weather is what the network and the server do to requests at present, in per
// cent of them.
type weather struct {
	refused int // answered 429, 500 or 503, not carried out
	lost    int // carried out, and the answer lost
}

// A wire is all that connects one operator with the API server. It ends with
// the operator's life: then nothing of it reaches the server, and nothing
// reaches it.
type wire struct {
	*sky
	alive context.Context
	kill  context.CancelFunc

	mu      sync.Mutex
	watches []context.CancelFunc
}

// A sky is the weather over all operators, one after the other.
type sky struct {
	now  atomic.Pointer[weather]
	mu   sync.Mutex
	dice *rand.Rand
}

func (s *sky) roll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.IntN(100)
}

var errCut = errors.New("the connection was cut")

// through makes requests go through the wire.
func (w *wire) through(next http.RoundTripper) http.RoundTripper {
	return trip(func(r *http.Request) (*http.Response, error) {
		now, watch := *w.now.Load(), r.URL.Query().Get("watch") != ""
		if w.roll() < now.refused {
			return w.refusal(r), nil
		}
		if w.alive.Err() != nil {
			return nil, errCut
		}
		ctx, cancel := context.WithCancel(r.Context())
		context.AfterFunc(w.alive, cancel)
		answer, err := next.RoundTrip(r.WithContext(ctx))
		if err != nil {
			cancel()
			return nil, err
		}
		if !watch && w.roll() < now.lost || w.alive.Err() != nil {
			_, _ = io.Copy(io.Discard, answer.Body) // the server is done with it
			answer.Body.Close()
			cancel()
			return nil, errCut
		}
		if watch {
			w.mu.Lock()
			w.watches = append(w.watches, cancel)
			w.mu.Unlock()
		}
		answer.Body = &body{answer.Body, cancel}
		return answer, nil
	})
}

// refusal is the answer of a server that has too much to do, or is ill.
func (w *wire) refusal(r *http.Request) *http.Response {
	kinds := []struct {
		code   int
		reason string
	}{{http.StatusTooManyRequests, "TooManyRequests"}, {http.StatusInternalServerError, "InternalError"},
		{http.StatusServiceUnavailable, "ServiceUnavailable"}}
	k := kinds[w.roll()%len(kinds)]
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"chaos","reason":%q,"code":%d}`,
		k.reason, k.code)
	answer := &http.Response{
		StatusCode: k.code, Status: fmt.Sprint(k.code, " ", http.StatusText(k.code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
	}
	if k.code == http.StatusTooManyRequests {
		answer.Header.Set("Retry-After", "1")
	}
	return answer
}

// endWatches ends all watches as the server does when their time is up.
func (w *wire) endWatches() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.watches {
		end()
	}
	w.watches = nil
}

type trip func(*http.Request) (*http.Response, error)

// RoundTrip sends one request.
func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// A body frees its request's context when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
