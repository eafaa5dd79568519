package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/tree"
	"github.com/jacquard-operator/jacquard/admin/ui"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A browser is the page of `jacquard ui` without a screen.
type browser struct {
	*testing.T
	base    string
	session string

	mu    sync.Mutex
	rows  map[ui.Key]ui.Row
	ready bool
}

// browse starts the server of `jacquard ui`, opens its page, and follows the rows.
func browse(t *testing.T, change ...func(*ui.Options)) *browser {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	options := ui.Options{Config: cluster.Config, Context: "test", Namespace: "default", Program: "v0-test"}
	for _, f := range change {
		f(&options)
	}
	server := ui.New(options)
	web := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(web.Listener.Addr().String(), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	guard := ui.NewGuard(number)
	web.Config.Handler = server.Handler(guard)
	web.Start()
	var all sync.WaitGroup
	all.Go(func() {
		if err := server.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	base, token, _ := strings.Cut(guard.URL(), "/#")
	b := &browser{T: t, base: base, rows: map[ui.Key]ui.Row{}}
	var code int
	if code, b.session = b.ask("POST", "/session", token); code != http.StatusOK {
		t.Fatalf("no session: %d %s", code, b.session)
	}
	all.Go(func() { b.follow(ctx) })
	t.Cleanup(func() {
		cancel()
		all.Wait()
		web.Close()
	})
	return b
}

func (b *browser) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.session)
	r.Header.Set("Origin", b.base)
	return http.DefaultClient.Do(r)
}

func (b *browser) ask(method, path, body string) (code int, text string) {
	b.Helper()
	answer, err := b.send(b.Context(), method, path, body)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

// follow reads the stream until the context ends.
func (b *browser) follow(ctx context.Context) {
	answer, err := b.send(ctx, "GET", "/api/rows", "")
	if err != nil {
		b.Error(err)
		return
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		var c ui.Change
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			if ctx.Err() == nil { // else the end cut a line
				b.Errorf("%v: %s", err, lines.Text())
			}
			return
		}
		b.mu.Lock()
		for _, row := range c.Rows {
			b.rows[row.Key] = row
		}
		for _, key := range c.Gone {
			delete(b.rows, key)
		}
		b.ready = b.ready || c.Ready
		b.mu.Unlock()
	}
}

// shows waits until the page shows a row in a way.
func (b *browser) shows(key ui.Key, what string, is func(row ui.Row, there bool) bool) {
	b.Helper()
	kit.Eventually(b, "the page shows "+what, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		row, there := b.rows[key]
		if !b.ready || !is(row, there) {
			return fmt.Errorf("ready %t, there %t, %+v", b.ready, there, row)
		}
		return nil
	})
}

// body is the text of an order.
func (b *browser) body(o ui.Order) string {
	b.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// plan plans an order.
func (b *browser) plan(action string, key ui.Key) (plan ui.Plan, text string) {
	b.Helper()
	code, text := b.ask("POST", "/api/plan", b.body(ui.Order{Action: action, Key: key}))
	if err := json.Unmarshal([]byte(text), &plan); code != http.StatusOK || err != nil {
		b.Fatalf("%s: %d %s", action, code, text)
	}
	return plan, text
}

// order plans an order and does it, with the plan's digest.
func (b *browser) order(action string, key ui.Key) {
	b.Helper()
	body := func(digest string) string { return b.body(ui.Order{Action: action, Key: key, Digest: digest}) }
	plan, text := b.plan(action, key)
	if plan.Context != "test" || plan.Server == "" || !strings.Contains(plan.Command, key.Kind) || plan.Digest == "" || plan.Text == "" {
		b.Errorf("%s: %s", action, text)
	}
	if code, text := b.ask("POST", "/api/do", body(plan.Digest+"x")); code != http.StatusConflict {
		b.Errorf("%s with another digest: %d %s", action, code, text)
	}
	if code, text := b.ask("POST", "/api/do", body(plan.Digest)); code != http.StatusOK {
		b.Errorf("%s: %d %s", action, code, text)
	}
}

// TestUI: a resource appears on the page of `jacquard ui` and becomes Ready, and its
// buttons do what they say, unless what they are about has changed.
func TestUI(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"map.yaml": plain["map.yaml"], "set.yaml": fmt.Sprintf(set, "")})
	b := browse(t)
	s.start(nil)
	s.web("a", "text: one")
	key := ui.Key{Kind: s.name(), Namespace: s.namespace, Name: "a"}
	b.shows(key, "that it is Ready", func(r ui.Row, _ bool) bool { return r.Ready == "True" && !r.Created.IsZero() })
	path := "/api/resources/" + s.name() + "/" + s.namespace + "/a/"
	code, text := b.ask("GET", path+"tree", "")
	var of tree.Tree
	if err := json.Unmarshal([]byte(text), &of); code != http.StatusOK || err != nil || find(of.Children, "ConfigMap") == nil {
		t.Fatalf("%d %v: %s", code, err, text)
	}
	child := find(of.Children, "ConfigMap")
	s.says(verdict.Serving)
	for what, parts := range map[string][]string{
		"events": {"["}, "explain": {`map.yaml"`, `"file"`}, "object": {"kind: Web"},
		"object?child=v1/ConfigMap/" + s.namespace + "/" + child.Name: {`"live"`, `"desired"`},
	} {
		kit.Eventually(t, what+" is told", func() error { // its revision is kept a little later
			code, text := b.ask("GET", path+what, "")
			for _, part := range parts {
				if code != http.StatusOK || !strings.Contains(text, part) {
					return fmt.Errorf("%d, and no %s: %s", code, part, text)
				}
			}
			return nil
		})
	}
	for path, part := range map[string]string{"/api/about": `"program":"v0-test"`, "/api/health": s.home + "/jacquard",
		"/api/kinds/" + s.name() + "/history": `"revisions":[{`} {
		if code, text := b.ask("GET", path, ""); code != http.StatusOK || !strings.Contains(text, part) {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}

	b.order("pause", key)
	b.shows(key, "that it is paused", func(r ui.Row, _ bool) bool { return r.Paused })
	if plan, _ := b.plan("reconcile", key); !strings.Contains(plan.Text, "it is paused, so the operator changes nothing") {
		t.Errorf("to reconcile what is paused: %s", plan.Text)
	}
	b.order("resume", key)
	b.shows(key, "that it is not paused", func(r ui.Row, _ bool) bool { return !r.Paused })
	b.order("reconcile", key)
	s.is("a", "Ready", "True", "")

	s.write(map[string]string{"set.yaml": fmt.Sprintf(set, "-renamed")})
	s.says(verdict.RolloutStopped)
	b.order("approve", ui.Key{Kind: s.name()})
	kit.Eventually(t, "the rollout continues", func() error {
		_, err := cluster.Get("apps/v1", "StatefulSet", s.namespace, "a-renamed")
		return err
	})

	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "a")
	b.shows(key, "that it is gone", func(_ ui.Row, there bool) bool { return !there })
}

// set is a child that holds data: the rollout stops before one of them is deleted.
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

// says waits until the CRD says how its kind is served.
func (s *site) says(state verdict.State) {
	s.Helper()
	kit.Eventually(s, "the CRD says "+string(state), func() error {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
		if err != nil {
			return err
		}
		if got := crd.GetAnnotations()[api.AnnotationState]; got != string(state) {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
}
