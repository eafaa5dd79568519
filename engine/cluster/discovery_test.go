package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

var (
	metaCreate = metav1.CreateOptions{}
	metaList   = metav1.ListOptions{}
)

type counted struct {
	count *atomic.Int64
	next  http.RoundTripper
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(r)
}

// newCounter returns a config whose requests are counted.
func newCounter(cfg *rest.Config) (*atomic.Int64, *rest.Config) {
	count, through := &atomic.Int64{}, rest.CopyConfig(cfg)
	through.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{count: count, next: next} })
	return count, through
}

func TestDiscoveryFollowsCRDs(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	things := thingsOf("followed")
	children, _, d := observe(t, admin)
	follow(t, d, children)
	told := d.Subscribe()
	if _, found := d.Served().Resource(things); found {
		t.Fatal("served before there is a CRD")
	}
	crd := in.create(thing(things, "Namespaced"))
	d.Trigger()
	eventually(t, "served", func() bool { _, found := d.Served().Resource(things); return found })
	<-told
	r, _ := d.Served().Preferred(things.GroupKind())
	if !r.Namespaced || r.GVR != things.GroupVersion().WithResource("things") || !r.Verbs.HasAll("list", "watch", "patch") {
		t.Errorf("served as %v", r)
	}
	in.remove(crd)
	d.Trigger()
	eventually(t, "gone", func() bool { _, found := d.Served().Resource(things); return !found })
	if err := d.Served().Unknown(things.Group); err != nil {
		t.Errorf("gone, not unknown: %v", err)
	}
}

// TestRefreshIsTwoRequests: the first refresh asks besides whether the API server is ready.
func TestRefreshIsTwoRequests(t *testing.T) {
	t.Parallel()
	realCluster(t)
	count, through := newCounter(admin)
	client, err := rest.HTTPClientFor(through)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDiscovery(through, client)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count.Load(); n != 3 {
		t.Errorf("the first refresh took %d requests", n)
	}
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count.Load(); n != 5 {
		t.Errorf("a refresh took %d requests", n-3)
	}
	deployments, found := d.Served().Preferred(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if !found || deployments.GVK.Version != "v1" {
		t.Errorf("Deployments are served as %v", deployments)
	}
	if n := count.Load(); n != 5 {
		t.Error("reading what is served took requests")
	}
}

func TestDeadAPIService(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	dead := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.dead.observe.test"},
		"spec": map[string]any{"group": "dead.observe.test", "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"insecureSkipTLSVerify": true, "service": map[string]any{"name": "nobody", "namespace": "default"}},
	}}
	in.create(dead)
	d := discover(t)
	eventually(t, "unknown", func() bool {
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d.Served().Unknown("dead.observe.test") != nil
	})
	if _, found := d.Served().Resource(configMaps); !found || d.Served().Unknown("") != nil || d.Served().Unknown("apps") != nil {
		t.Error("a dead API touches others")
	}
	children, _, _ := observe(t, admin)
	ghost := schema.GroupVersionKind{Group: "dead.observe.test", Version: "v1", Kind: "Ghost"}
	children.Served(d.Served)
	children.Want("k", wants{ghost: live.Metadata, configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	if s := children.State(ghost); s.Phase != live.Unsynced || s.Err == nil {
		t.Errorf("whether it is served cannot be told, and the state is %v", s)
	}
	in.remove(dead)
	eventually(t, "known to be gone", func() bool {
		return d.Refresh(t.Context()) == nil && d.Served().Unknown("dead.observe.test") == nil
	})
}

// TestRefreshFails: a refresh that fails as a whole leaves everything as it was.
func TestRefreshFails(t *testing.T) {
	t.Parallel()
	realCluster(t)
	d := discover(t)
	before := d.Served()
	broken := rest.CopyConfig(admin)
	broken.Host = "https://127.0.0.1:1"
	client, err := rest.HTTPClientFor(broken)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewDiscovery(broken, client)
	if err != nil {
		t.Fatal(err)
	}
	d.client = other.client
	if err := d.Refresh(t.Context()); err == nil {
		t.Error("no error")
	}
	if d.Served() != before {
		t.Error("the snapshot changed")
	}
}

func TestFailedGroupKeepsItsResources(t *testing.T) {
	group := func(versions ...string) *metav1.APIGroup {
		g := &metav1.APIGroup{Name: "g.test"}
		for _, v := range versions {
			g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: "g.test/" + v, Version: v})
		}
		if len(versions) > 0 {
			g.PreferredVersion = g.Versions[0]
		}
		return g
	}
	list := func(version string) *metav1.APIResourceList {
		return &metav1.APIResourceList{GroupVersion: "g.test/" + version, APIResources: []metav1.APIResource{
			{Name: "things", Kind: "Thing", Namespaced: true}, {Name: "things/status", Kind: "Thing"}}}
	}
	v1, v2 := schema.GroupVersion{Group: "g.test", Version: "v1"}, schema.GroupVersion{Group: "g.test", Version: "v2"}
	whole := newServed(&Served{}, []*metav1.APIGroup{group("v2", "v1")}, []*metav1.APIResourceList{list("v1"), list("v2")}, nil)
	dead := errors.New("dead")
	for name, c := range map[string]struct {
		groups    []*metav1.APIGroup
		lists     []*metav1.APIResourceList
		failed    map[schema.GroupVersion]error
		served    []bool // v1, v2
		preferred string
	}{
		"all is well": {groups: []*metav1.APIGroup{group("v2", "v1")}, lists: []*metav1.APIResourceList{list("v1"), list("v2")},
			served: []bool{true, true}, preferred: "v2"},
		"one version fails": {groups: []*metav1.APIGroup{group("v1")}, lists: []*metav1.APIResourceList{list("v1")},
			failed: map[schema.GroupVersion]error{v2: dead}, served: []bool{true, true}, preferred: "v2"},
		"the group fails": {groups: []*metav1.APIGroup{group()}, failed: map[schema.GroupVersion]error{v1: dead, v2: dead},
			served: []bool{true, true}, preferred: "v2"},
		"it fails and is missing": {failed: map[schema.GroupVersion]error{v1: dead, v2: dead}, served: []bool{true, true}, preferred: "v2"},
		"one version is gone": {groups: []*metav1.APIGroup{group("v1")}, lists: []*metav1.APIResourceList{list("v1")},
			served: []bool{true, false}, preferred: "v1"},
		"the group is gone": {served: []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServed(whole, c.groups, c.lists, c.failed)
			_, has1 := s.Resource(v1.WithKind("Thing"))
			_, has2 := s.Resource(v2.WithKind("Thing"))
			if diff := cmp.Diff(c.served, []bool{has1, has2}); diff != "" {
				t.Error(diff)
			}
			if r, _ := s.Preferred(schema.GroupKind{Group: "g.test", Kind: "Thing"}); r.GVK.Version != c.preferred {
				t.Errorf("preferred version %q, want %q", r.GVK.Version, c.preferred)
			}
			if unknown := s.Unknown("g.test") != nil; unknown != (c.failed != nil) {
				t.Errorf("unknown: %v", unknown)
			}
			if again := newServed(s, c.groups, c.lists, c.failed); !again.isSame(s) {
				t.Error("the same answer again is a change")
			}
		})
	}
}

