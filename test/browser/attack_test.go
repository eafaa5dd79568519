package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// evil serves an empty page to attack from, and returns its port. A cookie that the browser
// sends to it would be one of another server of this machine.
func evil(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie := r.Header.Get("Cookie"); cookie != "" {
			t.Errorf("the browser sends %s to another server of this machine", cookie)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>evil</title><body>evil")
	}))
	t.Cleanup(s.Close)
	return s.URL[strings.LastIndex(s.URL, ":")+1:]
}

// attacks is a function that tries all that a page may try on another origin, and returns
// what it could read. BASE is that origin, ORDER what is to be done there.
const attacks = `(async () => {
	const [base, order] = [BASE, ORDER]
	const got = []
	const read = async (what, init) => {
		try {
			const text = await (await fetch(base + what, init)).text()
			if (text) got.push(what + ': ' + text.slice(0, 100))
		} catch { /* as it should be */ }
	}
	for (const path of ['/', '/app.js', '/api/about', '/api/health', '/api/rows']) {
		await read(path)
		await read(path, { credentials: 'include' })
		await read(path, { credentials: 'include', headers: { Authorization: 'Bearer x' } })
		await read(path, { credentials: 'include', mode: 'no-cors' })
	}
	await read('/api/do', { method: 'POST', credentials: 'include', body: order })
	await read('/api/do', { method: 'POST', credentials: 'include', body: order, headers: { Authorization: 'Bearer x' } })
	await read('/api/do', { method: 'POST', credentials: 'include', body: order, mode: 'no-cors' })
	navigator.sendBeacon(base + '/api/do', order)
	const loads = (name, to) => new Promise((done) => {
		const e = document.createElement(name)
		e.onload = () => done(got.push(name + ' loads ' + to))
		e.onerror = done
		if (name === 'link') Object.assign(e, { rel: 'stylesheet', href: base + to })
		else e.src = base + to
		document.body.append(e)
	})
	await loads('script', '/app.js')
	await loads('script', '/api/about')
	await loads('link', '/app.css')
	await loads('img', '/api/about')
	const frame = document.createElement('iframe')
	frame.name = 'form'
	document.body.append(frame)
	const form = document.createElement('form')
	Object.assign(form, { method: 'POST', action: base + '/api/do', enctype: 'text/plain', target: 'form' })
	const input = document.createElement('input')
	Object.assign(input, { type: 'hidden', name: order.slice(0, -1) + ',"x":"', value: '"}' })
	form.append(input)
	document.body.append(form)
	await new Promise((done) => {
		frame.onload = done
		form.submit()
	})
	const shown = document.createElement('iframe')
	await new Promise((done) => {
		shown.onload = done
		shown.src = base + '/'
		document.body.append(shown)
	})
	const opened = open(base + '/')
	for (let i = 0; i < 200 && !opened.closed; i++) await new Promise((done) => setTimeout(done, 50))
	if (!opened.closed) got.push('it has a handle on a window of it')
	return got
})()`

// TestOtherPages: a page of another origin, also of the same machine, reads nothing, does
// nothing and frames nothing, though the browser has a session.
func TestOtherPages(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one")})
	s.start()
	s.web("a", "text: hello")
	s.is("a", "Ready", "True")
	own := open(t, browser, ui(t))
	order := s.planned(own, "pause", "a")
	port := evil(t)
	for _, origin := range []string{"http://127.0.0.1:" + port, "http://localhost:" + port, "http://evil.example:" + port} {
		t.Run(origin, func(t *testing.T) {
			p := tab(t, browser)
			p.navigate(origin)
			got := must[[]string](p, strings.NewReplacer("BASE", quoted(own.base), "ORDER", quoted(order)).Replace(attacks))
			for _, what := range got {
				t.Errorf("%s: %s", origin, what)
			}
			tried := 0
			for _, a := range p.heardOf(own.base + "/api/") {
				if tried++; a.status != http.StatusForbidden {
					t.Errorf("%s: %s answers %d", origin, a.url, a.status)
				}
			}
			if tried < 5 {
				t.Errorf("%s: only %d attacks reached the server", origin, tried)
			}
			p.framesNothing(own.base)
		})
	}
	if s.paused("a") {
		t.Error("another page did something")
	}
	// The order is one that the page itself may give.
	got := must[int](own, `fetch('/api/do', { method: 'POST', body: `+quoted(order)+`, headers: { Authorization: 'Bearer ' + localStorage.getItem('jacquard.session') } }).then((a) => a.status)`)
	if got != http.StatusOK || !s.paused("a") {
		t.Errorf("the page itself: %d", got)
	}
}

