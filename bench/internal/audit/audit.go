// Package audit follows a kube-apiserver audit log and counts requests.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"time"
)

// Request is one completed API request.
type Request struct {
	Done     time.Time
	User     string
	Verb     string
	Resource string // "apps/deployments", "pods", "apps/deployments/status"; "-" for discovery, health and the like
	Code     int
}

// Write reports whether the request is one that changes objects. Leases and
// events are bookkeeping and are counted apart from object writes.
func (r Request) Write() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !r.isBookkeeping()
	}
	return false
}

// isBookkeeping reports whether a request is about Leases, Events or access reviews.
func (r Request) isBookkeeping() bool {
	return strings.HasSuffix(r.Resource, "leases") || strings.HasSuffix(r.Resource, "events") ||
		strings.Contains(r.Resource, "authorization.k8s.io/") || strings.Contains(r.Resource, "authentication.k8s.io/")
}

// Log follows an audit log file.
type Log struct {
	mu       sync.Mutex
	requests []Request
	stop     chan struct{}
}

// Follow starts reading the file; it must exist.
func Follow(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Log{stop: make(chan struct{})}
	go l.read(f)
	return l, nil
}

// Stop ends the reading.
func (l *Log) Stop() { close(l.stop) }

func (l *Log) read(f *os.File) {
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			if r, ok := parse(line); ok {
				l.mu.Lock()
				l.requests = append(l.requests, r)
				l.mu.Unlock()
			}
			line = line[:0]
		case errors.Is(err, io.EOF):
			select {
			case <-l.stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return
		}
	}
}

func parse(line []byte) (Request, bool) {
	var e struct {
		Verb      string
		User      struct{ Username string }
		ObjectRef struct {
			Resource, Subresource, APIGroup string
		}
		ResponseStatus struct{ Code int }
		StageTimestamp time.Time
	}
	if json.Unmarshal(line, &e) != nil {
		return Request{}, false
	}
	r := Request{Done: e.StageTimestamp, User: e.User.Username, Verb: e.Verb, Code: e.ResponseStatus.Code, Resource: "-"}
	if o := e.ObjectRef; o.Resource != "" {
		r.Resource = o.Resource
		if o.APIGroup != "" {
			r.Resource = o.APIGroup + "/" + r.Resource
		}
		if o.Subresource != "" {
			r.Resource += "/" + o.Subresource
		}
	}
	return r, true
}

// Counts sums the requests of one user in one span of time.
type Counts struct {
	Writes  int            `json:"writes"`           // object writes
	Reads   int            `json:"reads"`            // get + list (watches and discovery excluded)
	Watches int            `json:"watches"`          // watches that ended in the span
	Other   int            `json:"other"`            // discovery, leases, events, access reviews
	Failed  int            `json:"failed"`           // of all: status >= 400
	Detail  map[string]int `json:"detail,omitempty"` // "patch apps/deployments" -> n
}

// Total is every request except watches.
func (c Counts) Total() int { return c.Writes + c.Reads + c.Other }

// Plus adds the requests of another span.
func (c Counts) Plus(other Counts) Counts {
	c.Writes += other.Writes
	c.Reads += other.Reads
	c.Watches += other.Watches
	c.Other += other.Other
	c.Failed += other.Failed
	c.Detail = maps.Clone(c.Detail)
	for what, n := range other.Detail {
		c.Detail[what] += n
	}
	return c
}

// Count sums the user's requests that were completed in [from, to).
func (l *Log) Count(user string, from, to time.Time) Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := Counts{Detail: map[string]int{}}
	for _, r := range l.requests {
		if r.User != user || r.Done.Before(from) || !r.Done.Before(to) {
			continue
		}
		switch {
		case r.Verb == "watch":
			c.Watches++
		case r.Write():
			c.Writes++
		case r.Resource == "-" || r.isBookkeeping():
			c.Other++
		default:
			c.Reads++
		}
		if r.Code >= 400 {
			c.Failed++
		}
		c.Detail[fmt.Sprintf("%s %s", r.Verb, r.Resource)]++
	}
	return c
}

// LastWrite is when the user's last object write was completed; zero if there was none.
func (l *Log) LastWrite(user string) time.Time {
	return l.lastMatch(user, Request.Write)
}

// LastActivity is when the user's last request on objects (reads included,
// watches, leases and events not) was completed; zero if there was none.
func (l *Log) LastActivity(user string) time.Time {
	return l.lastMatch(user, func(r Request) bool { return r.Verb != "watch" && r.Resource != "-" && !r.isBookkeeping() })
}

// lastMatch returns the time of the last request of a user that matches, or the zero time.
func (l *Log) lastMatch(user string, match func(Request) bool) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Requests are logged as they complete: the newest match is near the end.
	for i := len(l.requests) - 1; i >= 0; i-- {
		if r := l.requests[i]; r.User == user && match(r) {
			return r.Done
		}
	}
	return time.Time{}
}
