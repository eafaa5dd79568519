package controller

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// A leaseFence knows how long this process is certain to hold its Lease. A process that was
// suspended finds out only later that its Lease has expired. A write that it was about to send
// would undo what the next holder wrote.
type leaseFence struct {
	// duration is how long one renewal counts. It is shorter than others wait.
	duration time.Duration
	// renewed is when the last renewal was sent that the API server granted.
	renewed atomic.Pointer[time.Time]
}

// wrapConfig returns the access by which the Lease is renewed.
func (f *leaseFence) wrapConfig(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.RateLimiter = -1, nil // a renewal waits for nothing
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return renewalObserver{f, next} })
	return cfg
}

// timeRemaining returns how long no other process can hold the Lease. A running request ends with it.
// Both clocks count: the monotonic one stops while the machine is suspended, and the other one may
// be set back.
func (f *leaseFence) timeRemaining() (time.Duration, bool) {
	renewed := f.renewed.Load()
	if renewed == nil {
		return 0, true
	}
	now := time.Now()
	return f.duration - max(now.Sub(*renewed), now.Round(0).Sub(renewed.Round(0))), true
}

// A renewalObserver sends the requests of the election, and records the renewals that are granted.
type renewalObserver struct {
	fence *leaseFence
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (r renewalObserver) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := r.next.RoundTrip(request)
	renews := request.Method == http.MethodPut || request.Method == http.MethodPost
	if err == nil && answer.StatusCode < 300 && renews && strings.Contains(request.URL.Path, "/leases") {
		r.fence.renewed.Store(&sent)
	}
	return answer, err
}