// planned is an order with the digest of its plan.
func (s *site) planned(p *page, action, name string) string {
	s.Helper()
	order := map[string]string{"action": action, "kind": s.kind(), "namespace": s.namespace, "name": name}
	ask := `fetch('/api/plan', { method: 'POST', body: ` + quoted(quoted(order)) + `, headers: { Authorization: 'Bearer ' + localStorage.getItem('jacquard.session') } }).then((a) => a.json())`
	order["digest"] = must[struct{ Digest string }](p, ask).Digest
	if order["digest"] == "" {
		s.Fatal("the plan has no digest")
	}
	return quoted(order)
}

func (s *site) paused(name string) bool {
	s.Helper()
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o.GetAnnotations()[api.AnnotationPaused] == "true"
}

// framesNothing checks that no frame of the page has the origin.
func (p *page) framesNothing(origin string) {
	p.Helper()
	for _, f := range call(p, cdppage.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
		if strings.HasPrefix(f.Frame.URL, origin) {
			p.Errorf("it frames %s", f.Frame.URL)
		}
	}
}

// TestRebinding: a name that is made to mean this machine gets neither the page nor an
// answer.
func TestRebinding(t *testing.T) {
	t.Parallel()
	browser := start(t)
	own := open(t, browser, ui(t))
	port := own.base[strings.LastIndex(own.base, ":")+1:]
	p := tab(t, browser)
	p.navigate("http://rebound.example:" + port + "/")
	p.shows("this server has another name")
	for _, path := range []string{"/api/about", "/api/rows", "/app.js"} {
		if got := must[int](p, `fetch(`+quoted(path)+`, { headers: { Authorization: 'Bearer ' + localStorage.getItem('jacquard.session') } }).then((a) => a.status)`); got != http.StatusMisdirectedRequest {
			t.Errorf("%s answers %d", path, got)
		}
	}
	p.navigate("http://localhost:" + port + "/") // is this server's, and has no session
	p.shows("the session is unknown: run jacquard ui again")
}

// TestOtherUsers: who may connect to the port, and does not have the address, gets the
// files of the page and nothing else; the address is good once.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	browser := start(t)
	address := ui(t)
	own := open(t, browser, address)

	other := tab(t, browser, chromedp.WithNewBrowserContext())
	other.navigate(own.base + "/")
	other.shows("the session is unknown: run jacquard ui again")
	again := tab(t, browser, chromedp.WithNewBrowserContext())
	again.navigate(address)
	again.shows("The session cannot begin", "the address was opened before")

	for _, secret := range []string{"", "Bearer ", "Bearer x", "Bearer " + strings.Repeat("A", 43)} {
		for _, path := range []string{"/api/about", "/api/rows", "/api/health", "/api/kinds/x/history", "/api/resources/x/-/y/object", "/api/none"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, own.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", secret)
			r.Header.Set("Cookie", secret)
			if code, text := fetched(t, r); code != http.StatusUnauthorized {
				t.Errorf("%s with %q: %d %s", path, secret, code, text)
			}
		}
	}
	if got := must[int](own, `fetch('/api/about', { headers: { Authorization: 'Bearer ' + localStorage.getItem('jacquard.session') } }).then((a) => a.status)`); got != http.StatusOK {
		t.Errorf("the one whose session it is: %d", got)
	}
}

// TestSessions: a session is that of a browser, in all its tabs. A secret of an earlier process on
// the same port is dropped.
func TestSessions(t *testing.T) {
	t.Parallel()
	browser := start(t)
	address, interrupt := interruptible(t)
	own := open(t, browser, address)
	other := tab(t, browser)
	other.navigate(own.base + "/#/resources")
	other.shows("Resources", "of")
	again := tab(t, browser)
	again.navigate(address) // was opened before, by this browser
	again.shows("Kinds")
	first := must[string](own, "localStorage.getItem('jacquard.session')")

	interrupt()
	next := ui(t, "--port", own.base[strings.LastIndex(own.base, ":")+1:])
	other.wait("the secret of the earlier process is dropped", "localStorage.getItem('jacquard.session') === null")
	other.shows("There is no session", "run jacquard ui again")
	again.navigate("about:blank")
	again.navigate(next)
	again.shows("Kinds")
	if second := must[string](again, "localStorage.getItem('jacquard.session')"); second == "" || second == first {
		t.Errorf("after %q the session is %q", first, second)
	}
}

