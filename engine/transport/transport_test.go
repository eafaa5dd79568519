package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/ptr"
)

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// requests are one of each way in which the project asks an API server.
var requests = map[string]func(context.Context, *rest.Config) error{
	"get": func(ctx context.Context, cfg *rest.Config) error {
		_, err := dynamic.NewForConfigOrDie(cfg).Resource(secrets).Namespace("ns").Get(ctx, "a", metav1.GetOptions{})
		return err
	},
	"list": func(ctx context.Context, cfg *rest.Config) error {
		_, err := dynamic.NewForConfigOrDie(cfg).Resource(secrets).List(ctx, metav1.ListOptions{})
		return err
	},
	"list metadata": func(ctx context.Context, cfg *rest.Config) error {
		_, err := metadata.NewForConfigOrDie(cfg).Resource(secrets).List(ctx, metav1.ListOptions{})
		return err
	},
	"watch": func(ctx context.Context, cfg *rest.Config) error {
		w, err := dynamic.NewForConfigOrDie(cfg).Resource(secrets).Watch(ctx, metav1.ListOptions{TimeoutSeconds: ptr.To[int64](1)})
		if err == nil {
			w.Stop()
		}
		return err
	},
	"patch": func(ctx context.Context, cfg *rest.Config) error {
		_, err := dynamic.NewForConfigOrDie(cfg).Resource(secrets).Namespace("ns").Patch(ctx, "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		return err
	},
	"create": func(ctx context.Context, cfg *rest.Config) error {
		_, err := dynamic.NewForConfigOrDie(cfg).Resource(secrets).Namespace("ns").Create(ctx, &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"}}}, metav1.CreateOptions{})
		return err
	},
	"delete": func(ctx context.Context, cfg *rest.Config) error {
		return dynamic.NewForConfigOrDie(cfg).Resource(secrets).Namespace("ns").Delete(ctx, "a", metav1.DeleteOptions{})
	},
	"access review": func(ctx context.Context, cfg *rest.Config) error {
		_, err := authorizationclient.NewForConfigOrDie(cfg).SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
		return err
	},
	"version": func(ctx context.Context, cfg *rest.Config) error {
		_, err := discovery.NewDiscoveryClientForConfigOrDie(cfg).ServerVersionWithContext(ctx)
		return err
	},
}

// serve serves every request by handle, and counts them.
func serve(t *testing.T, handle http.HandlerFunc) (*rest.Config, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client has gone
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter()}, &n
}

// TestRequestsAreSentOnce: whatever the API server answers, its first answer is the
// caller's, and no library sends a second request.
func TestRequestsAreSentOnce(t *testing.T) {
	t.Parallel()
	status := func(code, after string, number int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(number)
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"`+code+`","message":"storage is (re)initializing"}`)
		}
	}
	busy := func(err error) bool { return apierrors.IsTooManyRequests(err) }
	down := func(err error) bool { return apierrors.IsServiceUnavailable(err) }
	internal := func(err error) bool { return apierrors.IsInternalError(err) }
	lost := func(err error) bool { var lost *LostError; return errors.As(err, &lost) }
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		means  func(error) bool
	}{
		"429":      {status("TooManyRequests", "30", http.StatusTooManyRequests), busy},
		"429, now": {status("TooManyRequests", "0", http.StatusTooManyRequests), busy},
		"503":      {status("ServiceUnavailable", "30", http.StatusServiceUnavailable), down},
		"500":      {status("InternalError", "30", http.StatusInternalServerError), internal},
		"closed":   {func(w http.ResponseWriter, _ *http.Request) { hangUp(w, -1) }, lost},
		"reset":    {func(w http.ResponseWriter, _ *http.Request) { hangUp(w, 0) }, lost},
		"429 as text": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			http.Error(w, "Too many requests", http.StatusTooManyRequests)
		}, busy},
	} {
		for what, send := range requests {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				cfg, n := serve(t, c.handle)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if err := send(ctx, Configure(cfg, time.Minute)); !c.means(err) {
					t.Errorf("got %v", err)
				}
				if n.Load() != 1 {
					t.Errorf("sent %d requests", n.Load())
				}
			})
		}
	}
}

// hangUp closes the connection of a request, and resets it with a linger of 0.
func hangUp(w http.ResponseWriter, linger int) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_ = conn.(*net.TCPConn).SetLinger(linger)
	_ = conn.Close()
}

// TestRequestsAreLimited: a request that is not answered, or whose answer does not end,
// fails in time; a watch goes on.
func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no end": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"apiVersion":"v1",`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		for what, send := range requests {
			if what == "watch" {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				cfg, n := serve(t, handle)
				err := send(t.Context(), Configure(cfg, 50*time.Millisecond))
				var timeout *TimeoutError
				if !errors.As(err, &timeout) && (err == nil || !strings.Contains(err.Error(), "no answer within 50ms")) {
					t.Errorf("got %v", err)
				}
				if n.Load() != 1 {
					t.Errorf("sent %d requests", n.Load())
				}
			})
		}
	}
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		ends := make(chan struct{})
		cfg, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			<-ends
			_, _ = io.WriteString(w, `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}}`)
		})
		w, err := dynamic.NewForConfigOrDie(Configure(cfg, time.Nanosecond)).Resource(secrets).Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		close(ends)
		if event := <-w.ResultChan(); event.Type != "ADDED" {
			t.Errorf("got %v", event)
		}
	})
}

// TestRetryAfterIsKept: a caller that asks for it learns how long the API server wants
// to wait.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	cfg, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "Too many requests", http.StatusTooManyRequests)
	})
	var wait time.Duration
	err := requests["get"](WithRetryAfter(t.Context(), &wait), Configure(cfg, time.Minute))
	if !apierrors.IsTooManyRequests(err) || wait != 7*time.Second {
		t.Errorf("got %v, to wait %s", err, wait)
	}
}

// TestLateWritesMayBeDone: of a write that got no answer in time it is said that it may be
// done all the same; of a read and a dry run it is not.
func TestLateWritesMayBeDone(t *testing.T) {
	t.Parallel()
	cfg, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := dynamic.NewForConfigOrDie(Configure(cfg, 50*time.Millisecond)).Resource(secrets)
	patch := func(options metav1.PatchOptions) error {
		_, err := client.Patch(t.Context(), "a", types.MergePatchType, []byte(`{}`), options)
		return err
	}
	_, read := client.Get(t.Context(), "a", metav1.GetOptions{})
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"read":    {read, false},
		"dry run": {patch(metav1.PatchOptions{DryRun: []string{"All"}}), false},
		"write":   {patch(metav1.PatchOptions{}), true},
		"delete":  {client.Delete(t.Context(), "a", metav1.DeleteOptions{}), true},
	} {
		if got := strings.Contains(c.err.Error(), "whether it was done is not known"); got != c.want {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
