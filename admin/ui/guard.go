package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// header is on every request that the page's script sends. A page of another origin
// cannot set it without a preflight request, which is never answered as it wants.
const header = "X-Jacquard"

// policy is the Content-Security-Policy: what the server itself sends, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// A Guard lets only the browser of the person who started the server use it.
type Guard struct {
	// names are what the header Host may be.
	names   []string
	cookie  string
	session string

	mu sync.Mutex
	// token is "" once it was used.
	token string
}

// NewGuard makes the guard of a server that listens on a port of the loopback interface.
func NewGuard(port int) *Guard {
	g := &Guard{cookie: fmt.Sprintf("jacquard-%d", port), session: secret(), token: secret()}
	for _, name := range []string{"127.0.0.1", "[::1]", "localhost"} {
		g.names = append(g.names, fmt.Sprintf("%s:%d", name, port))
	}
	return g
}

// secret is 256 random bits.
func secret() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: see crypto/rand
	return base64.RawURLEncoding.EncodeToString(bits)
}

// URL is the address to open. Its fragment, which browsers do not send, has the token.
func (g *Guard) URL() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "http://" + g.names[0] + "/#" + g.token
}

// Wrap guards handlers: page serves the files of the page, which hold nothing of the
// cluster, and inner what only the person may see and do.
func (g *Guard) Wrap(page, inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.Contains(g.names, r.Host) {
			http.Error(w, "this server has another name: open the address that jacquard ui printed", http.StatusMisdirectedRequest)
			return
		}
		if r.URL.Path != "/session" && !strings.HasPrefix(r.URL.Path, "/api/") {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				http.Error(w, "files are only read", http.StatusMethodNotAllowed)
				return
			}
			page.ServeHTTP(w, r)
			return
		}
		if !g.ownPage(r) {
			http.Error(w, "this request is not from the page of this server", http.StatusForbidden)
			return
		}
		if r.URL.Path == "/session" {
			g.begin(w, r)
			return
		}
		if c, err := r.Cookie(g.cookie); err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.session)) != 1 {
			http.Error(w, "the session is unknown: run jacquard ui again, and open the address that it prints", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// ownPage reports whether the script of this server's page sent a request. Browsers tell
// the origin of requests that may change something, and by Sec-Fetch-Site that of others.
func (g *Guard) ownPage(r *http.Request) bool {
	if r.Header.Get(header) == "" {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin, told := r.Header["Origin"]
	if !told {
		return r.Method == http.MethodGet
	}
	return len(origin) == 1 && origin[0] == "http://"+r.Host
}

// begin gives the cookie for the token, once.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "a session begins by POST", http.StatusMethodNotAllowed)
		return
	}
	token, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256))
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil || g.token == "" || subtle.ConstantTimeCompare(token, []byte(g.token)) != 1 {
		http.Error(w, "the address was opened before, or is not the one that jacquard ui printed: run it again", http.StatusUnauthorized)
		return
	}
	g.token = ""
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}
