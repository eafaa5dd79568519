package kit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// AwaitQuiet waits until the operator has nothing left to do: what it watches has brought
// it everything, no resource is due, and no request is under way. What happens at a later
// time by itself, such as another try of what was refused, is not waited for.
//
// A test that something does not happen awaits quiet first, and looks then.
func (o *Operator) AwaitQuiet(t testing.TB) {
	t.Helper()
	o.Access.cluster.AwaitQuiet(t, o.activity)
}

// quietRounds is how many rounds in a row nothing may happen in: see AwaitQuiet.
const quietRounds = 3

// AwaitQuiet waits until activity, a text that changes whenever something happens, stays
// the same while the cluster carries writes to those who watch three times in a row. So on
// a busy machine it takes longer, as everything does.
func (c *Cluster) AwaitQuiet(t testing.TB, activity func() (string, error)) {
	t.Helper()
	before, quiet := "", -1
	Eventually(t, "nothing happens any more", func() error {
		for quiet < quietRounds {
			if err := c.carryWrite(); err != nil {
				return err
			}
			now, err := activity()
			if err != nil {
				quiet = -1
				return err
			}
			quiet++
			if now != before {
				changed := fmt.Errorf("it changed from %q to %q", before, now)
				before, quiet = now, 0
				return changed
			}
		}
		return nil
	})
}

// carryWrite returns when a watch has brought an object that was written after
// the call, and a tenth of a second has passed.
func (c *Cluster) carryWrite() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	soonest := time.After(time.Second / 10)
	canary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "canary-"}}
	if err := c.Client.Create(ctx, canary); err != nil {
		return err
	}
	changes, err := c.Client.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace(canary.Namespace),
		client.MatchingFields{"metadata.name": canary.Name}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: canary.ResourceVersion}})
	if err != nil {
		return err
	}
	defer changes.Stop()
	if err := c.Client.Delete(ctx, canary); err != nil {
		return err
	}
	if _, isOpen := <-changes.ResultChan(); !isOpen {
		return fmt.Errorf("the watch ended before it brought the deletion of %s", canary.Name)
	}
	<-soonest
	return nil
}

// A traffic is what passes between an operator and the API server.
type traffic struct {
	underWay atomic.Int64 // requests, without watches
	ended    atomic.Int64 // requests, without watches
	received atomic.Int64 // bytes of watches
}

// wrap lets a client's traffic be counted. Leases and Events are not: they are written
// by the clock, or follow what was done.
func (f *traffic) wrap(next http.RoundTripper) http.RoundTripper { return &counted{f, next} }

type counted struct {
	*traffic
	next http.RoundTripper
}

// RoundTrip sends a request.
func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/leases") || strings.Contains(r.URL.Path, "/events") {
		return c.next.RoundTrip(r)
	}
	if r.URL.Query().Get("watch") != "" {
		response, err := c.next.RoundTrip(r)
		if err == nil {
			response.Body = &countedBody{response.Body, &c.received}
		}
		return response, err
	}
	c.underWay.Add(1)
	defer c.ended.Add(1)
	defer c.underWay.Add(-1)
	return c.next.RoundTrip(r)
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

// Read reads what a watch brings.
func (b *countedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.n.Add(int64(n))
	return n, err
}

// activity describes what the operator has done. It fails while a request is under way or
// a resource is due.
func (o *Operator) activity() (string, error) {
	if n := o.traffic.underWay.Load(); n > 0 {
		return "", fmt.Errorf("%d requests are under way", n)
	}
	due, err := countDue(o.Access.cluster.claimed(o.identity))
	if err == nil && due > 0 {
		err = fmt.Errorf("%v resources are due", due)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d requests, %d bytes of watches", o.traffic.ended.Load(), o.traffic.received.Load()), nil
}

// countDue counts the resources of kinds that wait for a worker, or have one.
func countDue(kinds map[string]bool) (due float64, err error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, err
	}
	for _, family := range families {
		if family.GetName() != "jacquard_queue_depth" && family.GetName() != "controller_runtime_active_workers" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if kinds[label.GetValue()] {
					due += m.GetGauge().GetValue()
				}
			}
		}
	}
	return due, nil
}