func fetched(t *testing.T, r *http.Request) (code int, text string) {
	t.Helper()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	all, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(all)
}

const secret = `apiVersion: v1
kind: Secret
metadata: {name: {{ .metadata.name }}-login}
stringData: {token: tok-of-the-folder, password: {{ stable "secret" "password" 24 }}}
`

// TestSecret: nothing of the data of a Secret that is a child comes to the browser, nor of
// what somebody made of it.
func TestSecret(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one"), "secret.yaml": secret})
	s.start()
	s.web("a", "text: hello")
	s.is("a", "Ready", "True")
	values := s.values("a-login")
	p := open(t, browser, ui(t))
	s.look(p, "v1/Secret/"+s.namespace+"/a-login", "a-login")
	p.visit(s.route("a", ""))
	p.order("Pause")
	s.apply("{apiVersion: v1, kind: Secret, metadata: {name: a-login}, data: {token: ZHJpZnRlZC13b3Jk, more: YW5vdGhlci13b3Jk}}")
	values = append(values, s.values("a-login")...)
	p.visit(s.route("a", "?child="+"v1/Secret/"+s.namespace+"/a-login"))
	p.shows("Secret a-login", "-  token: ", "+  token: ")
	for _, view := range []string{"live", "desired", "diff"} {
		p.click(".switch button", view)
		p.wait(view+" is shown", `document.querySelector('.switch [aria-pressed=true]').innerText === `+quoted(view))
		s.hides(p, values)
	}
	s.look(p, "v1/Secret/"+s.namespace+"/a-login", "a-login")
	s.hides(p, values)
	of, about := 0, 0
	for _, a := range append(p.heardOf(p.base), answer{url: "/api/rows", body: p.rows()}) {
		of++
		if strings.Contains(a.body, "kind: Secret") && strings.Contains(a.body, "password:") {
			about++
		}
		for _, value := range values {
			if strings.Contains(a.body, value) {
				t.Errorf("%s has the value %q of the Secret", a.url, value)
			}
		}
	}
	if of < 10 || about < 2 {
		t.Errorf("%d answers were seen, %d of them about the Secret", of, about)
	}
}

