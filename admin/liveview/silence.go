package liveview

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A silence is a transport that reads no more objects of a resource once the API server
// gave no answer in time to a request about them. Otherwise a survey would wait again for
// each kind, and in each namespace, that has to do with one that hangs.
type silence struct {
	next http.RoundTripper

	mu sync.Mutex
	// late are the timeouts by resource.
	late map[string]error
}

// keepSilence wraps a transport.
func keepSilence(next http.RoundTripper) http.RoundTripper {
	return &silence{next: next, late: map[string]error{}}
}

// RoundTrip sends a request.
func (s *silence) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return s.next.RoundTrip(r)
	}
	resource := resourceOf(r.URL.Path)
	s.mu.Lock()
	late := s.late[resource]
	s.mu.Unlock()
	if late != nil {
		return nil, late
	}
	answer, err := s.next.RoundTrip(r)
	s.recordLate(resource, err)
	if err == nil {
		answer.Body = silentBody{answer.Body, func(err error) { s.recordLate(resource, err) }}
	}
	return answer, err
}

// recordLate records the error of a request about a resource, if it says that the answer is late.
func (s *silence) recordLate(resource string, err error) {
	var timeout *transport.TimeoutError
	if errors.As(err, &timeout) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.late[resource] = timeout
	}
}

// A silentBody is the body of an answer that may not end in time.
type silentBody struct {
	io.ReadCloser
	note func(error)
}

// Read reads a part of the body.
func (b silentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.note(err)
	return n, err
}

// resourceOf is a path of the API without namespace and name: /apis/apps/v1/deployments.
func resourceOf(path string) string {
	steps := strings.Split(path, "/")
	before := 3 // "", api, v1
	if len(steps) > 1 && steps[1] == "apis" {
		before = 4 // "", apis, apps, v1
	}
	if len(steps) <= before {
		return path
	}
	below := steps[before:]
	if below[0] == "namespaces" && len(below) > 2 {
		below = below[2:]
	}
	return strings.Join(append(steps[:before:before], below[0]), "/")
}
