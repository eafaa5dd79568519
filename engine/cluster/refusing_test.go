package cluster

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A refusingServer serves ConfigMaps. It answers about Things as an API server 1.37 does
// while their conversion webhook is dead, until it is healed.
type refusingServer struct {
	isHealed atomic.Bool

	mu sync.Mutex
	// asked are the requests about Things.
	asked []string
}

const deadWebhook = `conversion webhook for observe.test/v1beta1, Kind=Thing failed: Post \"https://127.0.0.1:1/convert?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused`

// ServeHTTP answers a request.
func (s *refusingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	things := strings.HasSuffix(r.URL.Path, "/things")
	if things {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RawQuery)
		s.mu.Unlock()
	}
	query := r.URL.Query()
	switch {
	case things && !s.isHealed.Load() && query.Get("limit") == "1" && query.Get("labelSelector") == "":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"StorageReadError","code":500,"message":"failed to read one or more things.observe.test from the storage: StorageError: corrupt object, Code: 7, Key: /registry/observe.test/things/team-b/hidden, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=215: `+deadWebhook+`"}`)
	case things && !s.isHealed.Load():
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"storage is (re)initializing","details":{"retryAfterSeconds":30}}`)
	case query.Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400}`)
	case query.Get("watch") != "":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[]}`)
	}
}

// children watches the kinds that the server serves.
func (s *refusingServer) children(t *testing.T, change func(*ChildrenOptions)) (*Children, *witness) {
	t.Helper()
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	verbs := metav1.Verbs{"list", "watch"}
	served := newServed(&Served{}, []*metav1.APIGroup{
		{Name: "", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "v1", Version: "v1"}}},
		{Name: "observe.test", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "observe.test/v1", Version: "v1"}}},
	}, []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs}}},
		{GroupVersion: "observe.test/v1", APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Namespaced: true, Verbs: verbs}}},
	}, map[schema.GroupVersion]error{})
	cfg := transport.Configure(&rest.Config{Host: at.URL}, time.Minute)
	children, w := startChildren(t, cfg, change)
	children.Served(func() *Served { return served })
	return children, w
}

// TestDeadConversionWebhook: a kind whose conversion webhook is dead is in trouble at
// once, which names the webhook and no object. It is asked for rarely, no other kind
// waits, and it is known as soon as its CRD is repaired.
func TestDeadConversionWebhook(t *testing.T) {
	t.Parallel()
	s := &refusingServer{}
	children, w := s.children(t, func(*ChildrenOptions) {})
	children.Want("k", wants{configMaps: live.Metadata, things: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	eventually(t, "the trouble is known", func() bool { return children.State(things).Err != nil })
	state := children.State(things)
	const want = `listing things.observe.test: conversion webhook for observe.test/v1beta1, Kind=Thing failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`
	if state.Phase != live.Unsynced || state.Coming() || state.Err.Error() != want {
		t.Errorf("it is %s: %v\nwant %s", state.Phase, state.Err, want)
	}
	eventually(t, "three tries", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.asked) >= 9 })
	s.mu.Lock()
	for i, query := range s.asked[:9] {
		kinds := []string{"sendInitialEvents=true", "labelSelector=", "limit=1"}
		if one := kinds[i%3]; !strings.Contains(query, one) {
			t.Errorf("request %d is ?%s, want one with %s", i, query, one)
		}
	}
	s.mu.Unlock()
	w.mu.Lock()
	if w.troubled[things] != 1 {
		t.Errorf("the same trouble is reported %d times", w.troubled[things])
	}
	w.mu.Unlock()
	s.isHealed.Store(true)
	children.Renew(things.GroupKind())
	synced(t, children, things, live.Metadata)
	if err := children.State(things).Err; err != nil {
		t.Errorf("it is in trouble still: %v", err)
	}
}

// TestTroubleStaysWhenAnotherPartIsWanted: a kind that cannot be listed stays in the same
// trouble when another part of it is wanted, and nobody reports that it is well again.
func TestTroubleStaysWhenAnotherPartIsWanted(t *testing.T) {
	t.Parallel()
	s := &refusingServer{}
	var part atomic.Int64
	children, w := s.children(t, func(o *ChildrenOptions) {
		o.Part = func(schema.GroupVersionKind, []string) Part { return Part{Name: strconv.FormatInt(part.Load(), 10)} }
	})
	children.Want("k", wants{things: live.Metadata})
	eventually(t, "the trouble is known", func() bool { return strings.Contains(errorText(children.State(things).Err), "webhook") })
	part.Store(1)
	children.Divide()
	if err := children.State(things).Err; !strings.Contains(errorText(err), "webhook") {
		t.Errorf("its trouble is %v", err)
	}
	if !children.Divided(things, "1") {
		t.Error("it is waited for")
	}
	eventually(t, "a try to list the other part", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.asked) >= 6 })
	w.mu.Lock()
	if w.troubled[things] != 1 {
		t.Errorf("the same trouble is reported %d times", w.troubled[things])
	}
	w.mu.Unlock()
	s.isHealed.Store(true)
	synced(t, children, things, live.Metadata)
}
