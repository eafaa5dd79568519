package operators

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestSwallowedDeletion: the watch says nothing of a child's deletion. The slow
// look finds it.
func TestSwallowedDeletion(t *testing.T) {
	t.Parallel()
	files := map[string]string{"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nresyncInterval: 5s\n"}
	for name, text := range plain {
		files[name] = text
	}
	s := build(t, files)
	made := record(t, s.namespace)
	var swallowed atomic.Int64
	w := newWire()
	w.twist = &twist{in: func(r request, text []byte) []byte {
		if r.watch && r.resource == "configmaps" && bytes.Contains(text, []byte(`"type":"DELETED"`)) &&
			bytes.Contains(text, []byte(s.namespace)) {
			swallowed.Add(1)
			return nil
		}
		return text
	}}
	s.start(w)
	to := want{"one", "old", false}
	s.web("a", to.spec())
	check := func() error {
		if err := s.texts(map[string]string{"one": "old"}); err != nil {
			return err
		}
		return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a")
	}
	s.until("it is made", check)
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "one")
	kit.Eventually(t, "the child is made again", func() error {
		if err := check(); err != nil || swallowed.Load() == 0 {
			return fmt.Errorf("%d events were swallowed, %w", swallowed.Load(), err)
		}
		return nil
	})
	s.rests("that", check)
	made.are(t, map[string]int{"a": 1, "one": 2})
}

// A twist changes what is on its way, as JSON: the answers, those of watches
// line by line, and the content of requests. nil for a line lets it fall.
type twist struct {
	in  func(request, []byte) []byte
	out func([]byte) []byte
}

// through sends a request and twists it and its answer.
func (t *twist) through(next http.RoundTripper, r *http.Request, asked request) (*http.Response, error) {
	if t == nil {
		return next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	var accept []string
	for _, kind := range strings.Split(r.Header.Get("Accept"), ",") {
		if !strings.Contains(kind, "protobuf") {
			accept = append(accept, kind)
		}
	}
	r.Header.Set("Accept", strings.Join(accept, ","))
	if r.Body != nil && t.out != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text = t.out(text)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if asked.watch {
		answer.Body = &lines{Closer: answer.Body, from: bufio.NewReader(answer.Body),
			change: func(line []byte) []byte { return t.in(asked, line) }}
		return answer, nil
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	text = t.in(asked, text)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// lines changes a stream line by line.
type lines struct {
	io.Closer
	from   *bufio.Reader
	change func([]byte) []byte
	rest   []byte
	err    error
}

// Read reads what has become of a line.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		var line []byte
		if line, l.err = l.from.ReadBytes('\n'); len(line) > 0 {
			l.rest = l.change(line)
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
