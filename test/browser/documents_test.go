package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestDocuments: the pages of the site and the playground are no wider than a phone, a
// tablet and a laptop; axe finds no serious fault in what is written, in either theme; their
// search finds; and they ask their own server alone. dist/site is made by make playground
// site.
func TestDocuments(t *testing.T) {
	t.Parallel()
	browser := start(t)
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	dist := filepath.Join(root, "dist", "site")
	if _, err := os.Stat(filepath.Join(dist, "playground", "app.js")); err != nil {
		t.Skip("there is no dist/site with the playground: run make playground site")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(server.Close)
	p := tab(t, browser)
	script := axe(t, root)
	for name, looked := range map[string]bool{"": true, "tutorial.html": true, "tools.html": false, "ui.html": false, "kinds/": true,
		"kinds/milvuses.zilliz.com.html": false, "neighbours/kro.html": false, "playground/": true} {
		p.navigate(server.URL + "/" + name)
		p.wait("it is there", `document.querySelector('#app')?.__vue_app__ || document.querySelector('#files button') && document.querySelector('#starts option')`)
		for _, width := range []int64{1440, 1024, 390} {
			p.do(chromedp.EmulateViewport(width, 900))
			at := fmt.Sprintf("/%s at %d px", name, width)
			if wider := must[int](p, "document.documentElement.scrollWidth - innerWidth"); wider > 0 {
				t.Errorf("%s: %d px wider than the window", at, wider)
			}
			if cut := must[[]string](p, `[...document.querySelectorAll('header a, header button, header select')].filter((e) =>
				e.getClientRects().length > 0 && e.getBoundingClientRect().right > innerWidth).map((e) => e.textContent)`); len(cut) > 0 {
				t.Errorf("%s: cut off: %q", at, cut)
			}
		}
		if !looked {
			continue
		}
		must[any](p, script)
		for _, theme := range []string{"dark", "light"} {
			p.theme(theme)
			p.wait("the site is "+theme, `!document.querySelector('.VPNav') || document.documentElement.classList.contains('dark') === `+strconv.FormatBool(theme == "dark"))
			for _, f := range p.faults() {
				t.Errorf("/%s, %s: %s: %s: %s", name, theme, f.Impact, f.Help, f.Nodes)
			}
		}
	}
	p.navigate(server.URL + "/")
	p.do(chromedp.EmulateViewport(1440, 900))
	p.wait("there is a search", `document.querySelector('#app')?.__vue_app__ && document.querySelector('.DocSearch-Button')`)
	must[any](p, `document.querySelector('.DocSearch-Button').click()`)
	p.wait("the search opens", `document.querySelector('#localsearch-input')`)
	p.do(chromedp.SendKeys("#localsearch-input", "owner reference"))
	p.wait("it finds", `document.querySelector('.VPLocalSearchBox .result')`)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.asked {
		if !strings.HasPrefix(url, server.URL+"/") && !strings.HasPrefix(url, "blob:"+server.URL) && !strings.HasPrefix(url, "data:") {
			t.Errorf("a page asks %s", url)
		}
	}
	if len(p.wrong) > 0 {
		t.Errorf("the pages: %s", p.wrong)
	}
}
