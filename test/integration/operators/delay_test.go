package operators

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"
)

// listEnds is in the bookmark that ends the list with which a watch begins.
const listEnds = "k8s.io/initial-events-end"

// A piece is what arrived together, and when it may be read.
type piece struct {
	data []byte
	err  error
	due  time.Time
	held <-chan struct{} // closed when it may be read; nil: it is not held
	// waits: it is about the test's own objects, and is read when its time comes.
	waits bool
}

// A late is a stream whose pieces are read some time after they arrived.
type late struct {
	*stream
	wire    *wire
	of      request
	pieces  chan piece
	rest    []byte
	waiting atomic.Int64 // pieces that wait
}

// delay makes a watch as late as the wire says when something arrives. The list that it
// may begin with is not late: a list is asked of etcd, and says what there is when it is
// made.
func (w *wire) delay(s *stream, of request) io.ReadCloser {
	l := &late{stream: s, wire: w, of: of, pieces: make(chan piece, 1<<10)}
	w.mu.Lock()
	w.late = append(w.late, l)
	w.mu.Unlock()
	go l.receive()
	return l
}

// holdWatches lets the watches of these resources bring nothing more, until catchUp.
func (w *wire) holdWatches(resources ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind = map[string]chan struct{}{}
	for _, resource := range resources {
		w.behind[resource] = make(chan struct{})
	}
}

// catchUp lets all watches bring what they have.
func (w *wire) catchUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, held := range w.behind {
		close(held)
	}
	w.behind = nil
}

// lateness says when what a watch brings now may be read.
func (w *wire) lateness(resource string) (due time.Time, held <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due = time.Now()
	if w.lag != nil {
		due = due.Add(w.lag(resource))
	}
	if c, isHeld := w.behind[resource]; isHeld {
		held = c
	}
	return due, held
}

// receive reads what arrives until the stream ends.
func (l *late) receive() {
	var before []byte
	buffer := make([]byte, 32<<10)
	for list := l.of.list; ; {
		n, err := l.stream.Read(buffer)
		next := piece{data: bytes.Clone(buffer[:n]), err: err}
		if list {
			before = append(before[max(0, len(before)-len(listEnds)):], buffer[:n]...)
			list = !bytes.Contains(before, []byte(listEnds))
		} else {
			next.due, next.held = l.wire.lateness(l.of.resource)
		}
		next.waits = next.held == nil && l.wire.isAbout(next.data)
		l.countWaiting(next, 1)
		select {
		case l.pieces <- next:
		case <-l.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// countWaiting counts a piece that waits.
func (l *late) countWaiting(p piece, n int64) {
	if p.waits {
		l.waiting.Add(n)
	}
}

// Read waits until the next piece is due.
func (l *late) Read(p []byte) (int, error) {
	if len(l.rest) > 0 {
		n := copy(p, l.rest)
		l.rest = l.rest[n:]
		return n, nil
	}
	next, err := l.next()
	if err != nil {
		return 0, err
	}
	n := copy(p, next.data)
	l.rest = next.data[n:]
	return n, next.err
}

// next returns the next piece when it is due.
func (l *late) next() (next piece, err error) {
	select {
	case next = <-l.pieces:
	case <-l.ctx.Done():
		return piece{}, l.endError()
	}
	if next.held != nil {
		select {
		case <-next.held:
		case <-l.ctx.Done():
			return piece{}, l.endError()
		}
	}
	select {
	case <-time.After(time.Until(next.due)):
		l.countWaiting(next, -1)
		return next, nil
	case <-l.ctx.Done():
		return piece{}, l.endError()
	}
}

// endError is the error with which the stream ends.
func (l *late) endError() error {
	if l.ended.Load() {
		return io.EOF
	}
	return errCut
}
