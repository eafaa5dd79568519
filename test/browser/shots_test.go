package browser

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// shop is of a cluster that is worth looking at: some kinds of this repository, resources
// that are not ready, each for a reason of its own, and rollouts that stopped.
const shop = `
{apiVersion: v1, kind: ResourceQuota, metadata: {name: small, namespace: staging}, spec: {hard: {pods: "3"}}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: front, namespace: shop}, spec: {image: nginx:1.29, port: 80, replicas: 3,
  ingress: {hosts: [shop.example.com]}, probes: {readiness: {path: /}}}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: checkout, namespace: shop}, spec: {image: nginx:1.29, port: 80, replicas: 2}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: search, namespace: shop}, spec: {image: nginx:1.29, port: 80,
  autoscaling: {min: 2, max: 6, cpuPercent: 70}}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: recommendations-for-returning-customers, namespace: shop},
  spec: {image: nginx:1.29, port: 80, replicas: 1}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: payments, namespace: shop}, spec: {image: nginx:1.29, port: 80, replicas: 2,
  envFromSecret: payment-provider}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: front, namespace: staging}, spec: {image: nginx:1.30, port: 80, replicas: 5}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: web, namespace: blog}, spec: {image: nginx:1.29, port: 80, replicas: 2}}
---
{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: drafts, namespace: blog}, spec: {image: nginx:1.29, port: 80, replicas: 1}}
---
{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {name: sessions, namespace: shop}, spec: {size: 3, containerPort: 11211}}
---
{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {name: pages, namespace: blog}, spec: {size: 1, containerPort: 11211}}
---
{apiVersion: samplecontroller.k8s.io/v1alpha1, kind: Foo, metadata: {name: hello, namespace: blog}, spec: {deploymentName: hello, replicas: 1}}
`

// app is one of ten whose rollout pauses.
const app = `{apiVersion: app.huolala.cn/v1, kind: App, metadata: {name: %s, namespace: media}, spec: {replicas: 1, image: "nginx:1.16.1",
  ports: [{port: 8080, targetPort: 80}]}}`

// paused lets the rollout of the kind stop after three of its resources.
const paused = `apiVersion: jacquard.dev/v1alpha1
kind: KindSettings
rollout:
  waves: [{size: "3", pause: true}]
`

// furnish makes the cluster of the shots, with the kinds of the repository.
func (s *site) furnish(repository string) {
	s.Helper()
	for _, name := range []string{"shop", "staging", "blog", "media"} {
		s.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
	}
	for from, kinds := range map[string][]string{
		"":                      {"apps.app.huolala.cn", "foos.samplecontroller.k8s.io"},
		"examples/kinds/webapp": {"webapps.platform.example.com"}, "examples/kinds/memcached": {"memcacheds.cache.example.com"},
	} {
		for _, kind := range kinds {
			crd, err := os.ReadFile(filepath.Join(repository, from, "crds", kind+".yaml"))
			if err != nil {
				s.Fatal(err)
			}
			cluster.Apply(s, "", string(crd))
			for _, o := range kit.Parse(s, string(crd)) {
				s.serves(o.GetName())
			}
			if err := os.CopyFS(filepath.Join(s.root, "templates", kind), os.DirFS(filepath.Join(repository, from, "templates", kind))); err != nil {
				s.Fatal(err)
			}
		}
	}
	kit.Write(s, s.root, map[string]string{"templates/apps.app.huolala.cn/kind.yaml": paused})
	s.start()
	s.apply(shop)
	for _, name := range strings.Fields("encoder gallery guard index mail notes player stream thumbs uploads") {
		s.apply(fmt.Sprintf(app, name))
	}
	kit.Eventually(s, "all are ready but two", func() error {
		notReady := 0
		for _, kind := range [][2]string{{"platform.example.com/v1", "WebApp"}, {"cache.example.com/v1alpha1", "Memcached"},
			{"samplecontroller.k8s.io/v1alpha1", "Foo"}, {"app.huolala.cn/v1", "App"}} {
			for _, o := range cluster.List(s, kind[0], kind[1]) {
				if kit.IsCondition(&o, "Ready", "True", "") != nil {
					notReady++
				}
			}
		}
		if notReady != 2 {
			return fmt.Errorf("%d are not", notReady)
		}
		return nil
	})
}

// serves waits until the CRD is served.
func (s *site) serves(name string) {
	s.Helper()
	kit.Eventually(s, name+" is served", func() error {
		o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
		if err != nil {
			return err
		}
		conditions, _ := o.Object["status"].(map[string]any)["conditions"].([]any)
		for _, item := range conditions {
			if c := item.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", conditions)
	})
}

// change changes a file of a kind.
func (s *site) change(file, old, with string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, "templates", file))
	if err != nil || !strings.Contains(string(text), old) {
		s.Fatalf("%v: %s has no %q", err, file, old)
	}
	kit.Write(s, s.root, map[string]string{"templates/" + file: strings.Replace(string(text), old, with, 1)})
}