// values are those of a Secret, as they are stored and as they are meant.
func (s *site) values(name string) []string {
	s.Helper()
	o, err := cluster.Get("v1", "Secret", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	stored, _ := o.Object["data"].(map[string]any)
	text, err := json.Marshal(stored)
	if err != nil {
		s.Fatal(err)
	}
	var meant map[string][]byte
	if err := json.Unmarshal(text, &meant); err != nil || len(meant) < 2 {
		s.Fatal(meant, err)
	}
	var all []string
	for key, value := range meant {
		all = append(all, string(value), stored[key].(string))
	}
	return all
}

func (s *site) hides(p *page, values []string) {
	s.Helper()
	html := must[string](p, "document.documentElement.outerHTML")
	for _, value := range values {
		if strings.Contains(html, value) {
			s.Errorf("the page has the value %q of the Secret", value)
		}
	}
}

// rows is what the stream says first.
func (p *page) rows() string {
	p.Helper()
	return must[string](p, `(async () => {
		const stop = new AbortController()
		const answer = await fetch('/api/rows', { headers: { Authorization: 'Bearer ' + localStorage.getItem('jacquard.session') }, signal: stop.signal })
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
		let text = ''
		while (!text.includes('"ready":true')) text += (await reader.read()).value
		stop.abort()
		return text
	})()`)
}

// A view is one of the page: its fragment, and what is shown once it is there.
type view struct {
	name, hash string
	shows      []string
}

// views are all of them; child names a child of resource a as the page does.
func (s *site) views(child, name string) []view {
	return []view{
		{"overview", "#/", []string{"Resources", "Kinds", s.kind(), s.home + "/jacquard"}},
		{"resources", "#/resources?kind=" + s.kind(), []string{"of", s.namespace}},
		{"tree", s.route("a", ""), []string{"Ready: ", name}},
		{"child", s.route("a", "?child="+child), []string{"Ready: ", "Close"}},
		{"events", s.route("a", "?tab=events"), []string{"Ready: "}},
		{"explain", s.route("a", "?tab=explain"), []string{".yaml"}},
		{"object", s.route("a", "?tab=object"), []string{"kind: Web"}},
		{"rollouts", "#/rollouts/" + s.kind(), []string{"Revisions"}},
	}
}

// look looks at all views.
func (s *site) look(p *page, child, name string) {
	s.Helper()
	for _, v := range s.views(child, name) {
		p.visit(v.hash)
		p.shows(v.shows...)
		p.settles()
	}
}

// settles waits until nothing is being read.
func (p *page) settles() {
	p.Helper()
	p.wait("nothing is being read", `!document.querySelector('.busy')`)
}

const (
	html  = `<img src=x onerror="window.hacked='by an image'"><script>window.hacked='by a script'</script>`
	bidi  = "a\u202egnp.exe"
	shown = `a\u202egnp.exe`
)

// TestHostile: what comes from the cluster is text, whatever it looks like. Names may have
// anything in them where Kubernetes allows it: those of Roles, of contexts, of field
// managers.
func TestHostile(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{
		"map.yaml":  fmt.Sprintf(settings, "one"),
		"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: " + quoted(element) + "}\nrules: []\n",
		"z.yaml":    "{{- if .spec.bad }}{{ fail .spec.bad }}{{ end }}\n",
	})
	s.start()
	s.web("a", "text: hello")
	s.is("a", "Ready", "True")
	s.apply(`{apiVersion: GROUP/v1, kind: Web, metadata: {name: a, annotations: {note: ` + quoted(html) + `}}, spec: {text: hello, bad: ` +
		quoted(html+bidi) + `}}`)
	s.is("a", "Ready", "False")
	s.event(html + bidi)

	p := open(t, browser, ui(t, "--kubeconfig", s.config(element)))
	s.look(p, "v1/ConfigMap/"+s.namespace+"/a-settings", element)
	for _, v := range s.views("v1/ConfigMap/"+s.namespace+"/a-settings", element) {
		p.visit(v.hash)
		p.shows(v.shows...)
		p.settles()
		if got := must[[]string](p, `[...document.querySelectorAll('img, iframe, object, embed, base, style, script:not([src="app.js"])')].map((e) => e.outerHTML)`); len(got) > 0 {
			t.Errorf("%s: text became elements: %q", v.name, got)
		}
		if slices.Contains([]string{"resources", "tree", "events", "object"}, v.name) {
			p.shows(html)
		}
		if slices.Contains([]string{"resources", "tree", "events"}, v.name) {
			p.shows(shown)
		}
		if strings.Contains(must[string](p, "document.body.textContent"), "\u202e") {
			t.Errorf("%s: text is turned around", v.name)
		}
	}
	p.shows(element) // the context, at the top
	p.visit(s.route("a", ""))
	p.click("main button", "Pause")
	p.shows("context", element, "--context '"+element+"'")
	if got := must[any](p, "window.hacked ?? null"); got != nil {
		t.Errorf("text was run %v", got)
	}
	s.policed(p)
}

// element is a name of a Role that would be an element.
const element = `<img src=x onerror=hacked=1>`

// event makes an Event about resource a.
func (s *site) event(message string) {
	s.Helper()
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a")
	if err != nil {
		s.Fatal(err)
	}
	s.apply(fmt.Sprintf(`{apiVersion: v1, kind: Event, metadata: {name: hostile}, involvedObject: {apiVersion: GROUP/v1, kind: Web, name: a, namespace: NS, uid: %s},
		type: Warning, reason: %s, message: %s, lastTimestamp: "2026-01-01T00:00:00Z"}`, o.GetUID(), quoted(html), quoted(message)))
}

// policed checks that the page has a policy, and that it would be seen if text became
// HTML or something else was loaded.
func (s *site) policed(p *page) {
	s.Helper()
	for _, a := range p.heardOf(p.base + "/") {
		policy, _ := a.headers["Content-Security-Policy"].(string)
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'",
			"require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				s.Errorf("%s: the policy has no %s: %s", a.url, part, policy)
			}
		}
	}
	other := tab(s.T, p.ctx)
	other.navigate(p.base + "/")
	for what, script := range map[string]string{
		"HTML":     `document.body.innerHTML = '<b>'`,
		"an image": `new Image().src = 'http://leak.example/'`,
		"a script": `document.head.append(Object.assign(document.createElement('script'), { textContent: 'window.hacked = 1' }))`,
	} {
		before := other.troubles()
		_, _ = eval[any](other, script+"; null") // the first throws
		kit.Eventually(s, "it is seen that "+what+" is refused", func() error {
			if other.troubles() == before {
				return context.DeadlineExceeded
			}
			return nil
		})
	}
	if got := must[any](other, "window.hacked ?? null"); got != nil {
		s.Error("a script in the page was run")
	}
}

func (p *page) troubles() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.wrong)
}
