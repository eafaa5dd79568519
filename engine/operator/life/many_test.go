package life

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/operator/testcluster"
)

const many = 300

// TestMany: many resources made at once and deleted at once are all served,
// and nothing of them is kept: no child, no memory, no goroutine.
func TestMany(t *testing.T) {
	k := newThing(t, "many", plain())
	k.run(t)
	k.apply(t, "warm", "")
	k.ready(t, "warm")
	before := least()
	k.each(t, func(o *unstructured.Unstructured) error {
		o.Object["spec"] = map[string]any{"text": o.GetName()}
		return cluster.Client.Create(context.Background(), o)
	})
	testcluster.Eventually(t, "all are Ready", func() error {
		things := list(t, k.apiVersion(), "Thing", k.ns)
		var errs []error
		for i := range things {
			if err := testcluster.IsCondition(&things[i], "Ready", "True", ""); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 {
			return fmt.Errorf("%d of %d are not: %w", len(errs), len(things), errs[0])
		}
		return nil
	})
	if n := len(list(t, "v1", "ConfigMap", k.ns)); n != many+2 { // and warm's, and the cluster's own
		t.Errorf("%d ConfigMaps", n)
	}
	k.data(t, "a7", "a7")
	k.atRest(t, "a9", "ConfigMap/a9")
	k.remembers(t, many+1)
	k.each(t, func(o *unstructured.Unstructured) error {
		return cluster.Client.Delete(context.Background(), o)
	})
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "warm")
	testcluster.Eventually(t, "all children are collected", func() error {
		if n := len(list(t, "v1", "ConfigMap", k.ns)); n != 1 {
			return fmt.Errorf("%d ConfigMaps", n)
		}
		return nil
	})
	k.remembers(t, 0)
	fewer(t, before+many/10) // the clients' own come and go
}

// each does something to many resources, several at a time.
func (k *thing) each(t *testing.T, do func(*unstructured.Unstructured) error) {
	t.Helper()
	errs := make([]error, many)
	slots := make(chan struct{}, 16)
	var all sync.WaitGroup
	for i := range many {
		slots <- struct{}{}
		all.Go(func() {
			o := &unstructured.Unstructured{Object: map[string]any{}}
			o.SetAPIVersion(k.apiVersion())
			o.SetKind("Thing")
			o.SetNamespace(k.ns)
			o.SetName(fmt.Sprint("a", i))
			errs[i] = client.IgnoreNotFound(do(o))
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// remembers waits until the operator remembers so many resources: it counts one
// just after its status was written.
func (k *thing) remembers(t *testing.T, want float64) {
	t.Helper()
	testcluster.Eventually(t, fmt.Sprintf("%v resources are remembered", want), func() error {
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
