package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A desk answers a request when it is told how.
type desk chan *http.Response

func (d desk) RoundTrip(*http.Request) (*http.Response, error) { return <-d, nil }

// An office has a limit and a desk behind it.
type office struct {
	*testing.T
	*InFlight
	desk
	notSent int
}

func (o *office) send(ctx context.Context, path string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://server"+path, http.NoBody)
	if err != nil {
		o.Error(err)
		return
	}
	answer, err := o.Wrap(o.desk).RoundTrip(r) //nolint:bodyclose // it has none
	switch {
	case errors.Is(err, ErrNotSent):
		o.notSent++
	case err != nil || answer.StatusCode == 0:
		o.Errorf("there is no answer: %v", err)
	}
}

// answers answers so many requests.
func (o *office) answers(n, status int, contentType string) {
	for range n {
		o.desk <- &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}}
	}
}

func (o *office) expect(when string, under, waiting, limit int) {
	o.Helper()
	synctest.Wait()
	if o.under != under || len(o.waiting) != waiting || o.limit != limit {
		o.Errorf("%s: %d under way, %d wait, limit %d; want %d, %d, %d", when, o.under, len(o.waiting), o.limit, under, waiting, limit)
	}
}

const plain, ofStatus = "text/plain; charset=utf-8", "application/json"

// resource is the path of one of many resources.
func resource(n int) string { return fmt.Sprintf("/apis/example.com/v1/namespaces/a/things%d/b", n%8) }

// TestInFlight: as many requests are under way as the limit says, which a 429
// halves, once for all that were sent before it, and each calm second raises.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, InFlight: NewInFlight(), desk: make(desk)}
		ctx, cancel := context.WithCancel(t.Context())
		for n := range 100 {
			go o.send(t.Context(), resource(n))
			synctest.Wait()
		}
		o.expect("at the start", 64, 36, 64)
		for n := range 5 {
			go o.send(ctx, resource(n))
		}
		o.expect("when more come", 64, 41, 64)
		cancel()
		o.expect("when five do not want to wait", 64, 36, 64)
		if o.notSent != 5 {
			t.Errorf("%d say that they were not sent, want 5", o.notSent)
		}
		go o.send(t.Context(), "/api/v1/pods?watch=true")
		go o.send(t.Context(), "/apis/coordination.k8s.io/v1/namespaces/a/leases/b")
		go o.send(t.Context(), "/k8s/clusters/c/apis/coordination.k8s.io/v1/namespaces/a/leases/b")
		o.expect("with a watch and Leases", 64, 36, 64)
		o.answers(2, http.StatusTooManyRequests, plain) // whoever is answered, the count is the same
		o.answers(64+3+36-2, http.StatusOK, ofStatus)
		o.expect("after two 429 of one time", 0, 0, 32)
		time.Sleep(3500 * time.Millisecond)
		go o.send(t.Context(), resource(0))
		o.expect("after three calm seconds", 1, 0, 35)
		o.answers(1, http.StatusTooManyRequests, plain)
		o.expect("after one more 429", 0, 0, 17)
		for range 9 {
			time.Sleep(time.Millisecond)
			go o.send(t.Context(), resource(0))
			o.answers(1, http.StatusTooManyRequests, plain)
		}
		o.expect("after many", 0, 0, 4)
		time.Sleep(2 * time.Minute)
		go o.send(t.Context(), resource(0))
		o.expect("after two minutes", 1, 0, 64)
		o.answers(1, http.StatusTooManyRequests, ofStatus)
		o.expect("after a 429 that is about one resource", 0, 0, 64)
	})
}

// TestInFlightIsRaised: who waits gets a turn when the limit is raised, though nothing
// that is under way ends.
func TestInFlightIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, InFlight: NewInFlight(), desk: make(desk)}
		o.limit, o.calm = 4, time.Now()
		for n := range 6 {
			go o.send(t.Context(), resource(n))
		}
		o.expect("while the limit is low", 4, 2, 4)
		time.Sleep(2500 * time.Millisecond)
		o.expect("after two seconds", 6, 0, 6)
		o.answers(6, http.StatusOK, ofStatus)
		o.expect("at the end", 0, 0, 6)
	})
}

// TestInFlightIsShared: requests about one resource that get no answer leave three
// quarters to others.
func TestInFlightIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, InFlight: NewInFlight(), desk: make(desk)}
		for n := range 40 {
			go o.send(t.Context(), fmt.Sprintf("/apis/slow.example.com/v1/namespaces/n%d/things/a", n))
		}
		o.expect("of one", 16, 24, 64)
		for n := range 10 {
			go o.send(t.Context(), fmt.Sprintf("/api/v1/namespaces/n%d/pods/a/status", n))
		}
		o.expect("of another", 26, 24, 64)
		o.answers(50, http.StatusOK, ofStatus)
		o.expect("at the end", 0, 0, 64)
	})
}

func TestResourceOf(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/namespaces/a/pods/b/status":           "/v1/pods",
		"/api/v1/nodes/a":                              "/v1/nodes",
		"/api/v1/namespaces":                           "/v1/namespaces",
		"/api/v1/namespaces/a":                         "/v1/namespaces",
		"/apis/apps/v1/namespaces/a/deployments/b":     "s/apps/v1/deployments",
		"/apis/apps/v1/deployments":                    "s/apps/v1/deployments",
		"/base/apis/apps/v1/namespaces/a/deployments/": "s/apps/v1/deployments",
		"/version": "",
	} {
		if got := resourceOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
