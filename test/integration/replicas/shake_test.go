package replicas

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// An event is what happened to a replica. Planned: it could give away what it served.
type event struct {
	user    string
	at      time.Time
	what    string
	planned bool
	alone   bool // no other replica lived
}

// happens notes what happens to a replica.
func (w *crowd) happens(r *replica, what string, planned bool) {
	w.events = append(w.events, event{r.access.User(), time.Now(), what, planned, len(w.living()) == 1})
}

// living are the replicas that run.
func (w *crowd) living() (living []*replica) {
	for _, r := range w.replicas {
		if r.lives() {
			living = append(living, r)
		}
	}
	return living
}

// A blow is what happens to a replica.
type blow string

const (
	killed  blow = "killed"
	ended   blow = "ended"
	stopped blow = "stopped"
	cutOff  blow = "cut off"
)

// blows are each sort of blow at least once.
var blows = []blow{killed, ended, stopped, stopped, cutOff}

// shake kills, stops, cuts off, ends and begins replicas, so many times, with each sort of
// blow in turn, at random; there are one to four replicas.
func (w *crowd) shake(times int) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			seed = n
		}
	}
	w.Logf("CHAOS_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var next []int
	for range times {
		living := w.living()
		if len(living) == 0 {
			w.hasten()
			continue
		}
		if len(next) == 0 {
			next = random.Perm(len(blows))
		}
		one, what := living[random.IntN(len(living))], blows[next[0]]
		next = next[1:]
		if what != ended || len(living) > 1 { // else there is nobody to give anything to
			w.strike(random, one, what)
		}
		if len(living) < 4 && random.IntN(2) == 0 || len(living) < 2 {
			w.hasten()
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
}

// strike lets a blow happen to a replica.
func (w *crowd) strike(random *rand.Rand, r *replica, what blow) {
	w.happens(r, string(what), what == ended)
	switch what {
	case killed:
		r.end(syscall.SIGKILL)
	case ended:
		r.end(syscall.SIGTERM)
	case stopped:
		r.signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(3000+random.IntN(4000)) * time.Millisecond)
		r.signal(syscall.SIGCONT)
	case cutOff:
		lost := strings.Count(r.log.String(), lostLease)
		r.line.cut()
		w.awaitLoss(r, lost)
		r.line.mend(w.T)
	}
}

// lostLease is what a replica logs that could not renew its Lease.
const lostLease = "the Lease could not be renewed"

// awaitLoss waits until a replica that was cut off has lost its Lease once more. One that has none,
// or lost it just before, serves nothing and waits for the API server.
func (w *crowd) awaitLoss(r *replica, before int) {
	log := r.log.String()
	if !strings.Contains(log, "serves buckets") || strings.LastIndex(log, lostLease) > strings.LastIndex(log, "this process holds its Lease") {
		return
	}
	kit.Eventually(w.T, "the replica has lost its Lease", func() error {
		if strings.Count(r.log.String(), lostLease) == before {
			return errors.New("it has not")
		}
		return nil
	})
}

// roll has four replicas, then two, and then others in their place with other folders, as
// a Deployment does.
func (w *crowd) roll() {
	w.awaitDivided(4)
	for len(w.living()) > 2 {
		w.endOne()
	}
	kit.Write(w.T, w.root, w.files("two"))
	for range w.living() {
		w.hasten()
		w.awaitOwners(len(w.living()))
		w.endOne()
	}
}

// endOne ends the oldest replica.
func (w *crowd) endOne() {
	one := w.living()[0]
	w.happens(one, "ended", true)
	one.end(syscall.SIGTERM)
}

// A line is how a replica reaches the API server, as long as it is not cut.
type line struct {
	net.Listener
	to string

	mu    sync.Mutex
	ended bool
	ends  []net.Conn
}

// newLine listens, and copies all bytes to an address and back.
func newLine(t testing.TB, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener, to: to}
	t.Cleanup(l.cut)
	go l.serve(listener)
	return l
}

// serve joins what connects, until the listener is closed.
func (l *line) serve(listener net.Listener) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go l.join(from)
	}
}

// mend lets a line that was cut connect again.
func (l *line) mend(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.Listener, l.ended, l.ends = listener, false, nil
	l.mu.Unlock()
	go l.serve(listener)
}

func (l *line) join(from net.Conn) {
	defer closed(from)
	to, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	l.mu.Lock()
	l.ends = append(l.ends, from, to)
	ended := l.ended
	l.mu.Unlock()
	if ended {
		closed(from)
		closed(to)
	}
	go func() {
		defer closed(to)
		io.Copy(to, from) //nolint:errcheck // one end is gone
	}()
	io.Copy(from, to) //nolint:errcheck // one end is gone
}

// closed closes one end of a line, unless it is closed.
func closed(end io.Closer) { _ = end.Close() }

// cut ends all connections, and takes no others.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	closed(l.Listener)
	l.ended = true
	for _, end := range l.ends {
		closed(end)
	}
}
