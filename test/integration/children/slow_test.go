package children

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A swamp keeps what is written to CRDs until it is drained, or the writer gives
// up.
type swamp struct {
	next http.RoundTripper

	mu sync.Mutex
	// keeps is the CRD whose writes are kept; "" is none.
	keeps string
	// kept counts writes that came, given those whose writer gave up.
	kept, given int
	drained     chan struct{}
}

func (s *swamp) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	keep := s.keeps != "" && r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/customresourcedefinitions/"+s.keeps)
	if keep {
		s.kept++
	}
	s.mu.Unlock()
	if keep {
		select {
		case <-s.drained:
		case <-r.Context().Done():
			s.mu.Lock()
			s.given++
			s.mu.Unlock()
		}
	}
	return s.next.RoundTrip(r)
}

// counts are how many writes came, and how many of them were given up.
func (s *swamp) counts() (kept, given int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, s.given
}

// stuck waits until a write is kept.
func (s *swamp) stuck(t *testing.T) {
	t.Helper()
	kit.Eventually(t, "a write is kept", func() error {
		if kept, _ := s.counts(); kept == 0 {
			return http.ErrHandlerTimeout
		}
		return nil
	})
}

// inTime fails if a writer gave up meanwhile: what was waited for then waited
// for it.
func (s *swamp) inTime(t *testing.T) {
	t.Helper()
	if kept, given := s.counts(); given > 0 {
		t.Errorf("it had to wait until %d of %d slow writes were given up", given, kept)
	}
	close(s.drained)
}

func runOver(t *testing.T, s *swamp, change func(*controller.Options), roots ...string) {
	t.Helper()
	cluster.Run(t, func(o *controller.Options) {
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { s.next = next; return s })
		if change != nil {
			change(o)
		}
	}, roots...)
}

// TestSlowKind: a kind whose CRD takes long to write keeps no other from being
// served.
func TestSlowKind(t *testing.T) {
	t.Parallel()
	slow, quick := newThing(t, "slow", plain()), newThing(t, "quick", nil)
	s := &swamp{keeps: slow.name(), drained: make(chan struct{})}
	cluster.Apply(t, "", slow.crd())
	cluster.Apply(t, "", quick.crd())
	runOver(t, s, nil, slow.root, quick.root)
	s.stuck(t)
	quick.write(t, plain())
	cluster.Served(t, quick.apiVersion(), "Thing")
	quick.apply(t, "a", "")
	quick.data(t, "a", "hello")
	s.inTime(t)
	slow.apply(t, "a", "")
	slow.ready(t, "a")
}
