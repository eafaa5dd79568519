package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestEject: everything stays as it is, nothing of Jacquard is left on it, and
// it stays when the resource goes.
func TestEject(t *testing.T) {
	t.Parallel()
	s := vary(t, (*site).collects)
	a := s.as("admin", "eject", s.name(), "--yes")
	if a.code != 1 || !strings.Contains(a.stderr, "serves it and would undo that. First remove templates/") {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	s.operator.Stop(t)
	if len(s.traces()) < 12 {
		t.Fatalf("only %v bear something of ours: this test looks in the wrong place", s.traces())
	}
	before := s.state()
	for _, flag := range [][]string{nil, {"--dry-run"}} {
		a = s.as("admin", append([]string{"eject", s.name()}, flag...)...)
		if want := 1 - len(flag); a.code != want || !strings.Contains(a.stdout, "nothing was changed") ||
			!strings.Contains(a.stdout, "Web "+s.namespace+"/a") {
			t.Errorf("exit %d, want %d: %s", a.code, want, a.all())
		}
	}
	if len(s.traces()) < 12 {
		t.Fatalf("a dry run took off what is ours: %v", s.traces())
	}
	canary := s.canary("a")
	if a = s.as("admin", "eject", s.name(), "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	if left := s.traces(); len(left) > 0 {
		t.Errorf("left on %v", left)
	}
	s.same(before, s.state())
	s.taken()
	if a = s.as("admin", "eject", s.name(), "--yes"); a.code != 0 || !strings.Contains(a.stdout, "changed objects: 0") {
		t.Errorf("again: exit %d: %s", a.code, a.all())
	}
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "a")
	s.gone("Web", "a")
	s.collected(canary)
	s.same(before, s.state())
}

// TestEjectIsQuiet: what it looks through and changes of kinds that Kubernetes
// does not recommend any more, such as Endpoints, is not warned of.
func TestEjectIsQuiet(t *testing.T) {
	t.Parallel()
	s := vary(t)
	s.operator.Stop(t)
	for _, flag := range []string{"--dry-run", "--yes"} {
		w := s.watch("admin", "eject", s.name(), flag)
		if err := w.command.Wait(); err != nil || strings.Contains(strings.ToLower(w.text()), "deprecated") {
			t.Errorf("%v: %s", err, w.text())
		}
	}
}

// TestEjectWhatHangs: the operator was uninstalled first. Resources, and the CRD,
// that are deleted then wait for it, until they are ejected.
func TestEjectWhatHangs(t *testing.T) {
	t.Parallel()
	s := vary(t)
	s.operator.Stop(t)
	before := s.state()
	cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
	kit.Eventually(t, "the resource waits", func() error {
		o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a")
		if err == nil && o.GetDeletionTimestamp() == nil {
			err = fmt.Errorf("it is not being deleted")
		}
		return err
	})
	if a := s.as("admin", "eject", s.name(), "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	kit.Eventually(t, "the CRD is gone", func() error {
		if o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a"); err == nil {
			return fmt.Errorf("%s", shown(s, o))
		}
		return cluster.Gone("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
	})
	s.same(before, s.state())
	if left := s.traces(); len(left) > 0 {
		t.Errorf("left on %v", left)
	}
}

// TestEjectRemoved: the operator runs on and lost the folder; it undoes nothing,
// and what is deleted first goes cleanly.
func TestEjectRemoved(t *testing.T) {
	t.Parallel()
	s := vary(t)
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs-b}, data: {own: x}}")
	s.web("b", "text: two")
	s.is("b", "Ready", "True", "")
	if err := os.RemoveAll(filepath.Join(s.root, "templates", s.name())); err != nil {
		t.Fatal(err)
	}
	s.becomes("that the folder is gone", state(verdict.FolderRemoved))
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "b")
	s.gone("Web", "b")
	for _, child := range []string{"v1 ConfigMap", "v1 Service", "apps/v1 Deployment", "apps/v1 DaemonSet"} {
		version, kind, _ := strings.Cut(child, " ")
		kit.Eventually(t, "its "+kind+" is gone", func() error { return cluster.Gone(version, kind, s.namespace, "b") })
	}
	kit.Eventually(t, "all its children are gone", func() error { // such as the Pods of its workloads
		for _, o := range s.everything() {
			if strings.HasPrefix(o.GetName(), "b-") && o.GetName() != "b-kept" || o.GetName() == "b" {
				return fmt.Errorf("%s %s", o.GetKind(), o.GetName())
			}
		}
		return nil
	})
	before := s.state()
	s.interrupted(5)
	if left := s.traces(); len(left) == 0 {
		t.Fatal("the interrupted ejection left nothing to do")
	}
	if a := s.as("admin", "eject", s.name(), "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	kit.Eventually(t, "the operator lets the kind go", func() error {
		h, a := s.status("admin")
		if len(h.Installations[0].Kinds) > 0 {
			return fmt.Errorf("%s", a.all())
		}
		return nil
	})
	if left := s.traces(); len(left) > 0 {
		t.Errorf("left on %v", left)
	}
	s.same(before, s.state())
}

