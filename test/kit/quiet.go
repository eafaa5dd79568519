package kit

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AwaitQuiet waits until the operator has nothing left to do: no resource is due, no request
// is under way, and none follows while the cluster carries three writes to a watch. What
// happens at a later time by itself, such as another try of what was refused, is not
// waited for.
//
// A test that something does not happen awaits quiet first, and looks then.
func (o *Operator) AwaitQuiet(t testing.TB) {
	t.Helper()
	before := ""
	o.Access.cluster.AwaitQuiet(t, func() (string, error) {
		now, err := o.describeActivity()
		if err != nil || now != before { // counting what is due would cost more
			before = now
			return now, err
		}
		return now, o.checkDue()
	})
}

// quietRounds is how many rounds in a row nothing may happen in: see AwaitQuiet.
const quietRounds = 3

// AwaitQuiet waits until activity, a text that changes whenever something happens, stays
// the same while the cluster carries writes to those who watch three times in a row. So on
// a busy machine it takes longer, as everything does. While something happens, nothing is
// written: waiting is not to keep the cluster busy.
func (c *Cluster) AwaitQuiet(t testing.TB, activity func() (string, error)) {
	t.Helper()
	before := ""
	Eventually(t, "nothing happens any more", func() error {
		for round := 0; ; round++ {
			now, err := activity()
			if err == nil && now != before {
				err = fmt.Errorf("it changed from %q to %q", before, now)
			}
			if before = now; err != nil || round == quietRounds {
				return err
			}
			if err := c.carryWrite(); err != nil {
				return err
			}
		}
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
	since := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: canary.ResourceVersion}}
	changes, err := c.Client.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace(canary.Namespace),
		client.MatchingFields{"metadata.name": canary.Name}, since)
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

// A traffic is what passes between an operator and the API server. What other tests do
// is seen by all operators, so watches do not count, nor does the discovery that follows
// each CRD, and neither do reconciliations, of which each CRD brings one to every resource.
// Leases and Events do not either: they are written by the clock, or follow
// what was done.
type traffic struct {
	underWay atomic.Int64
	ended    atomic.Int64
}

// wrapTransport lets a client's traffic be counted.
func (f *traffic) wrapTransport(next http.RoundTripper) http.RoundTripper { return &counted{f, next} }

type counted struct {
	*traffic
	next http.RoundTripper
}

// RoundTrip sends a request.
func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isCounted(r) {
		return c.next.RoundTrip(r)
	}
	c.underWay.Add(1)
	defer c.ended.Add(1)
	defer c.underWay.Add(-1)
	return c.next.RoundTrip(r)
}

// isCounted reports whether a request belongs to an operator's traffic.
func isCounted(r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	ofObjects := len(parts) > 2 && parts[0] == "api" || len(parts) > 3 && parts[0] == "apis" // not discovery
	return ofObjects && r.URL.Query().Get("watch") == "" && !slices.Contains(parts, "leases") && !slices.Contains(parts, "events")
}

// describeActivity says how many requests the operator has sent. It fails while one is
// under way.
func (o *Operator) describeActivity() (string, error) {
	if n := o.traffic.underWay.Load(); n > 0 {
		return "", fmt.Errorf("%d requests are under way", n)
	}
	return fmt.Sprintf("%d requests", o.traffic.ended.Load()), nil
}

// checkDue fails while a resource waits for a worker, or has one.
func (o *Operator) checkDue() error {
	due, err := sumByKind("jacquard_queue_depth", "controller_runtime_active_workers")
	if err != nil {
		return err
	}
	for kind := range o.Access.cluster.listClaimed(o.identity) {
		if due[kind] > 0 {
			return fmt.Errorf("%v resources of %s are due", due[kind], kind)
		}
	}
	return nil
}
