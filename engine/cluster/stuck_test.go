package cluster

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/jacquard-operator/jacquard/engine/live"
)

var errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)

// parted is stillChildren in two namespaces: n, in which all objects are, and
// another.
func parted(t *testing.T) (c *Children, n, other *store) {
	t.Helper()
	c, k, n := stillChildren(t)
	n.namespace, c.log = "n", klog.Background()
	other = newStore(n.watch, "other")
	k.current.stores = []*store{n, other}
	return c, n, other
}

func (s *store) fails(err error) {
	s.watch.deliverChange(func(*notifications) { s.troubles.list = err })
}

// TestStuckNamespace: a namespace that may not be watched makes nothing of the
// others unknown.
func TestStuckNamespace(t *testing.T) {
	for name, steps := range map[string][]string{"it is stuck first": {"stuck", "listed"}, "the other is listed first": {"listed", "stuck"}} {
		t.Run(name, func(t *testing.T) {
			c, n, other := parted(t)
			for i, step := range steps {
				if n.watch.listings {
					t.Errorf("after %d steps all is said to be listed", i)
				}
				if step == "stuck" {
					other.fails(errForbidden)
				} else if err := n.Replace([]any{labelled(1, "known")}, "5000"); err != nil {
					t.Fatal(err)
				}
			}
			if s := c.State(configMaps, "n"); s.Phase != live.Synced || s.Err != nil {
				t.Errorf("what is listed is %s: %v", s.Phase, s.Err)
			}
			if found, err := c.Of(configMaps, "known", "n"); err != nil || len(found) != 1 {
				t.Errorf("found %v, %v", found, err)
			}
			for _, in := range [][]string{{"other"}, {"n", "other"}, nil} {
				if s := c.State(configMaps, in...); s.Phase != live.Unsynced || s.Err == nil || s.Coming() {
					t.Errorf("in %v it is %s: %v", in, s.Phase, s.Err)
				}
				if _, err := c.Of(configMaps, "known", in...); err == nil {
					t.Errorf("what is in %v is known", in)
				}
			}
			if !n.watch.listings {
				t.Error("who waits for a list waits for one that does not come")
			}
			if err := other.Replace(nil, "5000"); err != nil {
				t.Fatal(err)
			}
			if s := c.State(configMaps); s.Phase != live.Synced || s.Err != nil {
				t.Errorf("when it may be watched again, all is %s: %v", s.Phase, s.Err)
			}
		})
	}
}

// TestSlowNamespace: one that just has not answered yet is waited for, and so is
// one that the last watch knows.
func TestSlowNamespace(t *testing.T) {
	c, n, other := parted(t)
	if err := n.Replace(nil, "5000"); err != nil {
		t.Fatal(err)
	}
	other.fails(apierrors.NewServiceUnavailable("soon"))
	if n.watch.listings {
		t.Error("a passing trouble is taken for a list")
	}
	if err := other.Replace(nil, "5000"); err != nil {
		t.Fatal(err)
	}
	k := n.watch.kind
	next := &kindWatch{kind: k, need: live.Body, cancel: func() {}, ready: make(chan struct{})}
	next.stores = []*store{newStore(next, "n"), newStore(next, "other")}
	k.next = next
	next.stores[1].fails(errForbidden)
	if err := next.stores[0].Replace(nil, "5000"); err != nil {
		t.Fatal(err)
	}
	if k.current == next {
		t.Error("what the last watch knows is forgotten")
	}
	other.fails(errForbidden)
	if err := next.stores[0].Bookmark("5001"); err != nil || k.current != next {
		t.Error("it waits for what the last watch does not know either")
	}
	if s := c.State(configMaps, "n"); s.Holds != live.Body {
		t.Errorf("it holds %s", s.Holds)
	}
}
