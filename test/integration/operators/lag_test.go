package operators

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// lag is by how long watches are late: longer than a write is expected to come back.
const lag = 4 * time.Second

// lagging makes the watches of these resources late; none means of all.
func lagging(resources ...string) *wire { return lateBy(lag, resources...) }

func lateBy(lag time.Duration, resources ...string) *wire {
	w := newWire()
	w.lag = func(resource string) time.Duration {
		if len(resources) == 0 || slices.Contains(resources, resource) {
			return lag
		}
		return 0
	}
	return w
}

// TestLag: what the caches do not show yet is neither made twice nor made again
// after it was deleted, and the status is right in the end.
func TestLag(t *testing.T) {
	t.Parallel()
	for name, late := range map[string][]string{
		"all": nil, "children": {"configmaps", "secrets", "clusterroles", "services"}, "resources": {"webs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, everyWay)
			cluster.Apply(t, s.namespace, foreign)
			made := record(t, s.namespace)
			s.start(lagging(late...))
			one, two := want{"one", "old", true}, want{"two", "new", false}
			s.becomes(one)
			s.becomes(two)
			s.becomes(one)
			made.are(t, map[string]int{"a": 1, "one": 2, "two": 1})
			cluster.Delete(t, "v1", "ConfigMap", s.namespace, "one")
			kit.Eventually(t, "the child is made again", func() error { return s.holds(one) })
			made.are(t, map[string]int{"a": 1, "one": 3, "two": 1})
			cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
			s.until("the resource is gone", func() error { return s.holds(want{}) })
			s.collectGarbage()
			s.rests("the watches have brought all", s.left)
			made.are(t, map[string]int{"a": 1, "one": 3, "two": 1})
			made.once(t, 1)
		})
	}
}

// becomes changes the resource and waits until the cluster says so; the caches
// may not show it yet.
func (s *site) becomes(to want) {
	s.Helper()
	s.web("a", to.spec())
	s.until("the resource says "+to.text, func() error { return s.holds(to) })
}

// plain is a folder whose children all go with the resource.
var plain = map[string]string{"map.yaml": everyWay["map.yaml"], "secret.yaml": everyWay["secret.yaml"]}

// TestLateDeletion: a resource that is gone, although the operator does not
// see that yet, gets no children any more, while the operator sees them go.
func TestLateDeletion(t *testing.T) {
	t.Parallel()
	s := build(t, plain)
	made := record(t, s.namespace)
	w := newWire()
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
}

// TestLateLoss: the answer to every write is lost, the watches of children are
// late, and the resource is deleted before they show anything.
func TestLateLoss(t *testing.T) {
	t.Parallel()
	s := build(t, everyWay)
	cluster.Apply(t, s.namespace, foreign)
	made := record(t, s.namespace)
	w := lagging("configmaps", "secrets", "clusterroles", "services")
	w.set(loseFirst())
	s.start(w)
	s.web("a", want{"one", "old", true}.spec())
	kit.Eventually(t, "everything is made", func() error {
		if n := len(s.wrote()); n < 9 {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	s.until("the resource is gone", func() error { _, err := s.served(want{}); return err })
	s.collectGarbage()
	s.rests("the watches have brought all", func() error { return errors.Join(s.left(), s.holds(want{})) })
	made.once(t, 1)
}
