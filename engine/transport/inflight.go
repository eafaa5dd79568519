package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// mostInFlight is how many requests of a process are under way at most: fewer than
	// an API server takes by default from everybody (200 that write, 400 that read).
	mostInFlight = 64
	// leastInFlight is how many there may be however often a server is busy.
	leastInFlight = 4
	// shares: of the limit, requests about one resource, such as Deployments, have one
	// of so many shares at most. One whose webhook hangs leaves the rest to others.
	shares = 4
)

// ErrNotSent is the error of a request that was not sent: it waited for its turn until its
// context ended, or its [Gate] was closed by then.
var ErrNotSent = errors.New("as many requests as may be are under way")

// An InFlight limits how many requests of the process are under way at a time, and
// gives way to a server that is busy: at an answer 429 the limit is halved, and for
// each second without one it is raised by one, up to 64. Watches, and what renews a
// Lease, are not limited. The zero value is not ready: see NewInFlight.
type InFlight struct {
	now func() time.Time

	mu      sync.Mutex
	limit   int
	under   int
	of      map[string]int // of those under way, by resource
	waiting []*turn        // the first comes first, if its resource may
	// halved is when the limit was halved last, and calm until when it was raised for
	// the seconds since.
	halved, calm time.Time
}

// A turn is what a request waits for.
type turn struct {
	resource string
	came     chan struct{}
}

// NewInFlight returns a limit that nobody has reached yet.
func NewInFlight() *InFlight {
	return &InFlight{now: time.Now, limit: mostInFlight, of: map[string]int{}}
}

// Wrap returns a transport of which this is the limit.
func (l *InFlight) Wrap(next http.RoundTripper) http.RoundTripper { return limited{l, next} }

type limited struct {
	by   *InFlight
	next http.RoundTripper
}

// RoundTrip sends a request when it is its turn.
func (l limited) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if IsWatch(r) || strings.Contains(r.URL.Path, "/apis/coordination.k8s.io/") {
		return l.next.RoundTrip(r)
	}
	resource := resourceOf(r.URL.Path)
	if err := l.by.awaitTurn(r.Context(), resource); err != nil {
		return nil, err
	}
	began := l.by.now()
	defer func() { l.by.endRequest(resource, began, err == nil && isTooMany(answer)) }()
	if r, err = passGate(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return l.next.RoundTrip(r)
}

// WrappedRoundTripper returns the transport that is limited.
func (l limited) WrappedRoundTripper() http.RoundTripper { return l.next }

// isTooMany reports whether an answer says that the server has too many requests: its fair
// queues answer 429 with a text. With a Status it is about one resource, such as a
// list for which its cache is not ready.
func isTooMany(answer *http.Response) bool {
	return answer.StatusCode == http.StatusTooManyRequests && !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/")
}

// resourceOf returns the resource that a path is about, without namespace and name.
func resourceOf(path string) string {
	_, rest, _ := strings.Cut(path, "/api")
	steps := strings.Split(rest, "/")
	if i := slices.Index(steps, "namespaces"); i >= 0 && len(steps) > i+2 {
		steps = slices.Delete(steps, i, i+2)
	}
	most := 3 // "", v1, pods
	if strings.HasPrefix(rest, "s/") {
		most = 4 // s, apps, v1, deployments
	}
	return strings.Join(steps[:min(most, len(steps))], "/")
}

// awaitTurn waits until a request may be sent, or until ctx ends.
func (l *InFlight) awaitTurn(ctx context.Context, resource string) error {
	mine := &turn{resource, make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, mine)
	l.grantTurns()
	l.mu.Unlock()
	select {
	case <-mine.came:
		return nil
	default:
	}
	every := time.NewTicker(time.Second) // the limit may be raised while nothing ends
	defer every.Stop()
	for {
		select {
		case <-mine.came:
			return nil
		case <-every.C:
			l.mu.Lock()
			l.grantTurns()
			l.mu.Unlock()
		case <-ctx.Done():
			l.mu.Lock()
			defer l.mu.Unlock()
			if i := slices.Index(l.waiting, mine); i >= 0 {
				l.waiting = slices.Delete(l.waiting, i, i+1)
			} else { // its turn came meanwhile
				l.releaseSlot(resource)
				l.grantTurns()
			}
			return fmt.Errorf("%w: %w", ErrNotSent, ctx.Err())
		}
	}
}

// endRequest ends a request that began at that time. Of requests that were refused together only
// the first halves the limit.
func (l *InFlight) endRequest(resource string, began time.Time, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseSlot(resource)
	l.raiseLimit()
	if refused && began.After(l.halved) {
		l.limit = max(leastInFlight, l.limit/2)
		l.halved = l.now()
	}
	if refused {
		l.calm = l.now()
	}
	l.grantTurns()
}

func (l *InFlight) releaseSlot(resource string) {
	l.under--
	if l.of[resource]--; l.of[resource] == 0 {
		delete(l.of, resource)
	}
}

// raiseLimit raises the limit by one for each second that was calm.
func (l *InFlight) raiseLimit() {
	seconds := int(l.now().Sub(l.calm) / time.Second)
	if l.limit = min(mostInFlight, l.limit+min(seconds, mostInFlight)); seconds > 0 {
		l.calm = l.calm.Add(time.Duration(seconds) * time.Second)
	}
}

// grantTurns lets requests that wait be sent, as far as the limit and the shares allow.
func (l *InFlight) grantTurns() {
	l.raiseLimit()
	l.waiting = slices.DeleteFunc(l.waiting, func(t *turn) bool {
		if l.under >= l.limit || l.of[t.resource] >= max(1, l.limit/shares) {
			return false
		}
		l.under++
		l.of[t.resource]++
		close(t.came)
		return true
	})
}
