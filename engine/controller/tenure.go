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

// left is for how long nobody else can lead yet; a request that is under way ends with it. Both clocks count: the monotonic one
// stands still with the machine, and the other one may be set back.
func (t *tenure) left() (time.Duration, bool) {
	renewed := t.renewed.Load()
	if renewed == nil {
		return 0, true
	}
	now := time.Now()
	return t.lasts - max(now.Sub(*renewed), now.Round(0).Sub(renewed.Round(0))), true
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
	renews := request.Method == http.MethodPut || request.Method == http.MethodPost
	if err == nil && answer.StatusCode < 300 && renews && strings.Contains(request.URL.Path, "/leases") {
		r.lead.renewed.Store(&sent)
	}
	return answer, err
}
