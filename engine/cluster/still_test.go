package cluster

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// still returns a scope of Reads whose watch is driven by the test, without a
// cluster.
func still(t testing.TB) (*kind, *store, *audience) {
	t.Helper()
	reads, a := newReads(t, &rest.Config{})
	k, s := drive(&reads.watches, live.Body)
	return k, s, a
}

// drive makes what watches ConfigMaps, as a test drives it.
func drive(w *watches, need live.Need) (*kind, *store) {
	k := w.begin(everyConfigMap)
	w.kinds[everyConfigMap] = k
	k.unknown = nil
	f := &kindWatch{kind: k, need: need, cancel: func() {}, ready: make(chan struct{})}
	s := newStore(f, "")
	f.stores, k.current = []*store{s}, f
	return k, s
}

// pod is as large as a small Pod.
func pod(n int) *unstructured.Unstructured {
	u := object("n", fmt.Sprintf("pod-%d", n), map[string]string{"app": fmt.Sprintf("app-%d", n/5), "pod-template-hash": "6d4cf56db6",
		"tier": "web"})
	u.SetUID(types.UID(fmt.Sprintf("6d4cf56d-0000-4000-8000-%012d", n)))
	u.SetResourceVersion(fmt.Sprint(1000 + n))
	list := func(n int) []any {
		all := []any{}
		for i := range n {
			all = append(all, map[string]any{"name": fmt.Sprint("item-", i), "value": fmt.Sprint("a value of some length ", i),
				"nested": map[string]any{"key": "value"}})
		}
		return all
	}
	u.Object["spec"] = map[string]any{"containers": []any{map[string]any{"env": list(10), "volumeMounts": list(3)}}, "volumes": list(3)}
	u.Object["status"] = map[string]any{"conditions": list(5), "containerStatuses": list(1)}
	return u
}

func podList(n int) []any {
	all := make([]any, 0, n)
	for i := range n {
		all = append(all, pod(i))
	}
	return all
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestManyChangesWakeFew: of 10,000 objects that change, five are read; then the events come again.
func TestManyChangesWakeFew(t *testing.T) {
	const many = 10_000
	k, s, a := still(t)
	reads := k.policy.(*readPolicy).reads
	queries := map[string]Query{
		"one":    lookup(everyConfigMap, "n", "pod-36"),
		"five":   selecting(t, everyConfigMap, "n", "app in (app-7)"),
		"others": selecting(t, everyConfigMap, "n", "app,tier!=web"),
		"away":   selecting(t, everyConfigMap, "m", "app=app-7"),
	}
	for _, q := range queries {
		if _, err := reads.answerQuery(q); err == nil {
			t.Error("answered before anything was listed")
		}
	}
	if err := s.Replace(podList(many), "20000"); err != nil {
		t.Fatal(err)
	}
	for name, q := range queries {
		ask(t, reads, q)
		q.Since = reads.Tick()
		reads.Record(reader(name), []Query{q})
	}
	reads.Trim()
	for range 2 {
		for n := range many {
			p := pod(n)
			p.SetResourceVersion(fmt.Sprint(20_001 + n))
			if err := s.Update(p); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[string]int{"one": 1, "five": 5}, a.all()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestReadsKeepLittle: what 10,000 objects cost of which five are read, from the first list on.
func TestReadsKeepLittle(t *testing.T) {
	const many = 10_000
	k, s, _ := still(t)
	reads := k.policy.(*readPolicy).reads
	reads.Record(reader("one"), []Query{selecting(t, everyConfigMap, "n", "app=app-7")})
	empty := heap()
	all := podList(many)
	whole := heap() - empty
	runtime.KeepAlive(all)
	if err := s.Replace(podList(many), "20000"); err != nil {
		t.Fatal(err)
	}
	kept := heap() - empty
	if n := len(k.findObjects(group{}, func(l live.Object) bool { return l.Body != nil })); n != 5 {
		t.Errorf("%d bodies are kept, want 5", n)
	}
	for n, whole := range map[int]bool{36: true, 3600: false} {
		streamed, err := s.Transformer()(pod(n))
		if _, is := streamed.(*unstructured.Unstructured); err != nil || is != whole {
			t.Errorf("pod %d streams in as %T, %v", n, streamed, err)
		}
	}
	t.Logf("%d objects: %d bytes each in a list, %d kept", many, whole/many, kept/many)
	if kept > whole/4 {
		t.Errorf("%d bytes are kept of %d", kept, whole)
	}
	runtime.KeepAlive(reads)
}

// BenchmarkChange: each of 1,000 readers selects in the namespace of the object that changes.
func BenchmarkChange(b *testing.B) {
	k, s, _ := still(b)
	reads := k.policy.(*readPolicy).reads
	for n := range 1000 {
		reads.Record(reader(fmt.Sprint(n)), []Query{selecting(b, everyConfigMap, "n", fmt.Sprintf("app=app-%d", n))})
	}
	reads.Trim()
	for n := 0; b.Loop(); n++ {
		p := pod(n % 5000)
		p.SetResourceVersion(fmt.Sprint(10_000 + n))
		if err := s.Update(p); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNothingOfInterest: an event about an object that nobody reads wakes nobody, and
// costs no more than to keep what is known of it.
func TestNothingOfInterest(t *testing.T) {
	k, s, a := still(t)
	reads := k.policy.(*readPolicy).reads
	if err := s.Replace(podList(2), "9000"); err != nil {
		t.Fatal(err)
	}
	q := lookup(everyConfigMap, "n", "pod-36")
	ask(t, reads, q)
	q.Since = reads.Tick()
	reads.Record(reader("one"), []Query{q})
	all := make([]any, 0, 202)
	for n := range cap(all) {
		p := pod(n % 2)
		p.SetResourceVersion(fmt.Sprint(10_000 + n))
		all = append(all, p)
	}
	next := 0
	n := testing.AllocsPerRun(200, func() {
		if err := s.Update(all[next]); err != nil {
			t.Fatal(err)
		}
		next++
	})
	if t.Logf("%.0f allocations", n); n > ofNoInterest || len(a.all()) > 0 {
		t.Errorf("%.0f allocations, want at most %d; woken: %v", n, ofNoInterest, a.all())
	}
}

// ofNoInterest is how many allocations such an event makes at most.
const ofNoInterest = 30
