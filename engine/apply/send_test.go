package apply

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A busy server wants to be left alone for a second, in the way of priority and
// fairness: by a header and plain text.
type busy struct{ requests int }

func (b *busy) RoundTrip(r *http.Request) (*http.Response, error) {
	b.requests++
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}, "Content-Type": {"text/plain"}},
		Body: io.NopCloser(strings.NewReader("Too many requests")), Request: r}, nil
}

// TestSentOnce: no request is sent again behind the caller's back, who learns for
// how long the server wants to be left alone.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	secrets := live.Resource{GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespaced: true}
	for name, send := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &busy{}
			cfg := transport.Configure(&rest.Config{Host: "http://localhost", Transport: b}, time.Minute)
			client, err := rest.HTTPClientFor(cfg)
			if err != nil {
				t.Fatal(err)
			}
			w, err := NewWriter(cfg, client)
			if err != nil {
				t.Fatal(err)
			}
			err = send(t.Context(), w, secrets)
			var r *refusals.Refusal
			if !errors.As(err, &r) || r.Cause != refusals.TryAgain || r.RetryAfter != time.Second {
				t.Errorf("got %v (%+v), want to try again after a second", err, r)
			}
			if b.requests > 2 { // some look first
				t.Errorf("sent %d requests", b.requests)
			}
		})
	}
}
