package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// smoke is the test that make test runs too; all others are a part of make nightly.
const smoke = "TestLive"

// start starts a Chromium of the test's own. All names of the domain example are this
// machine, and no other name is known.
func start(t *testing.T) context.Context {
	t.Helper()
	if t.Name() != smoke {
		kit.Nightly(t, "browser")
	}
	if chromium == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no Chromium: install chromium")
		}
		t.Skip("there is no Chromium: install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.WindowSize(1440, 900),
		chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"))
	if os.Geteuid() == 0 { // Chromium refuses to sandbox root's pages
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal("starting Chromium: ", err)
	}
	return ctx
}

// A page is a tab of a browser, and what happened in it.
type page struct {
	*testing.T
	ctx context.Context
	// base is the origin of jacquard ui.
	base string

	mu sync.Mutex
	// asked are the URLs of all requests; answers have their status, headers and body.
	asked   []string
	answers map[network.RequestID]*answer
	// wrong is what a policy stopped, and what threw.
	wrong []string
	// reads counts the bodies that are being read.
	reads int
}

// An answer is what a server said.
type answer struct {
	url     string
	status  int64
	headers network.Headers
	body    string
}

// tab opens an empty tab; with chromedp.WithNewBrowserContext, that of another person.
func tab(t *testing.T, browser context.Context, options ...chromedp.ContextOption) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, options...)
	p := &page{T: t, ctx: ctx, answers: map[network.RequestID]*answer{}}
	t.Cleanup(cancel)
	if err := chromedp.Listen(ctx, p.heard); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, audits.Enable, cdp.Empty{})
	return p
}

// open opens the page of jacquard ui. At the end of the test, nothing must have gone wrong
// in it, and it must have asked its own server alone.
func open(t *testing.T, browser context.Context, address string) *page {
	t.Helper()
	p := tab(t, browser)
	p.base, _, _ = strings.Cut(address, "/#")
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, text := range p.wrong {
			t.Errorf("the page: %s", text)
		}
		for _, url := range p.asked {
			if !strings.HasPrefix(url, p.base+"/") {
				t.Errorf("the page asks %s", url)
			}
		}
	})
	p.navigate(address)
	p.wait("the page follows the cluster", `document.querySelector('.about') && !document.querySelector('.link')`)
	return p
}

// heard takes up an event of the browser.
func (p *page) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.asked = append(p.asked, e.Request.URL)
	case *network.EventResponseReceived:
		p.answers[e.RequestID] = &answer{url: e.Response.URL, status: e.Response.Status, headers: e.Response.Headers}
	case *network.EventLoadingFinished:
		if a := p.answers[e.RequestID]; a != nil && strings.HasSuffix(a.url, ".bin") { // it is large
			return
		}
		p.reads++
		go p.read(e.RequestID)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.wrong = append(p.wrong, text)
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			text, err := json.Marshal(e.Issue.Details.ContentSecurityPolicyIssueDetails)
			p.wrong = append(p.wrong, fmt.Sprintf("its policy stopped %s %v", text, err))
		}
	}
}

// read keeps the body of an answer; of one that the browser forgot, there is none.
func (p *page) read(id network.RequestID) {
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	body, err := chromedp.Call(ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: id})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads--
	if a := p.answers[id]; a != nil && err == nil {
		a.body = string(body.Body)
	}
}

