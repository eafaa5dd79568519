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

// policy is the Content-Security-Policy: what the server itself sends, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// A Guard lets only the browser of the person who started the server use it.
type Guard struct {
	// names are what the header Host may be.
	names []string
	// session is the secret that the page's script sends with each request, as a bearer
	// token (RFC 6750). It is no cookie: browsers send those to every port of a host, and
	// so to any other server on this machine. A page of another origin cannot set the header
	// without a preflight request, which is always refused.
	session string

	mu sync.Mutex
	// token is what the address carries: it is exchanged for the session, once. It is ""
	// after that.
	token string
}

// NewGuard makes the guard of a server that listens on a port of the loopback interface.
func NewGuard(port int) *Guard {
	g := &Guard{session: newSecret(), token: newSecret()}
	for _, name := range []string{"127.0.0.1", "[::1]", "localhost"} {
		g.names = append(g.names, fmt.Sprintf("%s:%d", name, port))
	}
	return g
}

// newSecret returns 256 random bits.
func newSecret() string {
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
			g.beginSession(w, r)
			return
		}
		if !equalSecrets(r.Header.Get("Authorization"), "Bearer "+g.session) {
			http.Error(w, "the session is unknown: run jacquard ui again, and open the address that it prints", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// equalSecrets compares in constant time.
func equalSecrets(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// ownPage reports whether nothing says that a request is from another page. Browsers send
// the origin of requests that may change something, and Sec-Fetch-Site with the others.
func (g *Guard) ownPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin, told := r.Header["Origin"]
	if !told {
		return r.Method == http.MethodGet
	}
	return len(origin) == 1 && origin[0] == "http://"+r.Host
}

// beginSession answers the token with the secret of the session, once.
func (g *Guard) beginSession(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "a session begins by POST", http.StatusMethodNotAllowed)
		return
	}
	token, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256))
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil || g.token == "" || !equalSecrets(string(token), g.token) {
		http.Error(w, "the address was opened before, or is not the one that jacquard ui printed: run it again", http.StatusUnauthorized)
		return
	}
	g.token = ""
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, g.session) // the page may be gone
}
