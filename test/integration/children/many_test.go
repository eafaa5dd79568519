package children

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestMany: many resources made at once, looked at by an operator that comes up
// again, replaced at once and deleted at once. All are served; whoever comes up
// again writes nothing for those at rest and serves a new one; and nothing is
// kept of those that are gone: no child, no goroutine.
func TestMany(t *testing.T) {
	t.Parallel()
	manyComeAndGo(t, 100, false)
}

// TestThousand: so it is with a thousand, and with memory. It is not parallel: the
// heap is that of all operators.
func TestThousand(t *testing.T) {
	kit.Nightly(t, "integration")
	manyComeAndGo(t, 1000, true)
}

func manyComeAndGo(t *testing.T, many int, weighs bool) {
	t.Helper()
	k := newThing(t, fmt.Sprint("many", many), plain())
	op := k.run(t)
	k.apply(t, "warm", "")
	k.ready(t, "warm")
	goroutines := least(t, op)
	k.each(t, "a", many, create)
	k.served(t, many+1)
	k.data(t, "a7", "a7")
	k.atRest(t, "a9", "ConfigMap/a9")
	k.remembers(t, float64(many+1))

	op.Stop(t)
	empty := heap() // with what the test keeps of the one that was stopped
	mark := cluster.Mark(t)
	op = k.run(t)
	k.apply(t, "new", "text: new")
	k.data(t, "new", "new")
	k.ready(t, "new")
	k.remembers(t, float64(many+2))
	awaitReconciled(t, k.name(), float64(many+2))
	op.AwaitQuiet(t)
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		if r.Namespace == k.ns && r.Name != "new" {
			t.Errorf("a write of what is at rest: %v", r)
		}
	}
	full := heap()

	var both sync.WaitGroup
	both.Go(func() { k.each(t, "a", many, remove) })
	both.Go(func() { k.each(t, "b", many/4, create) })
	both.Wait()
	k.served(t, many/4+2)
	k.each(t, "b", many/4, remove)
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "warm")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "new")
	kit.Eventually(t, "all children are collected", func() error {
		if n := len(list(t, "v1", "ConfigMap", k.ns)); n != 1 { // the cluster's own
			return fmt.Errorf("%d ConfigMaps", n)
		}
		return nil
	})
	k.remembers(t, 0)
	fewer(t, op, goroutines+10) // the clients' own come and go
	if !weighs {
		return
	}
	kit.Eventually(t, "memory is given back", func() error {
		if now := heap(); now > empty+(full-empty)/3 {
			return fmt.Errorf("a heap of %d KiB, which was %d KiB, and %d KiB with all resources", now>>10, empty>>10, full>>10)
		}
		return nil
	})
}

func create(o *unstructured.Unstructured) error {
	o.Object["spec"] = map[string]any{"text": o.GetName()}
	return cluster.Client.Create(context.Background(), o)
}

func remove(o *unstructured.Unstructured) error {
	return cluster.Client.Delete(context.Background(), o)
}

// heap is how many bytes live on the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what has finalizers goes in the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// served waits until there are so many resources, all Ready, and a child of each.
func (k *thing) served(t *testing.T, want int) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%d resources are Ready", want), func() error {
		things := list(t, k.apiVersion(), "Thing", k.ns)
		ready := 0
		for i := range things {
			if kit.IsCondition(&things[i], "Ready", "True", "") == nil {
				ready++
			}
		}
		if ready != want || len(things) != want {
			return fmt.Errorf("%d of %d are", ready, len(things))
		}
		return nil
	})
	children := cluster.List(t, "v1", "ConfigMap", client.InNamespace(k.ns), client.HasLabels{api.LabelOwnerUID})
	owners := map[string]bool{}
	for _, o := range children {
		owners[o.GetLabels()[api.LabelOwnerUID]] = true
	}
	for _, o := range list(t, k.apiVersion(), "Thing", k.ns) {
		if !owners[string(o.GetUID())] {
			t.Errorf("%s is Ready and has no child", o.GetName())
		}
	}
}

// each does something to so many resources, several at a time.
func (k *thing) each(t *testing.T, prefix string, n int, do func(*unstructured.Unstructured) error) {
	errs := make([]error, n)
	slots := make(chan struct{}, 16)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			o := &unstructured.Unstructured{Object: map[string]any{}}
			o.SetAPIVersion(k.apiVersion())
			o.SetKind("Thing")
			o.SetNamespace(k.ns)
			o.SetName(fmt.Sprint(prefix, i))
			errs[i] = client.IgnoreNotFound(do(o))
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// remembers waits until the operator remembers so many resources: it counts one
// just after its status was written.
func (k *thing) remembers(t *testing.T, want float64) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%v resources are remembered", want), func() error {
		if n := remembered(t, k.name()); n != want {
			return fmt.Errorf("%v resources", n)
		}
		return nil
	})
}

// remembered is how many resources of a kind the operator remembers.
func remembered(t *testing.T, kind string) (n float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "jacquard_resources" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := m.GetLabel() // condition, kind
			if condition := labels[0].GetValue(); labels[1].GetValue() == kind && (condition == "Ready" || condition == "NotReady") {
				n += m.GetGauge().GetValue()
			}
		}
	}
	return n
}