// heardOf are the answers to requests whose URL begins so.
func (p *page) heardOf(prefix string) []answer {
	p.Helper()
	kit.Eventually(p, "what was answered is read", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.reads > 0 {
			return fmt.Errorf("%d answers are not", p.reads)
		}
		return nil
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []answer
	for _, a := range p.answers {
		if strings.HasPrefix(a.url, prefix) {
			all = append(all, *a)
		}
	}
	slices.SortFunc(all, func(a, b answer) int { return strings.Compare(a.url, b.url) })
	return all
}

// call sends the tab a command of the browser's protocol.
func call[P, R any](p *page, command cdp.Command[P, R], with P) R {
	p.Helper()
	out, err := chromedp.Call(p.ctx, command, with)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

// do runs steps, each of which the browser does at once.
func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

func (p *page) navigate(url string) {
	p.Helper()
	p.do(chromedp.Navigate(url))
}

// eval evaluates an expression in the page; a promise is waited for.
func eval[T any](p *page, script string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// must is eval of what must not fail.
func must[T any](p *page, script string) T {
	p.Helper()
	v, err := eval[T](p, script)
	if err != nil {
		p.Fatalf("%s: %v", script, err)
	}
	return v
}

// quoted is a text as JavaScript.
func quoted(text any) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// text is what a person sees.
func (p *page) text() string {
	text, err := eval[string](p, `document.body.innerText`)
	if err != nil {
		return err.Error()
	}
	return text
}

// wait waits until an expression is true.
func (p *page) wait(what, script string) {
	p.Helper()
	kit.Eventually(p, what, func() error {
		is, err := eval[bool](p, "Boolean("+script+")")
		if err == nil && !is {
			err = fmt.Errorf("the page shows:\n%s", p.text())
		}
		return err
	})
}

// shows waits until a person sees all of the texts.
func (p *page) shows(texts ...string) {
	p.Helper()
	kit.Eventually(p, fmt.Sprintf("the page shows %q", texts), func() error {
		seen := p.text()
		for _, text := range texts {
			if !strings.Contains(seen, text) {
				return fmt.Errorf("there is no %q in:\n%s", text, seen)
			}
		}
		return nil
	})
}

// hides waits until a person does not see a text.
func (p *page) hides(text string) {
	p.Helper()
	kit.Eventually(p, fmt.Sprintf("the page does not show %q", text), func() error {
		if seen := p.text(); strings.Contains(seen, text) {
			return errors.New(seen)
		}
		return nil
	})
}

// visit goes to a view without loading the page again.
func (p *page) visit(hash string) {
	p.Helper()
	must[any](p, "location.hash = "+quoted(hash))
}

// A spot is where something is on the screen.
type spot struct{ X, Y float64 }

// click clicks with the mouse in the middle of the one element of a selector that has this
// text and is not covered.
func (p *page) click(selector, text string) {
	p.Helper()
	var at *spot
	kit.Eventually(p, fmt.Sprintf("%s %q can be clicked", selector, text), func() (err error) {
		at, err = eval[*spot](p, fmt.Sprintf(`(async () => {
			const all = [...document.querySelectorAll(%s)].filter((e) => !e.disabled && e.innerText.trim() === %s)
			if (all.length === 0) return null
			all[0].scrollIntoView({ block: 'nearest' })
			const place = () => {
				const r = all[0].getBoundingClientRect()
				return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }
			}
			const before = place()
			for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame)
			const at = place()
			if (at.X !== before.X || at.Y !== before.Y) return null // it moves
			const top = document.elementFromPoint(at.X, at.Y)
			return top && (all[0].contains(top) || top.contains(all[0])) ? at : null
		})()`, quoted(selector), quoted(text)))
		if err == nil && at == nil {
			err = fmt.Errorf("the page shows:\n%s", p.text())
		}
		return err
	})
	p.do(chromedp.MouseClickXY(at.X, at.Y))
}

// order clicks a button, looks at what the dialog says, and confirms. Parts are of the
// command that is shown.
func (p *page) order(button string, parts ...string) {
	p.Helper()
	p.click("main button", button)
	p.shows(append([]string{"context", "devcluster", "cluster", cluster.Config.Host}, parts...)...)
	p.click("dialog[open] button.primary", button)
	p.wait("it is done: "+button, `document.querySelector('dialog[open] .did')`)
	p.click("dialog[open] button", "Close")
	p.wait("the dialog is closed", `!document.querySelector('dialog')`)
}
