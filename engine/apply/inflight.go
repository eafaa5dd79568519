package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jacquard-operator/jacquard/engine/transport"
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

// errNotSent is why a request was not sent: it waited for its turn until its context
// ended.
var errNotSent = errors.New("as many requests as may be are under way")

// NotSent reports whether an error says that a request was not sent.
func NotSent(err error) bool { return errors.Is(err, errNotSent) }

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
	if transport.IsWatch(r) || strings.Contains(r.URL.Path, "/apis/coordination.k8s.io/") {
		return l.next.RoundTrip(r)
	}
	resource := resourceOf(r.URL.Path)
	if err := l.by.begin(r.Context(), resource); err != nil {
		return nil, err
	}
	began := l.by.now()
	defer func() { l.by.end(resource, began, err == nil && tooMany(answer)) }()
	if r, err = barred(r); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	return l.next.RoundTrip(r)
}

// WrappedRoundTripper is the transport that is limited.
func (l limited) WrappedRoundTripper() http.RoundTripper { return l.next }

// tooMany reports whether an answer says that the server has too many requests: its fair
// queues answer 429 with a text. With a Status it is about one resource, such as a
// list for which its cache is not ready.
func tooMany(answer *http.Response) bool {
	return answer.StatusCode == http.StatusTooManyRequests && !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/")
}

// resourceOf is the resource that a path is about, without namespace and name.
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

// begin waits for a turn, or until ctx ends.
func (l *InFlight) begin(ctx context.Context, resource string) error {
	mine := &turn{resource, make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, mine)
	l.wake()
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
			l.wake()
			l.mu.Unlock()
		case <-ctx.Done():
			l.mu.Lock()
			defer l.mu.Unlock()
			if i := slices.Index(l.waiting, mine); i >= 0 {
				l.waiting = slices.Delete(l.waiting, i, i+1)
			} else { // its turn came meanwhile
				l.leave(resource)
				l.wake()
			}
			return fmt.Errorf("%w: %w", errNotSent, ctx.Err())
		}
	}
}

// end ends a request that began then. Of requests that were refused together only
// the first halves the limit.
func (l *InFlight) end(resource string, began time.Time, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(resource)
	l.raise()
	if refused && began.After(l.halved) {
		l.limit = max(leastInFlight, l.limit/2)
		l.halved = l.now()
	}
	if refused {
		l.calm = l.now()
	}
	l.wake()
}

func (l *InFlight) leave(resource string) {
	l.under--
	if l.of[resource]--; l.of[resource] == 0 {
		delete(l.of, resource)
	}
}

// raise raises the limit by one for each second that was calm.
func (l *InFlight) raise() {
	seconds := int(l.now().Sub(l.calm) / time.Second)
	if l.limit = min(mostInFlight, l.limit+min(seconds, mostInFlight)); seconds > 0 {
		l.calm = l.calm.Add(time.Duration(seconds) * time.Second)
	}
}

// wake gives turns to those that wait, as far as the limit and the shares allow.
func (l *InFlight) wake() {
	l.raise()
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
