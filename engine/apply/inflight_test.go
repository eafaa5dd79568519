package apply

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A desk answers a request when it is told how.
type desk chan int

func (d desk) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: <-d}, nil
}

// TestInFlight: as many requests are under way as the limit says, which a 429
// halves, once for all that were sent before it, and each calm second raises.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, answers := NewInFlight(), make(desk)
		send := func(ctx context.Context, path string) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://server"+path, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := l.Wrap(answers).RoundTrip(r) //nolint:bodyclose // it has none
			if err == nil && answer.StatusCode == 0 {
				t.Error("there is no answer")
			}
		}
		expect := func(when string, under, waiting, limit int) {
			t.Helper()
			synctest.Wait()
			if l.under != under || len(l.waiting) != waiting || l.limit != limit {
				t.Errorf("%s: %d under way, %d wait, limit %d; want %d, %d, %d", when, l.under, len(l.waiting), l.limit, under, waiting, limit)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			go send(t.Context(), "/api/v1/pods")
		}
		expect("at the start", 64, 36, 64)
		for range 5 {
			go send(ctx, "/api/v1/pods")
		}
		expect("when more come", 64, 41, 64)
		cancel()
		expect("when five do not want to wait", 64, 36, 64)
		go send(t.Context(), "/api/v1/pods?watch=true")
		go send(t.Context(), "/apis/coordination.k8s.io/v1/namespaces/a/leases/b")
		expect("with a watch and a Lease", 64, 36, 64)
		for range 2 { // whoever is answered, the count is the same
			answers <- http.StatusTooManyRequests
		}
		for range 64 + 2 + 36 - 2 {
			answers <- http.StatusOK
		}
		expect("after two 429 of one time", 0, 0, 32)
		time.Sleep(3500 * time.Millisecond)
		go send(t.Context(), "/api/v1/pods")
		expect("after three calm seconds", 1, 0, 35)
		answers <- http.StatusTooManyRequests
		expect("after one more 429", 0, 0, 17)
		time.Sleep(2 * time.Minute)
		go send(t.Context(), "/api/v1/pods")
		expect("after two minutes", 1, 0, 64)
		answers <- http.StatusOK
		expect("at the end", 0, 0, 64)
	})
}
