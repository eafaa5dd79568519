package operators

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestCutOff: the network between operator and server is cut for a while, as
// by a cable, when everything hangs, and as by a firewall, when everything
// fails at once. Meanwhile people delete a child, change a resource, make one
// and delete one. All of it is seen when the network is back, nothing is made
// twice, and nothing is undone.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"hangs": false, "fails": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, plain)
			made := record(t, s.namespace)
			w := newWire()
			w.gap = &gap{fails: fails}
			s.start(w)
			for _, name := range []string{"deleted", "changed", "leaves"} {
				s.web(name, want{"map-" + name, "old", false}.spec())
			}
			s.says(map[string]string{"map-deleted": "old", "map-changed": "old", "map-leaves": "old"})
			s.until("it is at rest", func() error { return nil })
			w.gap.open()
			cluster.Delete(t, "v1", "ConfigMap", s.namespace, "map-deleted")
			s.web("changed", want{"map-changed", "new", false}.spec())
			s.web("made", want{"map-made", "old", false}.spec())
			cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "leaves")
			s.collectGarbage()
			kit.Eventually(t, "the network is missed", w.gap.checkMissed)
			w.gap.close()
			s.says(map[string]string{"map-deleted": "old", "map-changed": "new", "map-made": "old"})
			check := func() error {
				for _, name := range []string{"deleted", "changed", "made"} {
					if err := cluster.Ready(s.apiVersion(), "Web", s.namespace, name); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
				}
				return nil
			}
			s.until("all of it is told", check)
			s.rests("the network is back", check)
			made.are(t, map[string]int{
				"deleted": 1, "changed": 1, "leaves": 1, "made": 1,
				"map-deleted": 2, "map-changed": 1, "map-leaves": 1, "map-made": 1,
			})
		})
	}
}

// says waits until these are the ConfigMaps that there are, and their text.
func (s *site) says(want map[string]string) {
	s.Helper()
	kit.Eventually(s, "the children are right", func() error { return s.texts(want) })
}

// A gap is where nothing goes through while it is open. The zero gap is closed.
type gap struct {
	fails bool // what comes fails; else it waits

	mu     sync.Mutex
	closed chan struct{}  // nil while nothing is cut
	lost   map[string]int // how often a list or watch of a resource did not go through
}

// checkMissed returns why the outage is too short yet: each watch that has something to bring
// is to have been lost, and where requests fail, to have been tried again and again.
func (g *gap) checkMissed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	least := 1
	if g.fails {
		least = 4
	}
	for _, resource := range []string{"webs", "configmaps", "secrets"} {
		if n := g.lost[resource]; n < least {
			return fmt.Errorf("%s were lost %d times, of %d", resource, n, least)
		}
	}
	return nil
}

// open cuts the network.
func (g *gap) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.lost = make(chan struct{}), map[string]int{}
}

// close mends it.
func (g *gap) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	g.closed = nil
}

// pass lets something about a resource pass once the gap is closed. What has waited for
// that is lost, as connections are that nobody has heard of for so long.
func (g *gap) pass(ctx context.Context, resource string) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	closed := g.closed
	if closed != nil {
		g.lost[resource]++
	}
	g.mu.Unlock()
	switch {
	case closed == nil:
		return nil
	case g.fails:
		return errCut
	}
	select {
	case <-closed:
	case <-ctx.Done():
	}
	return errCut
}
