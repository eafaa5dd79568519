package controller

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// A tenure is for how long this process leads for sure. One that stood still,
// with its machine or by a signal, finds out only after a while that its Lease
// has run out; what it had to write when it stood still would undo what the next
// leader wrote.
type tenure struct {
	// lasts is for how long one renewal is good: less than others wait.
	lasts time.Duration
	// renewed is when the last renewal that the server granted was sent.
	renewed atomic.Pointer[time.Time]
}

// of is the access by which the Lease is renewed.
func (t *tenure) of(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.RateLimiter = -1, nil // a renewal waits for nothing
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return renewals{t, next} })
	return cfg
}

// on reports whether nobody else can lead yet. Both clocks count: the monotonic one
// stands still with the machine, and the other one may be set back.
func (t *tenure) on() bool {
	renewed := t.renewed.Load()
	if renewed == nil {
		return false
	}
	now := time.Now()
	return now.Sub(*renewed) < t.lasts && now.Round(0).Sub(renewed.Round(0)) < t.lasts
}

// renewals are the requests of the election.
type renewals struct {
	lead *tenure
	next http.RoundTripper
}

// RoundTrip sends a request, and notes a renewal that was granted.
func (r renewals) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := r.next.RoundTrip(request)
	if err == nil && answer.StatusCode < 300 && request.Method != http.MethodGet && strings.Contains(request.URL.Path, "/leases") {
		r.lead.renewed.Store(&sent)
	}
	return answer, err
}
