package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// A valve stands in the watches of a client: it can hold their events back, and
// swallow those that contain some text.
type valve struct {
	mu      sync.Mutex
	moved   *sync.Cond
	held    bool
	swallow string
}

// newValve returns a valve and a config whose watches go through it.
func newValve(cfg *rest.Config) (*valve, *rest.Config) {
	v := &valve{}
	v.moved = sync.NewCond(&v.mu)
	through := rest.CopyConfig(cfg)
	through.Wrap(func(next http.RoundTripper) http.RoundTripper { return &valved{valve: v, next: next} })
	return v, through
}

func (v *valve) hold(held bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = held
	v.moved.Broadcast()
}

func (v *valve) drop(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.swallow = text
}

type valved struct {
	valve *valve
	next  http.RoundTripper
}

func (t *valved) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusOK && r.URL.Query().Get("watch") != "" {
		answer.Body = &gated{
			valve: t.valve, body: answer.Body, in: bufio.NewReader(answer.Body),
			framed: strings.Contains(answer.Header.Get("Content-Type"), "protobuf"),
		}
	}
	return answer, err
}

// gated is the body of a watch, event by event.
type gated struct {
	valve  *valve
	body   io.Closer
	in     *bufio.Reader
	framed bool // protobuf: length and event; else a line of JSON each
	out    bytes.Buffer
	closed bool
}

func (g *gated) Read(p []byte) (int, error) {
	for g.out.Len() == 0 {
		event, err := g.event()
		if err != nil {
			return 0, err
		}
		if g.lets(event) {
			g.out.Write(event)
		}
	}
	return g.out.Read(p)
}

func (g *gated) event() ([]byte, error) {
	if !g.framed {
		return g.in.ReadBytes('\n')
	}
	length, err := g.in.Peek(4)
	if err != nil {
		return nil, err
	}
	event := make([]byte, 4+binary.BigEndian.Uint32(length))
	_, err = io.ReadFull(g.in, event)
	return event, err
}

// lets waits while the valve is held and reports whether the event goes through.
func (g *gated) lets(event []byte) bool {
	v := g.valve
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.held && !g.closed {
		v.moved.Wait()
	}
	return v.swallow == "" || !bytes.Contains(event, []byte(v.swallow))
}

func (g *gated) Close() error {
	g.valve.mu.Lock()
	g.closed = true
	g.valve.moved.Broadcast()
	g.valve.mu.Unlock()
	return g.body.Close()
}
