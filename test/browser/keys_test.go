package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// press presses keys, one after the other. What a key writes comes with its being pressed,
// so that the page can prevent it.
func (p *page) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		events := kb.Encode([]rune(key)[0])
		down := *events[0]
		if events[1].Type == kb.KeyChar {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		call(p, input.DispatchKeyEvent, down)
		call(p, input.DispatchKeyEvent, *events[len(events)-1])
	}
}

// focused is the text of what has the focus, and checks that it can be seen where that is.
func (p *page) focused() string {
	p.Helper()
	got := must[struct {
		Text, Seen string
	}](p, `(() => {
		const e = document.activeElement
		const style = getComputedStyle(e)
		const seen = e === document.body || e.tagName === 'MAIN' || style.outlineStyle !== 'none' ? '' : e.outerHTML.slice(0, 200)
		const text = e.cloneNode(true)
		for (const hidden of text.querySelectorAll('[aria-hidden]')) hidden.remove()
		return { Text: (e.getAttribute('aria-label') || text.textContent || '').trim(), Seen: seen }
	})()`)
	if got.Seen != "" {
		p.Errorf("nobody sees that this has the focus: %s", got.Seen)
	}
	return got.Text
}

// tabs presses Tab until something whose text begins so has the focus.
func (p *page) tabs(to string) {
	p.Helper()
	var been []string
	for range 80 {
		p.press(kb.Tab)
		text := p.focused()
		if strings.HasPrefix(text, to) {
			return
		}
		been = append(been, text)
	}
	p.Fatalf("Tab does not come to %q, but to %q", to, been)
}

// hash waits until the fragment of the address begins so.
func (p *page) hash(begin string) {
	p.Helper()
	p.wait("the address has "+begin, "location.hash.startsWith("+quoted(begin)+")")
}

// TestKeys: everything that a person does with a mouse can be done by keys, and where the
// focus is can be seen.
func TestKeys(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one"), "set.yaml": fmt.Sprintf(set, "")})
	s.start()
	for _, name := range []string{"a", "b", "c"} {
		s.web(name, "text: hello")
		s.is(name, "Ready", "True")
	}
	p := open(t, browser, ui(t))

	p.press("?")
	p.shows("Page Up, Page Down, Home, End")
	p.press(kb.Escape)
	p.wait("no dialog is open", `!document.querySelector('dialog')`)

	p.press("g", "r")
	p.hash("#/resources")
	p.press("/")
	p.wait("the search has the focus", `document.activeElement.id === 'search'`)
	p.press(strings.Split(s.namespace, "")...)
	p.shows("3 of ")
	p.press(kb.ArrowDown, "j", "j", "k")
	p.wait("the second is chosen", `document.querySelector('.row.at .c-name')?.innerText === 'b'`)
	p.press(kb.End)
	p.wait("the last is chosen", `document.querySelector('.row.at .c-name')?.innerText === 'c'`)
	p.press(kb.Home, kb.Enter)
	p.hash(s.route("a", ""))

	p.shows("a-settings")
	p.tabs("events")
	p.press(kb.Enter)
	p.hash(s.route("a", "?tab=events"))
	p.tabs("explain")
	p.press(kb.Enter)
	p.shows("map.yaml")
	p.visit(s.route("a", ""))
	p.shows("a-settings")
	p.tabs("Web")
	p.press(kb.ArrowDown)
	if text := p.focused(); !strings.HasPrefix(text, "ConfigMap") && !strings.HasPrefix(text, "StatefulSet") {
		t.Errorf("below the resource is %q", text)
	}
	p.press(kb.Enter)
	p.hash(s.route("a", "?child="))
	p.shows("What is live is what is desired.")

	p.visit(s.route("a", ""))
	p.wait("the child is closed", `!document.querySelector('.object')`)
	p.tabs("Skip to the content") // round to the top
	p.press(kb.Enter)
	p.tabs("Pause")
	p.press(kb.Enter)
	p.shows("kubectl annotate")
	p.tabs("Pause")
	p.press(kb.Enter)
	p.wait("it is done", `document.querySelector('dialog[open] .did')`)
	p.press(kb.Escape)
	p.wait("the dialog is closed", `!document.querySelector('dialog')`)
	p.wait("a is paused", `document.querySelector('main .title > .state.is-paused')`)
	if text := p.focused(); text != "Resume" && text != "Pause" {
		t.Errorf("after the dialog the focus is on %q", text)
	}
	p.press(kb.Escape)
	p.hash("#/resources?q=")
	p.wait("the resource is still chosen", `document.querySelector('.row.at .c-name')?.innerText === 'a'`)
	p.press("j")
	p.wait("keys go on from it", `document.querySelector('.row.at .c-name')?.innerText === 'b'`)
	p.press(kb.Enter)
	p.hash(s.route("b", ""))
	p.shows("b-settings")
	p.press("j")
	if text := p.focused(); !strings.HasPrefix(text, "Web") {
		t.Errorf("the first of the tree is %q", text)
	}
	p.press("g", "o")
	p.hash("#/")
	p.press("g", "l")
	p.hash("#/rollouts")
	p.shows("Revisions")
	p.tabs(s.kind())
	p.press(kb.Enter)
	p.hash("#/rollouts/")
	if text := p.focused(); !strings.HasPrefix(text, s.kind()) {
		t.Errorf("after a kind was chosen the focus is on %q", text)
	}
}
