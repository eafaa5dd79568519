package liveview

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/transport"
)

// TestSilentResourceIsAskedOnce: a resource about which the API server gave no answer, or
// not all of it, is not waited for again, in whatever namespace; others are read.
func TestSilentResourceIsAskedOnce(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"no answer": func(http.ResponseWriter) {},
		"no end": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"kind":"List",`))
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[resourceOf(r.URL.Path)]++
				mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				if resourceOf(r.URL.Path) == "/apis/example.com/v1/sicks" {
					begin(w)
					<-r.Context().Done()
					return
				}
				_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
			}))
			defer server.Close()
			cfg := transport.Configure(&rest.Config{Host: server.URL}, 50*time.Millisecond)
			cfg.Wrap(keepSilence)
			client := dynamic.NewForConfigOrDie(cfg)
			sicks := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "sicks"})
			maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
			for range 2 {
				for _, namespace := range []string{"", "a", "b"} {
					_, err := sicks.Namespace(namespace).List(t.Context(), metav1.ListOptions{})
					var timeout *transport.TimeoutError
					if !errors.As(err, &timeout) {
						t.Errorf("got %v", err)
					}
				}
				if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
					t.Error(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if asked["/apis/example.com/v1/sicks"] != 1 || asked["/api/v1/configmaps"] != 2 {
				t.Errorf("the server was asked %v", asked)
			}
		})
	}
}

func TestResourceOf(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/namespaces":                       "/api/v1/namespaces",
		"/api/v1/namespaces/a":                     "/api/v1/namespaces",
		"/api/v1/namespaces/a/pods":                "/api/v1/pods",
		"/api/v1/namespaces/a/pods/b":              "/api/v1/pods",
		"/apis/apps/v1/deployments":                "/apis/apps/v1/deployments",
		"/apis/apps/v1/namespaces/a/deployments/b": "/apis/apps/v1/deployments",
		"/apis/example.com/v1/webs/a":              "/apis/example.com/v1/webs",
		"/apis":                                    "/apis",
		"/readyz":                                  "/readyz",
	} {
		if got := resourceOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
