package operators

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// awaitOldWatches waits until all watches have lasted for two seconds: one that ends within
// a second, without an event, is not gone on with.
func (s *site) awaitOldWatches() {
	s.Helper()
	kit.Eventually(s, "the watches have lasted for two seconds", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, w := range s.watches {
			if age := time.Since(w.began); age < 2*time.Second {
				return fmt.Errorf("one has lasted for %s", age)
			}
		}
		return nil
	})
}

// TestGone: the server has forgotten the version that the watches go on from,
// those of children and those of what templates read. They list again, and what
// happened meanwhile is seen.
func TestGone(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{
		"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  copy: {{ (lookup \"v1\" \"ConfigMap\" \"\" \"theirs\").data.text }}\n  text: {{ .spec.text }}\n",
	})
	theirs := func(text string) {
		cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}, data: {text: "+text+"}}")
	}
	says := func(text string) func() error {
		return func() error {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
			if err != nil {
				return err
			}
			if got := fmt.Sprint(o.Object["data"]); got != fmt.Sprintf("map[copy:%s text:old]", text) {
				return fmt.Errorf("it says %s, want %s", got, text)
			}
			return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a")
		}
	}
	theirs("one")
	s.start(newWire())
	s.web("a", "text: old")
	s.until("it is made", says("one"))
	s.awaitOldWatches()
	var refused atomic.Int64
	s.set(func(r request) blow {
		if !r.watch || r.list {
			return pass
		}
		refused.Add(1)
		return expire
	})
	s.endWatches()
	theirs("two")
	s.until("what is read is seen", says("two"))
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a")
	s.until("the child is made again", says("two"))
	s.set(nil)
	s.endWatches()
	theirs("three")
	s.until("it goes on", says("three"))
	s.rests("that", says("three"))
	if refused.Load() == 0 {
		t.Error("no watch was refused")
	}
}