// TestEjectAll: also what is left of a kind whose CRD is gone. It runs before
// the tests that run side by side.
func TestEjectAll(t *testing.T) {
	s := vary(t)
	other := lay(t, varied)
	other.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs-a}, data: {own: x}}")
	other.web("a", "text: one")
	other.start(nil)
	other.is("a", "Ready", "True", "")
	other.becomes("that it serves", state(verdict.Serving))
	cluster.Delete(t, other.group+"/v1", "Web", other.namespace, "a")
	other.gone("Web", "a")
	cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", other.name())
	kit.Eventually(t, "the CRD is gone", func() error {
		return cluster.Gone("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", other.name())
	})
	other.operator.Stop(t)
	if left := other.traces(); !slices.ContainsFunc(left, func(text string) bool { return strings.HasPrefix(text, "Secret ") }) {
		t.Fatalf("the kept child is not among %v", left)
	}
	if a := s.as("admin", "eject", "--all", "--yes"); a.code != 1 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	s.operator.Stop(t)
	if h := s.statusOfAll(); len(h.Installations) != 1 || len(h.Claimless) != 1 || len(h.Forsaken) != 0 {
		t.Errorf("installations %v, without a claim %v, forsaken %v", h.Installations, h.Claimless, h.Forsaken)
	}
	cluster.Delete(t, "coordination.k8s.io/v1", "Lease", s.home, "jacquard-report")
	if h := s.statusOfAll(); len(h.Installations) != 0 || len(h.Claimless) != 1 || len(h.Forsaken) != 1 || h.Forsaken[0].CRD != s.name() ||
		h.Forsaken[0].Identity != s.home+"/jacquard" {
		t.Errorf("installations %v, forsaken %v", h.Installations, h.Forsaken)
	}
	s.startingUp()
	if a := s.as("admin", "eject", "--all", "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	if left := append(s.traces(), other.traces()...); len(left) > 0 {
		t.Errorf("left on %v", left)
	}
	if other.report() != nil {
		t.Error("the report of an operator that is gone is there still")
	}
	if h := s.statusOfAll(); len(h.Installations)+len(h.Claimless)+len(h.Forsaken) > 0 {
		t.Errorf("installations %v, forsaken %v", h.Installations, h.Forsaken)
	}
}

// startingUp looks at the status while the operator's Deployment is there and no
// report is: nothing of it is to be ejected then.
func (s *site) startingUp() {
	s.Helper()
	deployment := strings.Replace(workload("Deployment"), "metadata: {name: {{ .metadata.name }}}",
		"metadata: {name: jacquard, labels: {app.kubernetes.io/part-of: jacquard}}", 1)
	cluster.Apply(s, s.home, strings.ReplaceAll(deployment, "{{ .metadata.name }}", "x"))
	h := s.statusOfAll()
	if len(h.Starting) != 1 || h.Starting[0] != s.home+"/jacquard" || len(h.Forsaken) != 0 ||
		!strings.Contains(strings.Join(h.Unknown, " "), "has not reported yet") {
		s.Errorf("starting %v, forsaken %v, unknown %v", h.Starting, h.Forsaken, h.Unknown)
	}
	cluster.Delete(s, "apps/v1", "Deployment", s.home, "jacquard")
}
