package operators

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestLagOfClocks: what the caches do not show yet is neither made twice nor made again after
// it was deleted, whatever the clock of the operator says beside that of the API server.
func TestLagOfClocks(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"slow": -2 * time.Hour, "fast": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, everyWay)
			cluster.Apply(t, s.namespace, foreign)
			made := record(t, s.namespace)
			var shifted atomic.Int64
			w := apart(by, &shifted)
			w.lag = lagging().lag
			s.start(w)
			one, two := want{"one", "old", true}, want{"two", "new", false}
			s.becomes(one)
			s.becomes(two)
			s.becomes(one)
			made.are(t, map[string]int{"a": 1, "one": 2, "two": 1})
			cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
			s.until("the resource is gone", func() error { return s.holds(want{}) })
			s.collectGarbage()
			s.rests("the watches have brought all", s.left)
			made.are(t, map[string]int{"a": 1, "one": 2, "two": 1})
			made.once(t, 1)
			if shifted.Load() == 0 {
				t.Error("no time was shifted")
			}
		})
	}
}

// TestLateDeletionOfClocks: the same for a resource that is gone, although the operator does
// not see that yet.
func TestLateDeletionOfClocks(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"slow": -2 * time.Hour, "fast": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, plain)
			made := record(t, s.namespace)
			var shifted atomic.Int64
			w := apart(by, &shifted)
			s.start(w)
			s.web("a", want{"map-a", "old", false}.spec())
			s.until("it is ready", func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a") })
			w.holdWatches("webs")
			cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
			s.collectGarbage()
			s.rests("its children went", s.left)
			w.catchUp()
			s.rests("its deletion is seen", s.left)
			made.are(t, map[string]int{"a": 1, "map-a": 1})
		})
	}
}

// TestLateHeirOfClocks: the same for a process that takes over from one whose clock is two hours
// apart, and does not see yet what that one acted on.
func TestLateHeirOfClocks(t *testing.T) {
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
			s.web("a", one.spec())
			s.until("the first leads", func() error { return s.owned(one) })
			follower := apart(-first, &shifted)
			s.startAs(follower, among)
			s.rests("the other has listed everything", func() error { return s.owned(one) })
			follower.holdWatches("webs")
			s.web("a", two.spec())
			kit.Eventually(t, "the leader follows", func() error { return s.owned(two) })
			leader.kill()
			kit.Eventually(t, "the other has asked for the resource", func() error {
				for _, r := range follower.asked() {
					if r.resource == "webs" && r.name == "a" {
						return nil
					}
				}
				return fmt.Errorf("it asked for %d other things", len(follower.asked()))
			})
			if err := s.owned(two); err != nil {
				t.Errorf("undone: %v", err)
			}
			follower.catchUp()
			s.rests("the other has seen it", func() error { return s.owned(two) })
			made.are(t, map[string]int{"a": 1, "one": 1, "two": 1})
		})
	}
}
