package operators

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// TestLost: the server carries out every write, and the first answer to each
// never arrives. That costs at most one more request for each write.
func TestLost(t *testing.T) {
	t.Parallel()
	s := build(t, everyWay)
	cluster.Apply(t, s.namespace, foreign)
	passwords := record(t, s.namespace)
	w := newWire()
	w.set(loseFirst())
	s.start(w)
	for _, to := range []want{{"one", "old", true}, {"two", "new", false}} {
		s.web("a", to.spec())
		s.until("the resource says "+to.text, func() error { return s.holds(to) })
		s.rests(to.text, func() error { return s.holds(to) })
	}
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	s.until("the resource is gone", func() error { return s.holds(want{}) })
	s.rests("deletion", func() error { return s.holds(want{}) })
	passwords.once(t, 1)
	s.frugal()
}

// loseFirst loses the first answer to each write.
func loseFirst() func(request) blow {
	lost := map[request]bool{}
	return func(r request) blow {
		if !r.writes() || lost[r] {
			return pass
		}
		lost[r] = true
		return lose
	}
}

// frugal fails if anything was written more than twice with the same content,
// or some object was read more often than it was written.
func (s *site) frugal() {
	s.Helper()
	s.Logf("%d writes and reads of single objects", len(s.asked()))
	writes, reads, written := map[request]int{}, map[request]int{}, map[request]int{}
	for _, r := range s.asked() {
		object := r.object()
		if r.method == http.MethodGet {
			reads[object]++
			continue
		}
		if writes[r]++; writes[r] > 2 && !r.claims() {
			s.Errorf("sent %d times: %v", writes[r], r)
		}
		written[object]++
	}
	for object, n := range reads {
		if n > written[object] {
			s.Errorf("read %d times and written %d times: %v", n, written[object], object)
		}
	}
}

// claims reports whether a request claims a CRD: that is done again, ever more
// seldom, until the watch shows the first.
func (r request) claims() bool {
	return r.resource == "customresourcedefinitions" && strings.Contains(r.body, api.AnnotationOperator+`":`)
}
