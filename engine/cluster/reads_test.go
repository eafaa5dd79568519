package cluster

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// An audience records what Reads tells.
type audience struct {
	mu       sync.Mutex
	changed  map[string]int // by the reader's name
	patched  map[types.UID]int
	synced   map[Scope]int
	troubled map[Scope]int
}

func (a *audience) told(reader string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed[reader]
}

func (a *audience) all() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.changed)
}

func (a *audience) patches(uid types.UID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.patched[uid]
}

func newReads(t testing.TB, cfg *rest.Config, namespaces ...string) (*Reads, *audience) {
	t.Helper()
	a := &audience{changed: map[string]int{}, patched: map[types.UID]int{}, synced: map[Scope]int{}, troubled: map[Scope]int{}}
	reads, err := NewReads(cfg, ReadsOptions{
		Namespaces:   namespaces,
		Changed:      func(of api.Owner) { a.mu.Lock(); defer a.mu.Unlock(); a.changed[of.Name]++ },
		PatchChanged: func(uid types.UID) { a.mu.Lock(); defer a.mu.Unlock(); a.patched[uid]++ },
		Synced:       func(s Scope) { a.mu.Lock(); defer a.mu.Unlock(); a.synced[s]++ },
		Troubled:     func(s Scope) { a.mu.Lock(); defer a.mu.Unlock(); a.troubled[s]++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	return reads, a
}

// read starts Reads over cfg, with discovery done once, until the test ends.
func read(t *testing.T, cfg *rest.Config, namespaces ...string) (*Reads, *audience) {
	t.Helper()
	reads, a := newReads(t, cfg, namespaces...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- reads.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	reads.Served(discover(t).Served)
	return reads, a
}

var everyConfigMap = Scope{GroupVersionKind: configMaps}

// reader is the resource of this name.
func reader(name string) api.Owner {
	return api.Owner{Kind: "foos.example.com", Namespace: "default", Name: name}
}

func lookup(scope Scope, namespace, name string) Query {
	return Query{Scope: scope, Namespace: namespace, Name: name}
}

func selecting(t testing.TB, scope Scope, namespace, selector string) Query {
	t.Helper()
	s, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	return Query{Scope: scope, Namespace: namespace, Selector: s}
}

// known waits until a scope is synced.
func known(t *testing.T, r *Reads, scope Scope) {
	t.Helper()
	eventually(t, scope.Kind+" synced", func() bool { return r.State(scope).Phase == live.Synced })
}

// ask asks a query until it is answered.
func ask(t *testing.T, r *Reads, q Query) []live.Object {
	t.Helper()
	var found []live.Object
	eventually(t, "an answer", func() bool {
		one, err := (*live.Object)(nil), error(nil)
		if q.Name == "" {
			found, err = r.Select(q)
		} else if one, err = r.Lookup(q); one != nil {
			found = []live.Object{*one}
		}
		return err == nil
	})
	return found
}

// called returns the names of what was found.
func called(found []live.Object) string {
	all := []string{}
	for _, l := range found {
		all = append(all, l.Meta.GetName())
	}
	return strings.Join(all, " ")
}

// object makes a ConfigMap with labels, and its name as data.
func object(namespace, name string, set map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"is": name}}}
	u.SetGroupVersionKind(configMaps)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetLabels(set)
	u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "seen": "yes"})
	return u
}

// place makes a namespace; a name of its own, as nothing finalizes it here.
func (c cluster) place() string {
	c.Helper()
	name := "reads-" + rand.String(8)
	c.create(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name}}})
	return name
}

// relabel changes an object's labels, and so the object.
func (c cluster) relabel(obj *unstructured.Unstructured, set map[string]string) *unstructured.Unstructured {
	c.Helper()
	obj = obj.DeepCopy()
	obj.SetLabels(set)
	return c.update(obj)
}

