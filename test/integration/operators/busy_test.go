package operators

import (
	"errors"
	"fmt"
	"math/bits"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestBusyServer: three in ten writes are answered 429, 500, 503 or 504, and
// then all of them for a while. Each refused write is sent again, after a 429
// not before its time, and none without need.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	s := build(t, everyWay)
	cluster.Apply(t, s.namespace, foreign)
	passwords := record(t, s.namespace)
	b := &busy{tenths: 3, sent: map[request]int{}, refused: map[request]int{}, until: map[request]time.Time{}}
	w := newWire()
	w.instead = b.judge
	s.start(w)
	for _, to := range []want{{"one", "first", true}, {"two", "second", false}, {"three", "third", true}} {
		s.web("a", to.spec())
		s.until("the resource says "+to.text, func() error { return s.holds(to) })
		s.rests(to.text, func() error { return s.holds(to) })
	}
	b.frugal(t)

	from, began := len(s.wrote()), time.Now()
	b.set(10)
	last := want{"four", "fourth", false}
	s.web("a", last.spec())
	kit.Eventually(t, "the server has been down for long enough", func() error {
		if down := time.Since(began); down < downtime {
			return fmt.Errorf("it has been down for %s", down)
		}
		return nil
	})
	most := bits.Len(uint(time.Since(began)/time.Second)) + 2 // the waits double, from a second on
	tries := map[request]int{}
	for _, r := range s.wrote()[from:] {
		if tries[r.object()]++; tries[r.object()] == most+1 {
			t.Errorf("tried more than %d times while the server was down: %v", most, r.object())
		}
	}
	if t.Failed() {
		for _, r := range s.wrote()[from:] {
			t.Log(r.at.Sub(began), r)
		}
	}
	t.Logf("while the server was down: %d tries of %d objects", len(s.wrote())-from, len(tries))
	if len(tries) == 0 {
		t.Error("nothing was tried while the server was down")
	}
	b.set(0) // by now the waits are long: a write that is refused again would be due in a minute
	s.until("the resource says "+last.text, func() error { return s.holds(last) })
	b.set(3)
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	s.until("the resource is gone", func() error { return s.holds(want{}) })
	s.collectGarbage()
	s.rests("deletion", func() error { return errors.Join(s.left(), s.holds(want{})) })
	passwords.once(t, 1)
}

// downtime is for how long no write is carried out: long enough that waits which do not
// double would mean more tries.
const downtime = 6 * time.Second

// A busy server refuses some writes in place of carrying them out.
type busy struct {
	mu     sync.Mutex
	tenths int // so many of ten writes in a row are refused
	writes int
	all    int // writes that were refused
	// sent and refused count the writes of the same content, and until is before
	// when the server asked not to be sent it again.
	sent, refused map[request]int
	until         map[request]time.Time
	early         []request
}

// answers are what a busy server says, in turn.
var answers = []*fault{
	{http.StatusTooManyRequests, "TooManyRequests", "2"},
	{http.StatusInternalServerError, "InternalError", ""},
	{http.StatusServiceUnavailable, "ServiceUnavailable", ""},
	{http.StatusGatewayTimeout, "Timeout", ""},
	{http.StatusTooManyRequests, "TooManyRequests", ""},
	{http.StatusServiceUnavailable, "ServiceUnavailable", "1"},
}

// judge refuses a write where it is its turn.
func (b *busy) judge(r request) *fault {
	if !r.writes() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until[r]) {
		b.early = append(b.early, r)
	}
	b.sent[r]++
	b.writes++
	if b.writes*7%10 >= b.tenths {
		return nil
	}
	f := answers[b.all%len(answers)]
	b.all++
	b.refused[r]++
	if f.retryAfter != "" {
		wait, _ := time.ParseDuration(f.retryAfter + "s")
		b.until[r] = time.Now().Add(wait)
	}
	return f
}

func (b *busy) set(tenths int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tenths = tenths
}

// frugal fails if anything was sent more often than it was refused and once
// more, or before the server wanted it.
func (b *busy) frugal(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	t.Logf("%d of %d writes were refused", b.all, b.writes)
	if b.all < 5 {
		t.Errorf("only %d writes were refused", b.all)
	}
	for r, n := range b.sent {
		if n > b.refused[r]+1 && !r.claims() {
			t.Errorf("sent %d times, and refused %d times: %v", n, b.refused[r], r)
		}
	}
	for _, r := range b.early {
		t.Errorf("sent before the server wanted it again: %v", r)
	}
}
