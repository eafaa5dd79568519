package admin

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var update = flag.Bool("update", false, "write testdata/ anew")

// TestStates brings resources into every state that docs/gitops.md lists, and
// asks kstatus. What the operator wrote is kept in testdata/, where the test of
// Argo CD's health check finds it.
func TestStates(t *testing.T) {
	s := newSite(t, "states")
	cluster.Apply(t, "", s.crd())
	cluster.Served(t, s.group+"/v1", "Web")
	said := documented(t)
	keep := func(state string, o *unstructured.Unstructured) {
		t.Helper()
		result, err := kstatus.Compute(o)
		if err != nil {
			t.Fatal(err)
		}
		if string(result.Status) != said[state] {
			t.Errorf("%s: kstatus says %s (%s), docs/gitops.md %q", state, result.Status, result.Message, said[state])
		}
		delete(said, state)
		s.keep(state, o)
	}

	s.as("kustomize-controller", s.web("a", "fine"))
	keep("not reconciled yet", s.get("a"))
	op := s.run()
	s.becomes("a", "Ready", "True")
	keep("ready", s.get("a"))
	for name, state := range map[string][]string{"b": {"waiting", "Reconciling"}, "c": {"stalled", "Stalled"},
		"d": {"warming", "Ready", "False"}, "e": {"wrong", "Stalled"}} {
		s.as("kustomize-controller", s.web(name, state[0]))
		s.becomes(name, state[1], append(state, "True")[2])
	}
	keep("in progress", s.get("b"))
	keep("stalled", s.get("c"))
	keep("not ready by status.yaml", s.get("d"))
	for _, name := range []string{"a", "d", "e"} {
		s.patch(s.get(name), `{"metadata":{"annotations":{"jacquard.dev/paused":"true"}}}`)
		s.becomes(name, "Paused", "True")
	}
	keep("paused and ready", s.get("a"))
	keep("paused and not ready", s.get("d"))
	keep("paused and stalled", s.get("e"))
	s.as("kustomize-controller", s.web("g", "fine"))
	s.becomes("g", "Ready", "True")
	s.patch(s.get("g"), `{"metadata":{"annotations":{"jacquard.dev/paused":"true"}},"spec":{"state":"changed"}}`)
	s.becomes("g", "Ready", "Unknown")
	keep("paused and changed", s.get("g"))

	s.as("kustomize-controller", s.web("f", "fine"))
	s.becomes("f", "Ready", "True")
	op.Stop(t)
	s.as("kustomize-controller", s.web("f", "changed"))
	keep("changed, not reconciled yet", s.get("f"))
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "b")
	keep("being deleted", s.get("b"))
	for state := range said {
		t.Errorf("docs/gitops.md tells of %q, which this test does not make", state)
	}
	again := s.run()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		cluster.Delete(t, s.group+"/v1", "Web", s.namespace, name)
		kit.Eventually(t, name+" is gone", func() error { return cluster.Gone(s.group+"/v1", "Web", s.namespace, name) })
	}
	again.Stop(t)
}

// documented are the states of docs/gitops.md with what kstatus says of them.
func documented(t *testing.T) map[string]string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "gitops.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| a resource ")
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[string]string{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, "|")
		said[strings.TrimSpace(cells[1])] = strings.Trim(cells[3], " `")
	}
	return said
}

// moment is a time of an object, which each run has another one of.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

var slug = regexp.MustCompile(`[^a-z]+`)

// keep compares a resource with testdata/, or writes it there: without what is
// different in each run.
func (s *gitopsSite) keep(state string, o *unstructured.Unstructured) {
	s.Helper()
	o = o.DeepCopy()
	for _, field := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	data, err := yaml.Marshal(o.Object)
	if err != nil {
		s.Fatal(err)
	}
	data = moment.ReplaceAll(data, []byte("2026-01-02T03:04:05Z"))
	data = bytes.ReplaceAll(data, []byte(s.namespace), []byte("default"))
	data = bytes.ReplaceAll(data, []byte(s.root+"/"), nil)
	file := filepath.Join("testdata", slug.ReplaceAllString(state, "-")+".yaml")
	if *update {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			s.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.Fatalf("%v: write it with -update", err)
	}
	if diff := cmp.Diff(string(want), string(data)); diff != "" {
		s.Errorf("%s is no longer what an operator writes; write it anew with -update (-kept +cluster):\n%s", file, diff)
	}
}
