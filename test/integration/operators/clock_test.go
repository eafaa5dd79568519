package operators

import (
	"fmt"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestClocks: of two operators one has a clock that is an hour slow and the other
// one that is an hour fast, beside that of the API server. One of them leads,
// and the other takes over when it is killed.
func TestClocks(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]time.Duration{"slow leads": -time.Hour, "fast leads": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, plain)
			among := controller.Options{
				LeaderElectionNamespace: s.namespace,
				Lease:                   controller.Lease{Duration: 6 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: time.Second},
			}
			s.access.Serve(controller.Options{Identity: "test/" + s.group, LeaderElectionNamespace: s.namespace}, s.dir)
			made := record(t, s.namespace)
			var shifted atomic.Int64
			leader := apart(first, &shifted)
			s.startAs(leader, among)
			one, two := want{"one", "old", false}, want{"two", "new", false}
			ready := func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a") }
			s.web("a", one.spec())
			s.says(map[string]string{"one": "old"})
			kit.Eventually(t, "it is ready", ready)
			s.startAs(apart(-first, &shifted), among)
			began := lastRenewal(t, s.namespace, s.group)
			kit.Eventually(t, "the Lease has been renewed for longer than it lasts", func() error {
				if lasted := lastRenewal(t, s.namespace, s.group).Sub(began); lasted <= among.Lease.Duration+among.Lease.RetryPeriod {
					return fmt.Errorf("it was renewed for %s", lasted)
				}
				return nil
			})
			for _, r := range s.wrote() {
				if r.resource != "leases" {
					t.Errorf("the other one wrote %v", r)
				}
			}
			leader.kill()
			s.web("a", two.spec())
			s.says(map[string]string{"two": "new"})
			kit.Eventually(t, "it is ready again", ready)
			cluster.Delete(t, "v1", "ConfigMap", s.namespace, "two")
			s.says(map[string]string{"two": "new"})
			made.are(t, map[string]int{"a": 1, "one": 1, "two": 2})
			cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
			kit.Eventually(t, "the resource is gone", func() error { _, err := s.served(want{}); return err })
			s.collectGarbage()
			s.rests("deletion", s.left)
			if shifted.Load() == 0 {
				t.Error("no time was shifted")
			}
		})
	}
}

// lastRenewal is when the Lease of an installation was renewed last, by the clock of who did.
func lastRenewal(t testing.TB, namespace, identity string) time.Time {
	t.Helper()
	var lease coordinationv1.Lease
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.Lease(identity)}, &lease); err != nil {
		t.Fatal(err)
	}
	return lease.Spec.RenewTime.Time
}

// moment matches a time in JSON.
var moment = regexp.MustCompile(`20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d+)?Z`)

// apart is the wire of an operator whose clock is fast by so much: in all that
// it gets times are as much earlier, and in all that it sends later again.
func apart(by time.Duration, count *atomic.Int64) *wire {
	shift := func(text []byte, by time.Duration) []byte {
		return moment.ReplaceAllFunc(text, func(stamp []byte) []byte {
			at, err := time.Parse(time.RFC3339Nano, string(stamp))
			if err != nil {
				return stamp
			}
			count.Add(1)
			layout := "2006-01-02T15:04:05Z"
			if len(stamp) > len(layout) {
				layout = "2006-01-02T15:04:05." + zeros[:len(stamp)-len(layout)-1] + "Z"
			}
			return []byte(at.Add(by).Format(layout))
		})
	}
	w := newWire()
	w.twist = &twist{
		in:  func(_ request, text []byte) []byte { return shift(text, -by) },
		out: func(text []byte) []byte { return shift(text, by) },
	}
	return w
}

const zeros = "000000000"
