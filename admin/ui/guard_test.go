package ui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const port = 40123

// ask sends a request to a guarded server, whose inner handler answers 200.
func ask(g *Guard, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r := httptest.NewRequest(method, "http://127.0.0.1:40123"+path, nil)
	r.Header.Set("Origin", "http://127.0.0.1:40123")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.Wrap(ok, ok).ServeHTTP(w, r)
	return w
}

// open begins a session as the page does.
func open(t *testing.T, g *Guard) (session string) {
	t.Helper()
	_, token, _ := strings.Cut(g.URL(), "#")
	w := ask(g, http.MethodPost, "/session", func(r *http.Request) { r.Body = body(token) })
	if w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Fatalf("the token gives %d %s", w.Code, w.Body)
	}
	if set := w.Result().Cookies(); len(set) > 0 {
		t.Fatalf("it sets a cookie, which browsers send to every port: %v", set)
	}
	return w.Body.String()
}

// bearing sends a session as the page does.
func bearing(session string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+session) }
}

type text struct{ *strings.Reader }

func (text) Close() error { return nil }

func body(s string) text { return text{strings.NewReader(s)} }

func TestSession(t *testing.T) {
	g := NewGuard(port)
	_, token, _ := strings.Cut(g.URL(), "#")
	session := open(t, g)
	if w := ask(g, http.MethodGet, "/api/kinds", bearing(session)); w.Code != http.StatusOK {
		t.Errorf("with the session: %d %s", w.Code, w.Body)
	}
	if w := ask(g, http.MethodPost, "/session", func(r *http.Request) { r.Body = body(token) }); w.Code != http.StatusUnauthorized {
		t.Errorf("the token is good for a second session: %d", w.Code)
	}
	if strings.Contains(g.URL(), token) {
		t.Error("the token is told after it was used")
	}
}

// TestAttacks: what others send is refused, with the session and without.
func TestAttacks(t *testing.T) {
	g := NewGuard(port)
	session := open(t, g)
	mine := func(change func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) { bearing(session)(r); change(r) }
	}
	for name, test := range map[string]struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		"another user of the machine": {http.MethodGet, "/api/kinds", nil, http.StatusUnauthorized},
		"who guesses":                 {http.MethodGet, "/api/kinds", bearing("x"), http.StatusUnauthorized},
		"who sends it as a cookie": {http.MethodGet, "/api/kinds",
			func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "jacquard-40123", Value: session}) }, http.StatusUnauthorized},
		"the session as a token": {http.MethodPost, "/session",
			func(r *http.Request) { r.Body = body(session) }, http.StatusUnauthorized},
		"who guesses the token": {http.MethodPost, "/session",
			func(r *http.Request) { r.Body = body("x") }, http.StatusUnauthorized},
		"who sends no token after it was used": {http.MethodPost, "/session", nil, http.StatusUnauthorized},
		"rebinding": {http.MethodGet, "/api/kinds",
			mine(func(r *http.Request) { r.Host = "evil.example:40123" }), http.StatusMisdirectedRequest},
		"rebinding, for the page": {http.MethodGet, "/",
			func(r *http.Request) { r.Host = "evil.example:40123" }, http.StatusMisdirectedRequest},
		"a name without the port": {http.MethodGet, "/api/kinds",
			mine(func(r *http.Request) { r.Host = "127.0.0.1" }), http.StatusMisdirectedRequest},
		"another loopback address": {http.MethodGet, "/api/kinds",
			mine(func(r *http.Request) { r.Host = "127.0.0.2:40123" }), http.StatusMisdirectedRequest},
		"a form of another page": {http.MethodPost, "/api/approve", mine(func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Del("Authorization")
		}), http.StatusForbidden},
		"a form of another port": {http.MethodPost, "/api/approve",
			mine(func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:8080") }), http.StatusForbidden},
		"a form without an origin": {http.MethodPost, "/api/approve",
			mine(func(r *http.Request) { r.Header.Del("Origin") }), http.StatusForbidden},
		"a form of an opaque origin": {http.MethodPost, "/api/approve",
			mine(func(r *http.Request) { r.Header.Set("Origin", "null") }), http.StatusForbidden},
		"an image of another page": {http.MethodGet, "/api/kinds", mine(func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Del("Authorization")
		}), http.StatusUnauthorized},
		"a stream of another page": {http.MethodGet, "/api/events", mine(func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}), http.StatusForbidden},
		"a stream of another port": {http.MethodGet, "/api/events", mine(func(r *http.Request) {
			r.Header.Del("Origin")
			r.Header.Set("Sec-Fetch-Site", "same-site")
		}), http.StatusForbidden},
		"a preflight request": {http.MethodOptions, "/api/approve", mine(func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Del("Authorization")
		}), http.StatusForbidden},
		"a change of a file": {http.MethodPost, "/index.html", mine(func(*http.Request) {}), http.StatusMethodNotAllowed},
	} {
		w := ask(g, test.method, test.path, test.change)
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d", name, w.Code, test.want)
		}
		if len(w.Result().Cookies()) > 0 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: the answer has %v", name, w.Header())
		}
	}
}

// TestHeaders: every answer has the policy, also one that refuses.
func TestHeaders(t *testing.T) {
	g := NewGuard(port)
	for _, path := range []string{"/", "/api/kinds", "/session"} {
		w := ask(g, http.MethodGet, path, nil)
		for key, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := w.Header().Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", path, key, got, want)
			}
		}
	}
	for _, unsafe := range []string{"unsafe-inline", "unsafe-eval", "*", "http:"} {
		if strings.Contains(policy, unsafe) {
			t.Errorf("the policy has %s", unsafe)
		}
	}
}