func TestReadsAnswer(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here, there := in.place(), in.place()
	in.create(object(here, "b", map[string]string{"app": "x"}))
	in.create(object(here, "a", map[string]string{"app": "x"}))
	in.create(object(there, "c", map[string]string{"app": "x"}))
	reads, a := read(t, admin)
	q := lookup(everyConfigMap, here, "a")
	if _, err := reads.Lookup(q); err == nil {
		t.Error("answered before anything was listed")
	}
	reads.Record(reader("early"), []Query{q})
	eventually(t, "the early reader told", func() bool { return a.told("early") > 0 })
	known(t, reads, everyConfigMap)

	found := ask(t, reads, q)
	want := map[string]any{"is": "a"}
	if diff := cmp.Diff(want, found[0].Body["data"]); diff != "" {
		t.Error(diff)
	}
	if found[0].Meta.GetManagedFields() != nil {
		t.Error("a template sees managedFields")
	}
	if diff := cmp.Diff(map[string]string{"seen": "yes"}, found[0].Meta.GetAnnotations()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		query Query
		want  string
	}{
		{lookup(everyConfigMap, here, "none"), ""},
		{lookup(everyConfigMap, there, "c"), "c"},
		{selecting(t, everyConfigMap, here, "app=x"), "a b"},
		{selecting(t, everyConfigMap, here, "app!=x,app"), ""},
		{selecting(t, everyConfigMap, there, ""), "c kube-root-ca.crt"},
		{selecting(t, Scope{GroupVersionKind: configMaps, Namespace: there}, "", "app"), "c"},
		{lookup(Scope{GroupVersionKind: configMaps, Namespace: here, Name: "b"}, here, "b"), "b"},
	} {
		got := strings.TrimSuffix(called(ask(t, reads, c.query)), " kube-root-ca.crt")
		if want := strings.TrimSuffix(c.want, " kube-root-ca.crt"); got != want {
			t.Errorf("%v found %q, want %q", c.query, got, want)
		}
	}
	for _, q := range []Query{
		lookup(Scope{GroupVersionKind: configMaps, Namespace: there}, here, "a"),
		lookup(Scope{GroupVersionKind: configMaps, Namespace: here, Name: "b"}, here, "a"),
		lookup(everyConfigMap, "", "a"),
	} {
		if found, err := reads.Lookup(q); err == nil {
			t.Errorf("%v, which is not watched, is answered: %v", q, found)
		}
	}
}

func TestReadsOfWhatIsNotServed(t *testing.T) {
	t.Parallel()
	realCluster(t)
	reads, a := read(t, admin)
	unheard := Scope{GroupVersionKind: schema.GroupVersionKind{Group: "nobody.test", Version: "v1", Kind: "Unheard"}}
	q := lookup(unheard, "default", "x")
	if _, err := reads.Lookup(q); !errors.Is(err, live.ErrNotServed) {
		t.Errorf("error %v", err)
	}
	reads.Record(reader("one"), []Query{q})
	if _, err := reads.Patched(unheard.GroupVersionKind, "x"); !errors.Is(err, live.ErrNotServed) {
		t.Errorf("error %v", err)
	}
	if a.told("one") != 0 {
		t.Error("told of no change")
	}
}

// TestReadsComeAndGo: what only a query names is watched from the first query on, and no longer
// than anybody reads it.
func TestReadsComeAndGo(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	reads, _ := read(t, admin)
	scope := Scope{GroupVersionKind: configMaps, Namespace: here}
	declared := Scope{GroupVersionKind: secrets}
	reads.Want("k", map[Scope]live.Need{declared: live.Body})
	known(t, reads, declared)
	q := lookup(scope, here, "a")
	ask(t, reads, q)
	reads.Trim()
	if reads.State(scope).Phase != live.Synced {
		t.Error("gone before it could be recorded")
	}
	reads.Record(reader("one"), []Query{q})
	reads.patience = -time.Hour // nobody waits
	reads.Trim()
	if reads.State(scope).Phase != live.Synced {
		t.Error("gone while it is read")
	}
	reads.Record(reader("one"), nil)
	reads.Trim()
	if reads.State(scope).Phase == live.Synced {
		t.Error("still watched")
	}
	if reads.Trim(); reads.State(declared).Phase != live.Synced {
		t.Error("gone though it is wanted")
	}
	if len(reads.readers) != 0 || len(reads.kinds) != 1 {
		t.Errorf("%d readers and %d kinds are left", len(reads.readers), len(reads.kinds))
	}
	reads.Want("k", nil)
	if len(reads.kinds) != 0 {
		t.Error("still watched")
	}
}