// TestShots writes pictures of all views, and a recording, into the folder SHOTS, for people
// to look at.
func TestShots(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		t.Skip("it is for people: make shots")
	}
	browser := start(t)
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := place(t)
	s.furnish(root)
	const webs, apps = "webapps.platform.example.com", "apps.app.huolala.cn"
	s.state(webs, verdict.Serving)
	p := open(t, browser, ui(t, "--root", s.root))
	s.film(p, dir)
	s.change(webs+"/deployment.yaml", "      - name: main\n", "      - name: main\n        imagePullPolicy: IfNotPresent\n")
	p.visit("#/rollouts/" + webs)
	p.wait("there are two revisions, and the new one serves", `document.querySelectorAll('.revisions li').length === 2 &&
		document.querySelector('.revisions li .grow').innerText.includes('serves all resources')`)
	s.state(webs, verdict.Serving)
	s.apply(`{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: drafts, namespace: blog, annotations: {jacquard.dev/paused: "true"}},
		spec: {image: "nginx:1.29", port: 80, replicas: 1}}`)
	s.apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: drafts, namespace: blog}, spec: {replicas: 2}}")
	s.change(webs+"/service.yaml", "  name: {{ .metadata.name }}\n", "  name: {{ .metadata.name }}-web\n")
	s.change(apps+"/deployment.yaml", "imagePullPolicy: IfNotPresent", "imagePullPolicy: Always")
	s.state(webs, verdict.RolloutStopped)
	s.state(apps, verdict.RolloutStopped)

	resource := func(namespace, name, more string) string {
		return "#/resource/" + webs + "/" + namespace + "/" + name + more
	}
	child := "?child=" + "apps%2Fv1%2FDeployment%2Fblog%2Fdrafts"
	views := []view{
		{"overview", "#/", []string{"Kinds", webs, "staging"}},
		{"resources", "#/resources", []string{"recommendations"}},
		{"resources-not-ready", "#/resources?state=reconciling", []string{"payment-provider"}},
		{"tree", resource("shop", "front", ""), []string{"ReplicaSet", "Pod"}},
		{"tree-not-ready", resource("staging", "front", ""), []string{"ReplicaSet"}},
		{"tree-waiting", resource("shop", "payments", ""), []string{"payment-provider"}},
		{"child", resource("blog", "drafts", child), []string{"replicas: 2"}},
		{"events", resource("staging", "front", "?tab=events"), []string{"Warning"}},
		{"explain", resource("shop", "front", "?tab=explain"), []string{"deployment.yaml"}},
		{"object", resource("shop", "front", "?tab=object"), []string{"kind: WebApp"}},
		{"rollouts", "#/rollouts/" + webs, []string{"What an approval would do"}},
		{"rollouts-paused", "#/rollouts/" + apps, []string{"3 of 10 reached"}},
		{"dialog", "#/rollouts/" + webs, []string{"Approve the rollout"}},
		{"keys", "#/", []string{"Kinds"}},
	}
	for _, size := range [][2]int64{{390, 844}, {1024, 768}, {1440, 900}} {
		p.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 0, 0))
		for _, theme := range []string{"dark", "light"} {
			p.theme(theme)
			for _, v := range views {
				p.visit(v.hash)
				p.shows(v.shows...)
				if strings.HasPrefix(v.hash, "#/resource/") {
					p.shows("old · revision")
				}
				p.settles()
				p.opens(v.name)
				p.shoot(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", v.name, size[0], theme)), size[0])
				p.fits()
				p.closes()
			}
		}
	}
}

// shoot writes what a person sees.
func (p *page) shoot(file string, width int64) {
	p.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(got)); err != nil || int64(c.Width) != width {
		p.Errorf("%s: %v %v", file, c, err)
	}
	if err := os.WriteFile(file, got, 0o644); err != nil {
		p.Fatal(err)
	}
}

// fits checks that nothing is wider than the page.
func (p *page) fits() {
	p.Helper()
	if got := must[[]string](p, `[...document.querySelectorAll('main, main > *, .card, .top')].filter((e) =>
		e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'hidden' && !e.matches('.graph, .side, pre')).map((e) => e.className + ' of ' + e.scrollWidth)`); len(got) > 0 {
		p.Errorf("%s at %s: wider than the page: %q", must[string](p, "location.hash"), must[string](p, "String(innerWidth)"), got)
	}
}