// TestAsking: when Run asks again, and when it rests.
func TestAsking(t *testing.T) {
	seconds := func(n ...int) (d []time.Duration) {
		for _, s := range n {
			d = append(d, time.Duration(s)*time.Second)
		}
		return d
	}
	const fine, fail = false, true
	for name, c := range map[string]struct {
		answers []bool
		want    []time.Duration
	}{
		"a poke":                      {[]bool{fine, fine, fine, fine}, seconds(1, 4, 16, 0)},
		"failures are tried for ever": {[]bool{fail, fail, fail, fail, fail, fine}, seconds(1, 4, 16, 30, 30, 30)},
		"a failure that heals":        {[]bool{fail, fine, fine, fine, fine}, seconds(1, 4, 16, 30, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			at := asking{tries: triggerTries}
			var got []time.Duration
			for _, failed := range c.answers {
				got = append(got, at.next(failed))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// canned answers as an API server without CRDs, and counts the discoveries.
type canned struct{ asked atomic.Int64 }

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body := "ok"
	switch r.URL.Path {
	case "/api":
		body = `{"kind": "APIVersions", "versions": ["v1"]}`
	case "/apis":
		c.asked.Add(1)
		body = `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`
	case "/api/v1":
		body = `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": [` +
			`{"name": "namespaces", "singularName": "namespace", "kind": "Namespace", "verbs": ["get", "list", "watch"]}]}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestManyChangesAreOneASecond: however often it is poked, discovery is asked once a
// second, three times more after the last change, and not at rest.
func TestManyChangesAreOneASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &canned{}
		d, err := NewDiscovery(&rest.Config{Host: "http://server"}, &http.Client{Transport: server})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.Run(ctx) }()
		for range 1000 { // ten seconds of a change each hundredth
			time.Sleep(10 * time.Millisecond)
			d.Trigger()
		}
		synctest.Wait()
		if asked := server.asked.Load(); asked < 9 || asked > 11 {
			t.Errorf("asked %d times in ten seconds of changes, want once a second", asked)
		}
		time.Sleep(2 * time.Second)
		before := server.asked.Load()
		time.Sleep(time.Hour)
		if more := server.asked.Load() - before; more != 2 { // that of a second later has been
			t.Errorf("asked %d times more after the last change, want 2", more)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
