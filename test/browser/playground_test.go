package browser

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"

	"github.com/jacquard-operator/jacquard/author/playground"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestPlayground: in a browser, the playground shows what the engine makes of all that there
// is to begin with, and of an injection both sides; it stops what takes too long, and goes
// on; a hostile link does nothing; and its policy lets nothing out.
func TestPlayground(t *testing.T) {
	// It is alone: it takes a core for itself, and its engine has five seconds.
	browser := start(t)
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	dist := filepath.Join(root, "dist", "playground")
	if _, err := os.Stat(filepath.Join(dist, "jacquard.bin")); err != nil {
		t.Skip("there is no dist/playground: run make playground")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(server.Close)
	p := tab(t, browser)
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: "self.confirm = () => localStorage.getItem('agrees') === 'yes'"})
	p.navigate(server.URL + "/")
	const well = `document.querySelector('#state').textContent === 'Lint finds nothing'`
	p.wait("a kind of one's own is rendered", well+` && document.querySelector('#starts').selectedOptions[0].parentNode.label === 'A kind of your own'`)
	starts, err := playground.Starts(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range starts {
		choose := `(() => {
			const select = document.querySelector('#starts')
			select.value = ` + quoted(i) + `
			select.onchange()
			return false
		})()`
		out := playground.Run(t.Context(), one.Input)
		want := out.Objects
		for line := range strings.Lines(out.Waits) {
			want += "\n# " + line
		}
		switch {
		case one.Naive:
			want = "# Jacquard\n" + want
		case want == "":
			want = "Nothing is rendered."
		}
		must[any](p, choose)
		// A machine with much else to do may not be done in five seconds.
		p.wait(one.Name+" is rendered", `/was stopped/.test(document.querySelector('#state').textContent) ? `+choose+
			` : `+well+` && document.querySelector('#output').textContent === `+quoted(want))
	}
	naive := must[string](p, `document.querySelector('#naive').textContent`)
	if !strings.Contains(naive, "\n    privileged: true") && !strings.Contains(naive, "privileged: true\n") {
		t.Errorf("the naive side is\n%s", naive)
	}

	linked := func(input any) string {
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return server.URL + "/#" + base64.RawURLEncoding.EncodeToString(packed.Bytes())
	}
	const file = "templates/pages.example.com/pod.yaml"
	slow := playground.Input{Files: map[string]string{}}
	for name, text := range starts[len(starts)-1].Files {
		slow.Files[name] = text
	}
	good := slow.Files[file]
	slow.Files[file] = good + "{{- range until 3000 }}{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}{{ end }}\n"
	p.navigate(linked(slow))
	p.wait("the link is told", `document.querySelector('#told').textContent.includes('came with a link')`)
	p.wait("it ends", `/finding|was stopped/.test(document.querySelector('#state').textContent)`)
	must[any](p, `(() => {
		const tab = [...document.querySelectorAll('#files button')].find((b) => b.title === `+quoted(file)+`)
		tab.click()
		const text = document.querySelector('#text')
		text.value = `+quoted(good)+`
		text.oninput()
	})()`)
	p.wait("it goes on", well)
	must[any](p, `(() => {
		const text = document.querySelector('#text')
		text.value += '# mine\n'
		text.oninput()
	})()`)
	p.navigate(server.URL + "/")
	p.wait("it is still told that it came with a link", `document.querySelector('#told')?.textContent.includes('came with a link')`)
	p.wait("what was written is there again", `[...document.querySelectorAll('#files button')].some((b) => b.title === `+quoted(file)+`)`)
	must[any](p, `[...document.querySelectorAll('#files button')].find((b) => b.title === `+quoted(file)+`).click()`)
	p.wait("so is the last edit", `document.querySelector('#text').value.endsWith('# mine\n')`)
	p.click("#share", "Copy link")
	p.wait("the link is told", `document.querySelector('#told').textContent.startsWith('The link is in the address')`)
	must[any](p, `location.reload()`)
	p.wait("it is loaded again", `document.querySelector('#told')?.textContent.includes('came with a link')`)
	p.wait("it is rendered", well)
	must[any](p, `(() => {
		[...document.querySelectorAll('#files button')].find((b) => b.title === `+quoted(file)+`).click()
		prompt = () => 'templates/pages.example.com/other.yaml'
		document.querySelector('#move').click()
	})()`)
	p.wait("a file is renamed", `[...document.querySelectorAll('#files button')].map((b) => b.title).includes('templates/pages.example.com/other.yaml')`)
	p.wait("its text stays", `document.querySelector('#text').value.endsWith('# mine\n')`)
	p.click("#save", "Download")
	p.wait("it is downloaded", `document.querySelector('#told').textContent.startsWith('pages.example.com.tar has')`)
	p.click("#told button", "Close")
	p.wait("it is told no more", `document.querySelector('#told').hidden`)
	toStart := server.URL + "/#start=" + starts[1].Name
	p.navigate("about:blank")
	p.navigate(toStart)
	p.wait("what was written stays where somebody does not agree", `document.querySelector('#starts')?.value === '' && location.hash === '' &&
		[...document.querySelectorAll('#files button')].some((b) => b.title.endsWith('/other.yaml'))`)
	must[any](p, `localStorage.setItem('agrees', 'yes')`)
	p.navigate("about:blank")
	p.navigate(toStart)
	p.wait("a link to a start leads there", `document.querySelector('#starts')?.selectedOptions[0]?.textContent === `+quoted(starts[1].Name))
	p.wait("nothing is told", `document.querySelector('#told').hidden`)
	p.wait("it is rendered", well)

	const hostile = `<img src=x onerror="document.title='hurt'"><script>document.title='hurt'</script>`
	for link, told := range map[string]string{
		server.URL + "/#" + hostile:                                                                     "Nothing was taken from the address",
		linked(map[string]any{"files": map[string]string{"../x": ""}}):                                  "Nothing was taken from the address",
		linked(map[string]any{"files": map[string]string{"resource.yaml": strings.Repeat("x", 1<<20)}}): "more than 256 KiB",
		linked(map[string]any{"files": map[string]string{"resource.yaml": "kind: " + hostile}}):         "came with a link",
		server.URL + "/#start=nothing":                                                                  "nothing of that name to begin with",
	} {
		p.navigate("about:blank")
		p.navigate(link)
		p.wait("the link is told: "+told, `document.querySelector('#told')?.textContent.includes(`+quoted(told)+`)`)
		p.wait("it was looked at", `/finding|Lint finds/.test(document.querySelector('#state').textContent)`)
		if title := must[string](p, "document.title"); title != "Jacquard playground" {
			t.Errorf("%s: the title is %q", link, title)
		}
		if n := must[int](p, "document.querySelectorAll('img, script:not([src])').length"); n > 0 {
			t.Errorf("%s: %d elements came with it", link, n)
		}
	}
	p.mu.Lock()
	for _, url := range p.asked {
		if !strings.HasPrefix(url, server.URL+"/") && !strings.HasPrefix(url, "blob:"+server.URL) && url != "about:blank" {
			t.Errorf("the playground asks %s", url)
		}
	}
	if len(p.wrong) > 0 {
		t.Errorf("the playground: %s", p.wrong)
	}
	p.mu.Unlock()
	if left := must[string](p, `fetch('http://other.example/').then(() => 'let out', (err) => err.name)`); left != "TypeError" {
		t.Errorf("a request to another server: %s", left)
	}
	if left := must[string](p, `new Promise((resolve) => {
		const policy = self.trustedTypes.createPolicy('jacquard', { createScriptURL: (url) => url })
		resolve(policy)
	}).then(() => 'another policy', (err) => err.name)`); left != "TypeError" {
		t.Errorf("a second policy of trusted types: %s", left)
	}
}
