package operators

import (
	"bytes"
	"context"
	"io"
	"time"
)

// listEnds is in the bookmark that ends the list with which a watch begins.
const listEnds = "k8s.io/initial-events-end"

// A piece is what arrived together, and when it may be read.
type piece struct {
	data []byte
	err  error
	due  time.Time
}

// A late is a stream whose pieces are read some time after they arrived.
type late struct {
	io.ReadCloser
	ctx    context.Context // ends with the stream
	pieces chan piece
	rest   []byte
}

// delay makes a watch late. The list that it may begin with is not: a list is
// asked of etcd, and says what there is when it is made.
func delay(ctx context.Context, body io.ReadCloser, by time.Duration, list bool) io.ReadCloser {
	l := &late{ReadCloser: body, ctx: ctx, pieces: make(chan piece, 1<<16)}
	go l.receive(by, list)
	return l
}

// receive reads what arrives until the stream ends.
func (l *late) receive(by time.Duration, list bool) {
	var before []byte
	for {
		buffer := make([]byte, 32<<10)
		n, err := l.ReadCloser.Read(buffer)
		due := time.Now()
		if list {
			before = append(before[max(0, len(before)-len(listEnds)):], buffer[:n]...)
			list = !bytes.Contains(before, []byte(listEnds))
		} else {
			due = due.Add(by)
		}
		select {
		case l.pieces <- piece{buffer[:n], err, due}:
		case <-l.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Read waits until the next piece is due.
func (l *late) Read(p []byte) (int, error) {
	if len(l.rest) > 0 {
		n := copy(p, l.rest)
		l.rest = l.rest[n:]
		return n, nil
	}
	select {
	case next := <-l.pieces:
		select {
		case <-time.After(time.Until(next.due)):
			n := copy(p, next.data)
			l.rest = next.data[n:]
			return n, next.err
		case <-l.ctx.Done():
		}
	case <-l.ctx.Done():
	}
	return 0, errCut
}
