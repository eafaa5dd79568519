package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-settings}
data: {text: {{ .spec.text }}, version: %s}
`

// set is a child that holds data: a rollout stops before one of them is deleted.
const set = `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .metadata.name }}%s
spec:
  replicas: 0
  serviceName: none
  selector:
    matchLabels: {app: x}
  template:
    metadata:
      labels: {app: x}
    spec:
      containers:
      - {name: web, image: nginx}
`

// data waits until the ConfigMap of a resource has a text.
func (s *site) data(name, key, want string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("the ConfigMap of %s has %s: %s", name, key, want), func() error {
		o, err := cluster.Get("v1", "ConfigMap", s.namespace, name+"-settings")
		if err != nil {
			return err
		}
		if data, _ := o.Object["data"].(map[string]any); data[key] != want {
			return fmt.Errorf("it has %v", data)
		}
		return nil
	})
}

// row is the row of a resource in the list, if it is in a state.
func (s *site) row(name, state string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.rows .row')].some((r) =>
		r.querySelector('.c-name').innerText === %s && r.querySelector('.c-ns').innerText === %s &&
		r.querySelector('.state.is-%s'))`, quoted(name), quoted(s.namespace), state)
}

// TestLive: the page shows what becomes of a resource without being loaded again, and its
// buttons do what they say.
func TestLive(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one"), "set.yaml": fmt.Sprintf(set, "")})
	s.start()
	p := open(t, browser, ui(t))
	must[any](p, "window.loaded = 'once'")

	p.shows("Who serves what", "Ready", "Queue")
	p.wait("the queue is drawn", `document.querySelector('.c-waiting')?.getAttribute('d').startsWith('M')`)
	p.visit("#/resources?kind=" + s.kind())
	p.shows("No resource is like this.")
	s.web("a", "text: hello")
	p.wait("a is Ready", s.row("a", "ready"))

	p.click(".rows .row .c-name", "a")
	p.shows("Ready: True", "ConfigMap", "a-settings", "StatefulSet")
	p.order("Pause", "kubectl annotate "+s.kind()+" a jacquard.dev/paused=true --overwrite --namespace "+s.namespace+" --context devcluster")
	p.wait("a is paused", `document.querySelector('main .title > .state.is-paused')`)

	p.click("a.box .line2", "a-settings")
	p.shows("What is live is what is desired.")
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a-settings}, data: {text: drifted}}")
	p.shows("-  text: drifted", "+  text: hello")
	p.order("Resume", "jacquard.dev/paused-")
	s.data("a", "text", "hello")
	p.shows("What is live is what is desired.")
	p.hides("drifted")
	p.wait("a is Ready again", `document.querySelector('main .title > .state.is-ready')`)
	p.order("Reconcile now", "jacquard.dev/reconcile-at=")

	s.rolls(p)

	p.visit("#/resources?kind=" + s.kind())
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "a")
	p.shows("No resource is like this.")
	if got := must[string](p, "String(window.loaded)"); got != "once" {
		t.Error("the page was loaded again")
	}
}

// rolls changes the folder: the page shows the revisions, rolls back and releases, and
// approves a rollout that stopped.
func (s *site) rolls(p *page) {
	s.Helper()
	s.says(verdict.Serving)
	p.visit("#/rollouts/" + s.kind())
	p.shows("Revisions", "serves all resources")
	s.write(map[string]string{"map.yaml": fmt.Sprintf(settings, "two")})
	s.data("a", "version", "two")
	p.wait("there are two revisions, and the new one serves", `document.querySelectorAll('.revisions li').length === 2 &&
		document.querySelector('.revisions li .grow').innerText.includes('serves all resources')`)

	p.order("Roll back", "jacquard rollback "+s.kind()+" --to-revision ")
	s.data("a", "version", "one")
	s.says(verdict.RolledBack) // until then the CRD may change
	p.order("Release the rollback", "jacquard rollback "+s.kind()+" --end")
	s.data("a", "version", "two")
	s.says(verdict.Serving)

	s.write(map[string]string{"set.yaml": fmt.Sprintf(set, "-renamed")})
	p.shows("rollout stopped", "What stopped it", "What an approval would do", "StatefulSet")
	if _, err := cluster.Get("apps/v1", "StatefulSet", s.namespace, "a"); err != nil {
		s.Error("before the approval: ", err)
	}
	p.order("Approve the rollout", "jacquard approve "+s.kind())
	kit.Eventually(s, "the rollout continues", func() error {
		_, err := cluster.Get("apps/v1", "StatefulSet", s.namespace, "a-renamed")
		return err
	})
	p.wait("nothing is stopped", `document.querySelector('.kind .title .state').innerText.includes('serving')`)
}

// TestStale: nothing is done if it is not as it was shown.
func TestStale(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one")})
	s.start()
	s.web("a", "text: hello")
	s.is("a", "Ready", "True")
	p := open(t, browser, ui(t))
	p.visit(s.route("a", ""))
	p.click("main button", "Pause")
	p.shows("kubectl annotate")
	s.web("a", "text: other")
	p.click("dialog[open] button.primary", "Pause")
	p.shows("Nothing was done: it has changed since it was displayed", "Below is what would be done now.")
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a")
	if err != nil || len(o.GetAnnotations()) > 0 {
		t.Errorf("%v %v", o.GetAnnotations(), err)
	}
	p.click("dialog[open] button.primary", "Pause")
	p.wait("it is done", `document.querySelector('dialog[open] .did')`)
}

// TestRefused: why a child stays as it is, and how it differs from what is desired.
func TestRefused(t *testing.T) {
	t.Parallel()
	browser := start(t)
	s := lay(t, map[string]string{"map.yaml": fmt.Sprintf(settings, "one") + "immutable: true\n"})
	s.start()
	s.web("a", "text: hello")
	s.is("a", "Ready", "True")
	p := open(t, browser, ui(t))
	p.visit(s.route("a", "?child=v1/ConfigMap/"+s.namespace+"/a-settings"))
	p.shows("What is live is what is desired.")
	s.web("a", "text: other")
	s.is("a", "Stalled", "True")
	p.shows("refused: ", "-  text: hello", "+  text: other")
	p.hides("What is live is what is desired.")
	p.wait("a is stalled", `document.querySelector('main .title > .state.is-stalled')`)
	p.visit("#/resources?state=not+ready&q=" + s.namespace)
	p.wait("the list says so", s.row("a", "stalled"))
}

// TestLost: the page says that what it shows may be old, and goes on by itself when
// jacquard ui is back where it was.
func TestLost(t *testing.T) {
	t.Parallel()
	browser := start(t)
	address, stop := interruptible(t)
	p := open(t, browser, address)
	stop()
	p.shows("What is shown may be old")
	// A new jacquard ui knows no session of the old one.
	port := p.base[strings.LastIndex(p.base, ":")+1:]
	again := ui(t, "--port", port)
	p.click("button", "Try now")
	p.shows("There is no session", "run jacquard ui again")
	p.navigate("about:blank") // another fragment alone would load nothing
	p.navigate(again)
	p.wait("the page follows the cluster", `document.querySelector('.about') && !document.querySelector('.link')`)
}
