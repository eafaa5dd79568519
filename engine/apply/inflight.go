package apply

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// mostInFlight is how many requests of a process are under way at most: fewer than
// an API server takes by default from everybody (200 that write, 400 that read).
const mostInFlight = 64

// An InFlight limits how many requests of the process are under way at a time, and
// gives way to a server that is busy: at an answer 429 the limit is halved, and for
// each second without one it is raised by one, up to 64. Watches, and what renews a
// Lease, are not limited. The zero value is not ready: see NewInFlight.
type InFlight struct {
	now func() time.Time

	mu      sync.Mutex
	limit   int
	under   int
	waiting []chan struct{} // the first comes first
	// halved is when the limit was halved last, and calm until when it was raised for
	// the seconds since.
	halved, calm time.Time
}

// NewInFlight returns a limit that nobody has reached yet.
func NewInFlight() *InFlight { return &InFlight{now: time.Now, limit: mostInFlight} }

// Wrap returns a transport of which this is the limit.
func (l *InFlight) Wrap(next http.RoundTripper) http.RoundTripper { return limited{l, next} }

type limited struct {
	by   *InFlight
	next http.RoundTripper
}

// RoundTrip sends a request when it is its turn.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") != "" || strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/") {
		return l.next.RoundTrip(r)
	}
	if err := l.by.begin(r.Context()); err != nil {
		return nil, err
	}
	began := l.by.now()
	answer, err := l.next.RoundTrip(r)
	l.by.end(began, err == nil && answer.StatusCode == http.StatusTooManyRequests)
	return answer, err
}

// WrappedRoundTripper is the transport that is limited.
func (l limited) WrappedRoundTripper() http.RoundTripper { return l.next }

// begin waits for a turn, or until ctx ends.
func (l *InFlight) begin(ctx context.Context) error {
	l.mu.Lock()
	l.raise()
	if l.under < l.limit && len(l.waiting) == 0 {
		l.under++
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiting {
		if other == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return ctx.Err()
		}
	}
	l.under-- // its turn came meanwhile
	l.wake()
	return ctx.Err()
}

// end ends a request that began then. Of requests that were refused together only
// the first halves the limit.
func (l *InFlight) end(began time.Time, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under--
	l.raise()
	if refused && began.After(l.halved) {
		l.limit = max(1, l.limit/2)
		l.halved = l.now()
	}
	if refused {
		l.calm = l.now()
	}
	l.wake()
}

// raise raises the limit by one for each second that was calm.
func (l *InFlight) raise() {
	seconds := int(l.now().Sub(l.calm) / time.Second)
	if l.limit = min(mostInFlight, l.limit+min(seconds, mostInFlight)); seconds > 0 {
		l.calm = l.calm.Add(time.Duration(seconds) * time.Second)
	}
}

// wake gives turns to those that wait, as far as the limit allows.
func (l *InFlight) wake() {
	for l.under < l.limit && len(l.waiting) > 0 {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.under++
	}
}
