package ui

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A reply is an answer whose body the test closes.
type reply struct {
	status int
	header http.Header
	body   io.Reader
}

// serve is a server with a table of its own, and a client of its page.
func serve(t *testing.T, s *Server) func(method, path, body string) reply {
	t.Helper()
	g := NewGuard(80)
	web := httptest.NewServer(s.Handler(g))
	t.Cleanup(web.Close)
	return func(method, path, body string) reply {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = g.names[0]
		r.Header.Set("Origin", "http://"+r.Host)
		r.Header.Set("Authorization", "Bearer "+g.session)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return reply{answer.StatusCode, answer.Header, answer.Body}
	}
}

// TestStream: a page is told of all rows, that they are all, what cannot be listed, and
// changes; and that the stream lives when nothing happens.
func TestStream(t *testing.T) {
	s := New(Options{Config: &rest.Config{}})
	s.beat = time.Millisecond
	hostile := row("a", "False")
	hostile.Message = "</script><img src=x onerror=alert(1)>\n{}"
	s.table.Put(hostile)
	answer := serve(t, s)("GET", "/api/rows", "")
	if kind := answer.header.Get("Content-Type"); kind != "application/x-ndjson" {
		t.Errorf("it is %s", kind)
	}
	lines := bufio.NewScanner(answer.body)
	until := func(what string, is func(Change, string) bool) {
		t.Helper()
		for lines.Scan() {
			var c Change
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			if is(c, lines.Text()) {
				return
			}
			if lines.Text() != "{}" {
				t.Fatalf("before %s: %s", what, lines.Text())
			}
		}
		t.Fatalf("the stream ends before %s: %v", what, lines.Err())
	}
	until("the row", func(c Change, text string) bool {
		return len(c.Rows) == 1 && c.Rows[0] == hostile && !strings.ContainsAny(text, "<>") && !c.Ready
	})
	until("a heartbeat", func(_ Change, text string) bool { return text == "{}" })
	s.table.Ready()
	until("ready", func(c Change, text string) bool { return c.Ready && text == `{"ready":true}` })
	s.table.Unread("webs.example.com", "may not be listed")
	until("what is unread", func(c Change, _ string) bool {
		return len(c.Unread) == 1 && c.Unread[0] == "may not be listed" && !c.Ready
	})
	s.table.Unread("webs.example.com", "")
	until("that all is read", func(_ Change, text string) bool { return text == `{"unread":[]}` })
	s.table.Drop(hostile.Key)
	until("that it is gone", func(c Change, _ string) bool { return len(c.Gone) == 1 && c.Gone[0] == hostile.Key })
}

// TestFiles: the page's own files, with their types, and nothing else.
func TestFiles(t *testing.T) {
	ask := serve(t, New(Options{Config: &rest.Config{}}))
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8",
		"/app.js": "text/javascript; charset=utf-8", "/app.css": "text/css; charset=utf-8",
		"/favicon.ico": "-", "/x/app.js": "", "/page/app.js": "", "/server.go": "", "/..%2fserver.go": "",
	} {
		answer := ask("GET", path, "")
		if want == "-" { // browsers ask for it, and there is none
			if answer.status != http.StatusNoContent || answer.header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s: %d, %v", path, answer.status, answer.header)
			}
			continue
		}
		if got := answer.header.Get("Content-Type"); want != "" && got != want || (answer.status == http.StatusOK) != (want != "") {
			t.Errorf("%s: %d, %s", path, answer.status, got)
		}
	}
}

// TestOrders: what is no order is refused, before a cluster is asked.
func TestOrders(t *testing.T) {
	ask := serve(t, New(Options{Config: &rest.Config{Host: "http://127.0.0.1:1"}}))
	for body, want := range map[string]int{
		``: 400, `{"action":"delete"}`: 400, `{"action":"pause","more":1}`: 400, `[]`: 400,
		`{"action":"pause","kind":"webs.example.com","name":"a"}`: 502, // the cluster is not there
	} {
		for _, path := range []string{"/api/plan", "/api/do"} {
			if got := ask("POST", path, body).status; got != want {
				t.Errorf("%s %s: %d, want %d", path, body, got, want)
			}
		}
	}
	if got := ask("GET", "/api/do", "").status; got != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", got)
	}
}

// TestSilence: where the API server does not answer, the page is told so, whatever it asks
// for; an order may have been carried out.
func TestSilence(t *testing.T) {
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(func() { close(end); silent.Close() })
	s := New(Options{Config: &rest.Config{Host: silent.URL}})
	s.limit = 10 * time.Millisecond
	ask := serve(t, s)
	const order = `{"action":"pause","kind":"webs.example.com","name":"a"}`
	for path, body := range map[string]string{"/api/about": "", "/api/health": "", "/api/kinds/webs.example.com/history": "",
		"/api/resources/webs.example.com/shop/a/tree": "", "/api/plan": order, "/api/do": order} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		answer := ask(method, path, body)
		text, err := io.ReadAll(answer.body)
		if err != nil {
			t.Fatal(err)
		}
		want := "the API server " + silent.URL + " does not answer"
		if answer.status != http.StatusGatewayTimeout || !strings.Contains(string(text), want) ||
			strings.Contains(string(text), "whether it was done") != (path == "/api/do") {
			t.Errorf("%s: %d %s", path, answer.status, text)
		}
	}
}

// TestLeadsTo: an order about a resource says what comes of it, also where something is
// paused.
func TestLeadsTo(t *testing.T) {
	for _, c := range []struct {
		action       string
		paused, kind bool
		want         string
	}{
		{"pause", false, false, "changes nothing of it until it is resumed"},
		{"resume", true, false, "serves it again, and undoes what others changed"},
		{"resume", true, true, "still changes nothing of it, since its kind is paused"},
		{"reconcile", false, false, "reconciles it now"},
		{"reconcile", true, false, "it is paused, so the operator changes nothing"},
		{"reconcile", true, true, "its kind is paused, so the operator changes nothing"},
	} {
		if got := leadsTo(c.action, c.paused, c.kind); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestOtherDigest: nothing is done if the digest is not the one that was displayed.
func TestOtherDigest(t *testing.T) {
	p := &Plan{Digest: "one"}
	if err := p.checkDigest("one"); err != nil {
		t.Error(err)
	}
	for _, digest := range []string{"", "two"} {
		var r *refusal
		if err := p.checkDigest(digest); !errors.As(err, &r) || r.status != http.StatusConflict {
			t.Errorf("%q: %v", digest, err)
		}
	}
}

// TestCommand: whatever a context is called, it is one word of the command.
func TestCommand(t *testing.T) {
	for context, want := range map[string]string{
		"": "jacquard approve webs.example.com", "kind-a": "jacquard approve webs.example.com --context kind-a",
		"a'b; rm $(c)": `jacquard approve webs.example.com --context 'a'\''b; rm $(c)'`,
	} {
		if got := New(Options{Context: context}).formatCommand("jacquard", "approve", "webs.example.com"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestRef: a child is named by its apiVersion, with or without a group.
func TestRef(t *testing.T) {
	for text, want := range map[string]string{
		"v1/Secret/shop/a": "/v1, Kind=Secret shop a", "apps/v1/Deployment/shop/a": "apps/v1, Kind=Deployment shop a",
		"v1/Namespace/-/a": "/v1, Kind=Namespace  a",
		"v1/Secret/a":      "", "a/b/c/d/e/f": "", "v1/Secret//a": "",
	} {
		ref, err := refOf(text)
		got := ref.String() + " " + ref.Namespace + " " + ref.Name
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
