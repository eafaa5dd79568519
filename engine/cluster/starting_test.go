package cluster

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// A server answers discovery like one whose only CRD it may not show yet.
type server struct{ ready, shows atomic.Bool }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := map[string]any{
		"/api":    metav1.APIVersions{Versions: []string{"v1"}},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "namespaces", Kind: "Namespace"}}},
		"/apis":   metav1.APIGroupList{},
	}
	if s.shows.Load() {
		v1 := metav1.GroupVersionForDiscovery{GroupVersion: "observe.test/v1", Version: "v1"}
		answers["/apis"] = metav1.APIGroupList{Groups: []metav1.APIGroup{
			{Name: "observe.test", Versions: []metav1.GroupVersionForDiscovery{v1}, PreferredVersion: v1}}}
		answers["/apis/observe.test/v1"] = metav1.APIResourceList{GroupVersion: "observe.test/v1",
			APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing"}}}
	}
	if s.ready.Load() {
		answers["/readyz"] = "ok"
	}
	answer, found := answers[r.URL.Path]
	if !found {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// TestNothingIsAbsentBeforeReady: what an API server does not show is there still
// until it says that it is ready.
func TestNothingIsAbsentBeforeReady(t *testing.T) {
	s := &server{}
	at := httptest.NewServer(s)
	defer at.Close()
	d, err := NewDiscovery(&rest.Config{Host: at.URL}, at.Client())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		when         string
		shows, ready bool
		known, found bool
	}{
		{when: "it starts"},
		{when: "it is ready", shows: true, ready: true, known: true, found: true},
		{when: "it starts again", known: true, found: true},
		{when: "it shows all before it is ready", shows: true, known: true, found: true},
		{when: "it starts once more", known: true, found: true},
		{when: "the CRD is gone", ready: true, known: true},
	} {
		s.shows.Store(c.shows)
		s.ready.Store(c.ready)
		err := d.Refresh(t.Context())
		_, known := d.Served().Resource(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
		if _, found := d.Served().Resource(things); known != c.known || found != c.found {
			t.Errorf("%s: something is known: %v, and the CRD's kind is there: %v (%v)", c.when, known, found, err)
		}
	}
}

// TestAPIServerStarts: whoever asks a real API server again and again while it
// starts never finds that a kind of a CRD is absent: when it says that it is
// ready, it shows them.
func TestAPIServerStarts(t *testing.T) {
	t.Parallel()
	p := ownPlane(t)
	client, err := dynamic.NewForConfig(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	cluster{T: t, Interface: client}.create(thing(things, "Namespaced"))
	through, err := rest.HTTPClientFor(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for range 3 {
		d, err := NewDiscovery(p.cfg, through)
		if err != nil {
			t.Fatal(err)
		}
		served := func() bool { _, found := d.Served().Resource(things); return found }
		eventually(t, "served", func() bool { return d.Refresh(t.Context()) == nil && served() })
		_ = p.environment.ControlPlane.APIServer.Stop()
		started := make(chan error, 1)
		go func() { started <- p.environment.ControlPlane.APIServer.Start() }()
		for starts := true; starts; {
			select {
			case err := <-started:
				if starts = false; err != nil {
					t.Fatal(err)
				}
			default:
			}
			fresh, err := NewDiscovery(p.cfg, through)
			if err != nil {
				t.Fatal(err)
			}
			if err := fresh.Refresh(t.Context()); err == nil {
				if _, found := fresh.Served().Resource(things); !found {
					hidden++
				}
			}
			if err := d.Refresh(t.Context()); err == nil && !served() {
				t.Fatal("a server that starts is believed that a kind is gone")
			}
		}
	}
	if hidden > 0 {
		t.Errorf("of a server that starts %d first looks did not show the kind", hidden)
	}
}
