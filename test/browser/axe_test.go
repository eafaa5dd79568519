package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A fault is what axe finds.
type fault struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// TestAccessible: axe finds no serious fault in any view, in either theme, on a wide page
// and on a narrow one. It is of ui/node_modules, as make page-check installs it.
func TestAccessible(t *testing.T) {
	t.Parallel()
	browser := start(t)
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	script := axe(t, root)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one"), "set.yaml": fmt.Sprintf(set, ""), "z.yaml": waits})
	s.start()
	s.web("a", "text: hello")
	s.web("b", "text: hello, waits: true")
	s.is("a", "Ready", "True")
	s.is("b", "Ready", "False")
	s.stop()
	p := open(t, browser, ui(t))
	must[any](p, script)
	child := "v1/ConfigMap/" + s.namespace + "/a-settings"
	views := append(s.views(child, "a-settings"),
		view{"none", "#/resources?q=nothing-is-called-so", []string{"No resource is like this."}}, view{"dialog", "#/rollouts/" + s.kind(), []string{"Approve the rollout"}}, view{"keys", "#/", []string{"Resources"}})
	looked := 0
	for _, width := range []int64{1280, 390} {
		p.do(chromedp.EmulateViewport(width, 800))
		for _, theme := range []string{"dark", "light"} {
			p.theme(theme)
			for _, v := range views {
				p.visit(v.hash)
				p.shows(v.shows...)
				p.settles()
				p.opens(v.name)
				for _, f := range p.faults() {
					t.Errorf("%s, %s, %d px: %s: %s: %s", v.name, theme, width, f.Impact, f.Help, f.Nodes)
				}
				looked++
				p.closes()
			}
		}
	}
	if looked != 44 {
		t.Errorf("%d views were looked at", looked)
	}
	// A fault is found where there is one.
	must[any](p, `document.querySelector('main').append(Object.assign(document.createElement('button'), { className: 'x' })), null`)
	if !slices.ContainsFunc(p.faults(), func(f fault) bool { return f.ID == "button-name" }) {
		t.Error("a button without a name is no fault")
	}
}

// waits is a file that waits if the resource says so.
const waits = `{{- if .spec.waits }}{{ wait "the certificate is not issued yet" }}{{ end }}
`

// stop changes the folder so that its rollout stops.
func (s *site) stop() {
	s.Helper()
	s.says("Serving")
	s.write(map[string]string{"set.yaml": fmt.Sprintf(set, "-renamed")})
	s.says("Stopped")
}

// theme is what the system of the person prefers: dark or light.
func (p *page) theme(name string) {
	p.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	p.wait("the page is "+name, `matchMedia('(prefers-color-scheme: `+name+`)').matches`)
}

// axe is the script that looks for faults, which a page is to run first.
func axe(t *testing.T, root string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, "ui", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("there is no axe-core: run make page-check, which needs npm")
	}
	return string(script) + "; null"
}

// opens opens what a view is to show above the others, if it is one of these.
func (p *page) opens(name string) {
	p.Helper()
	switch name {
	case "dialog":
		p.click("main button", "Approve the rollout")
		p.wait("the plan is there", `document.querySelector('dialog[open] .command')`)
	case "explain":
		must[any](p, `document.querySelectorAll('details').forEach((d) => { d.open = true })`)
	case "keys":
		p.click("header button", "?")
		p.wait("the keys are there", `document.querySelector('dialog[open] .keys')`)
	}
}

func (p *page) closes() {
	p.Helper()
	must[any](p, `document.querySelector('dialog[open]')?.close(), null`)
	p.wait("no dialog is open", `!document.querySelector('dialog')`)
}

// faults are those that axe calls serious or critical, but for those of the navigation that
// the theme of the site has.
func (p *page) faults() []fault {
	p.Helper()
	return must[[]fault](p, `axe.run({ exclude: ['.VPNav', '.VPSidebar'] }, { resultTypes: ['violations'] }).then((r) => r.violations
		.filter((v) => v.impact === 'serious' || v.impact === 'critical')
		.map((v) => ({ ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map((n) => ({ HTML: n.html + ' ' + n.failureSummary })) })))`)
}
