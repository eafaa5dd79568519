package observe

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// still returns a scope of Reads whose watch is driven by the test, without a
// cluster.
func still(t testing.TB) (*kind, *shard) {
	t.Helper()
	reads, err := NewReads(&rest.Config{}, ReadsOptions{Changed: func(api.Owner) {}, PatchChanged: func(types.UID) {}})
	if err != nil {
		t.Fatal(err)
	}
	k := reads.begin(everyConfigMap)
	reads.kinds[everyConfigMap] = k
	k.unknown = nil
	f := &feed{kind: k, need: Body, cancel: func() {}, ready: make(chan struct{})}
	s := newShard(f, "")
	f.shards, k.current = []*shard{s}, f
	return k, s
}

// pod is as large as a small Pod.
func pod(n int) *unstructured.Unstructured {
	u := object("n", fmt.Sprintf("pod-%d", n), map[string]string{"app": fmt.Sprintf("app-%d", n/5), "pod-template-hash": "6d4cf56db6", "tier": "web"})
	u.SetUID(types.UID(fmt.Sprintf("6d4cf56d-0000-4000-8000-%012d", n)))
	u.SetResourceVersion(fmt.Sprint(1000 + n))
	list := func(n int) []any {
		all := []any{}
		for i := range n {
			all = append(all, map[string]any{"name": fmt.Sprint("item-", i), "value": fmt.Sprint("a value of some length ", i), "nested": map[string]any{"key": "value"}})
		}
		return all
	}
	u.Object["spec"] = map[string]any{"containers": []any{map[string]any{"env": list(10), "volumeMounts": list(3)}}, "volumes": list(3)}
	u.Object["status"] = map[string]any{"conditions": list(5), "containerStatuses": list(1)}
	return u
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What 10,000 objects cost of which five are read.
func TestReadsKeepLittle(t *testing.T) {
	const many = 10_000
	k, s := still(t)
	reads := k.keeper.(*interests).reads
	empty := heap()
	list := []any{}
	for n := range many {
		list = append(list, pod(n))
	}
	if err := s.Replace(list, "20000"); err != nil {
		t.Fatal(err)
	}
	list = nil
	whole := heap() - empty
	reads.Record(reader("one"), []Query{selecting(t, everyConfigMap, "n", "app=app-7")})
	reads.Trim()
	kept := heap() - empty
	if n := len(k.find(group{}, func(l Live) bool { return l.Body != nil })); n != 5 {
		t.Errorf("%d bodies are kept, want 5", n)
	}
	t.Logf("%d objects: %d bytes each before Trim, %d after", many, whole/many, kept/many)
	if kept > whole/4 {
		t.Errorf("%d bytes are kept of %d", kept, whole)
	}
	runtime.KeepAlive(reads)
}

// Each of 1,000 readers selects in the namespace of the object that changes.
func BenchmarkChange(b *testing.B) {
	k, s := still(b)
	reads := k.keeper.(*interests).reads
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
