package scale

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestReplicas: what each of several replicas holds in memory, and how much CPU time they
// need together.
func TestReplicas(t *testing.T) {
	sizes := sizes(t)
	c := kit.Start(t, "--components", "etcd,apiserver", "--nodes", "0")
	l := &load{T: t, cluster: c, buckets: replicas.Buckets, group: "replicas.example.com", home: "replicas", root: t.TempDir(), table: &table{}}
	l.spaces = namespaces(160)
	l.define(map[string]string{"one.yaml": fmt.Sprintf(configMap, "one"), "deployment.yaml": deployment})
	l.divided(sizes[len(sizes)-1])
}

// namespaces returns n names of namespaces.
func namespaces(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("team-%03d", i))
	}
	return names
}

// divided measures 1, 2 and 4 replicas with n resources.
func (l *load) divided(n int) {
	op := l.run()
	time.Sleep(20 * time.Second)
	idle, _, idleHeap := op.memory()
	l.make(0, n)
	l.await(n)
	op.stop()
	l.table.add("replicas", "memory of each above an idle one's", "of one replica's", "live heap of each above an idle one's", "of one replica's",
		"CPU of all for a change", "of one replica's")
	l.table.add("---", "---", "---", "---", "---", "---", "---")
	var alone, aloneHeap, aloneCPU float64
	for _, count := range []int{1, 2, 4} {
		var all []*operatorProcess
		for range count {
			all = append(all, l.run())
		}
		l.spread(n, count)
		time.Sleep(30 * time.Second) // at rest
		var most, mostHeap float64
		for _, op := range all {
			now, _, heap := op.memory()
			most, mostHeap = max(most, now-idle), max(mostHeap, heap-idleHeap)
		}
		before := sum(all)
		l.each(0, n/4, func(o *unstructured.Unstructured) error {
			patch := fmt.Appendf(nil, `{"spec":{"text":"v%d"}}`, 1+count)
			return l.cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, patch))
		})
		l.await(n)
		cpu := float64((sum(all) - before).Microseconds()) / float64(n/4) / 1000
		for _, op := range all {
			op.stop()
		}
		if count == 1 {
			alone, aloneHeap, aloneCPU = most, mostHeap, cpu
		}
		l.table.add(strconv.Itoa(count), mib(most), ratio(most, alone), mib(mostHeap), ratio(mostHeap, aloneHeap),
			fmt.Sprintf("%.1f ms", cpu), ratio(cpu, aloneCPU))
	}
	l.Logf("an idle replica has %s", mib(idle))
	l.write(fmt.Sprintf("%d resources", n))
}

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }

func sum(all []*operatorProcess) (cpu time.Duration) {
	for _, op := range all {
		cpu += op.cpu()
	}
	return cpu
}

// spread waits until so many replicas say that together they serve n resources, none much
// more than its part, and nothing waits.
func (l *load) spread(n, count int) {
	l.Helper()
	kit.Eventually(l.T, "the replicas divide all", func() error {
		var leases coordinationv1.LeaseList
		if err := l.cluster.Client.List(context.Background(), &leases, client.InNamespace(l.home)); err != nil {
			return err
		}
		total, most, waits, says := 0, 0, 0, 0
		for _, lease := range leases.Items {
			if text, ok := lease.Annotations[api.AnnotationReplica]; ok {
				r := heartbeat.ReadReplica(text)
				total, most, waits, says = total+r.Resources, max(most, r.Resources), waits+r.Queue, says+1
			}
		}
		switch {
		case says != count:
			return fmt.Errorf("there are %d replicas", says)
		case total != n:
			return fmt.Errorf("they serve %d resources", total)
		case most*count > n+n/10:
			return fmt.Errorf("one of them serves %d resources", most)
		case waits > 0:
			return errors.New("resources wait")
		}
		return nil
	})
}
