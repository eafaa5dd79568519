package rollouts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// configMap is a ConfigMap with the files of a folder.
func (k *thing) configMap(name, part string, files map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  labels: {jacquard.dev/kind: %s}\n", name, k.name())
	if part != "" {
		fmt.Fprintf(&b, "  annotations: {jacquard.dev/part: %q}\n", part)
	}
	b.WriteString("data:\n")
	for file, text := range files {
		fmt.Fprintf(&b, "  %s: |\n", file)
		for line := range strings.Lines(text) {
			b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// inNamespace lets an operator read folders from the ConfigMaps of a namespace
// of its own.
func inNamespace(ns string) func(*controller.Options) {
	return func(o *controller.Options) {
		install(o)
		o.Namespace = ns
	}
}

// TestConfigMaps: folders come from ConfigMaps, change and go with them; parts
// of a folder count only once all are there.
func TestConfigMaps(t *testing.T) {
	t.Parallel()
	home := cluster.Namespace(t)
	k := newThing(t, "configmaps", nil)
	op := cluster.Run(t, inNamespace(home), k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	kit.Eventually(t, "the operator is ready", op.Ready)
	k.apply(t, "a", "hello")
	cluster.Apply(t, home, k.configMap("one", "", config("one")))
	k.allSay(t, "one", 1)
	cluster.Apply(t, home, k.configMap("one", "", config("two")))
	k.allSay(t, "two", 1)

	cluster.Delete(t, "v1", "ConfigMap", home, "one")
	k.says(t, "a", "Stalled", "True", "FolderRemoved")
	k.allSay(t, "two", 1)

	second := map[string]string{"files--text": "three", "_x.tpl": "{{ define \"text\" }}{{ file \"text\" }}{{ end }}"}
	cluster.Apply(t, home, k.configMap("p1", "1/2", map[string]string{"map.yaml": config("{{ include \"text\" . }}")["map.yaml"]}))
	k.told(t, "FolderInvalid", "part 2 of 2 is not there")
	k.allSay(t, "two", 1)
	cluster.Apply(t, home, k.configMap("p2", "2/2", second))
	kit.Eventually(t, "the ConfigMap is that of both parts", func() error {
		for text := range k.texts(t) {
			if strings.TrimSpace(text) == "three" {
				return nil
			}
		}
		return fmt.Errorf("there are %v", k.texts(t))
	})
	k.ready(t, "a")
}

// TestTwoSources: of two folders of a kind the one that runs stays, the other
// is told of, and takes over when the first goes.
func TestTwoSources(t *testing.T) {
	t.Parallel()
	home := cluster.Namespace(t)
	k := newThing(t, "twosources", config("one"))
	other := &thing{group: k.group, root: t.TempDir(), ns: k.ns}
	other.write(t, config("two"))
	cluster.Run(t, inNamespace(home), k.root, other.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "hello")
	k.allSay(t, "one", 1)
	k.told(t, "DuplicateFolder", "not used: root "+other.root)
	cluster.Apply(t, home, k.configMap("map", "", config("three")))
	k.told(t, "DuplicateFolder", "configmap "+home+"/map")
	k.allSay(t, "one", 1)

	k.remove(t, "")
	k.allSay(t, "two", 1)
	k.write(t, config("one again"))
	k.told(t, "DuplicateFolder", "comes from root "+other.root, "root "+k.root)
	k.allSay(t, "two", 1)
	other.remove(t, "")
	k.allSay(t, "one again", 1)
	k.remove(t, "")
	k.allSay(t, "three", 1)
	k.ready(t, "a")
}

// TestFoldersVolume: templates/ is the volume of a ConfigMap, whose ..data is
// swapped as a whole.
func TestFoldersVolume(t *testing.T) {
	t.Parallel()
	k := newThing(t, "foldersvolume", nil)
	templates := filepath.Join(k.root, "templates")
	put := func(version, text string) {
		t.Helper()
		kit.Write(t, k.root, map[string]string{"templates/" + version + "/" + k.name() + "/map.yaml": config(text)["map.yaml"]})
		tmp := filepath.Join(templates, "..tmp")
		if err := os.Symlink(version, tmp); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(templates, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	put("..1", "one")
	if err := os.Symlink(filepath.Join("..data", k.name()), filepath.Join(templates, k.name())); err != nil {
		t.Fatal(err)
	}
	k.run(t)
	k.apply(t, "a", "hello")
	k.allSay(t, "one", 1)
	put("..2", "two")
	k.allSay(t, "two", 1)
	k.ready(t, "a")
}

// TestRootMissing: a root that goes, or is not there when the operator starts, changes
// nothing of its kinds; what takes its place is rolled out.
func TestRootMissing(t *testing.T) {
	t.Parallel()
	home, current := cluster.Namespace(t), filepath.Join(t.TempDir(), "current")
	k := newThing(t, "rootmissing", config("one"))
	next := &thing{group: k.group, root: t.TempDir(), ns: k.ns}
	next.write(t, config("two"))
	pointTo := func(root string) {
		t.Helper()
		if err := errors.Join(os.Symlink(root, current+".tmp"), os.Rename(current+".tmp", current)); err != nil {
			t.Fatal(err)
		}
	}
	reports := func(wants bool) {
		t.Helper()
		kit.Eventually(t, "jacquard status tells whether the root is missing", func() error {
			said := k.jacquard(t, "status", "--installation", home+"/jacquard")
			if strings.Contains(said, "a root cannot be read, so its kinds are served as before: root "+current) != wants || strings.Contains(said, "Removed") {
				return errors.New(said)
			}
			return nil
		})
	}
	run := func(installs bool) *kit.Operator {
		t.Helper()
		return cluster.Run(t, func(o *controller.Options) { o.InstallCRDs, o.Namespace, o.Identity = installs, home, home+"/jacquard" }, current)
	}
	pointTo(k.root)
	op := run(true)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "hello")
	k.allSay(t, "one", 1)
	if err := os.Remove(current); err != nil {
		t.Fatal(err)
	}
	reports(true)
	k.apply(t, "b", "hello")
	k.allSay(t, "one", 2)
	if err := op.Ready(); err != nil {
		t.Error(err)
	}
	op.Stop(t)

	op = run(false) // the last revision serves
	k.apply(t, "c", "hello")
	k.allSay(t, "one", 3)
	reports(true)
	if err := op.Ready(); err == nil || !strings.Contains(err.Error(), current) {
		t.Errorf("a process that never saw its root is ready: %v", err)
	}
	pointTo(next.root)
	k.allSay(t, "two", 3)
	reports(false)
	if err := op.Ready(); err != nil {
		t.Error(err)
	}
}

// TestRemoved: a kind whose folder was removed keeps its children, makes none,
// and deletes; also after a restart. The folder that comes back, changed, is
// rolled out.
func TestRemoved(t *testing.T) {
	t.Parallel()
	k := newThing(t, "removed", config("one"))
	op := k.run(t)
	for _, name := range []string{"a", "b", "c"} {
		k.apply(t, name, "hello")
		k.ready(t, name)
	}
	k.remove(t, "")
	k.says(t, "a", "Stalled", "True", "FolderRemoved")
	gone := func(name string) {
		t.Helper()
		cluster.Delete(t, k.apiVersion(), "Thing", k.ns, name)
		kit.Eventually(t, name+"'s child is gone", func() error { return cluster.Gone("v1", "ConfigMap", k.ns, name) })
	}
	gone("b")
	op.Stop(t)
	mark := cluster.Mark(t)
	op = k.run(t)
	kit.Eventually(t, "the operator is ready", op.Ready)
	k.apply(t, "d", "hello")
	k.says(t, "d", "Stalled", "True", "FolderRemoved")
	gone("c")
	k.allSay(t, "one", 1)
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		if r.Namespace == k.ns && r.Resource != "things/status" {
			t.Errorf("a write: %s", r)
		}
	}
	k.write(t, config("two"))
	k.allSay(t, "two", 2)
	k.ready(t, "a", "d")
}

// TestClaim: of two installations one serves a kind; the other tells why not,
// is as ready, and takes over when it is asked to.
func TestClaim(t *testing.T) {
	t.Parallel()
	k := newThing(t, "claim", config("one"))
	first := cluster.Run(t, func(o *controller.Options) { install(o); o.Identity = "first" }, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "hello")
	k.allSay(t, "one", 1)
	other := &thing{group: k.group, root: t.TempDir(), ns: k.ns}
	other.write(t, config("two"))
	second := cluster.Run(t, func(o *controller.Options) { o.Identity = "second" }, other.root)
	k.told(t, "ServedElsewhere", "operator first serves this kind", "kubectl annotate crd "+k.name()+" jacquard.dev/operator-")
	kit.Eventually(t, "the second operator is ready", second.Ready)
	k.elsewhere(t, 1)
	other.remove(t, "")
	k.elsewhere(t, 0) // whoever has no folder does not want to serve it
	other.write(t, config("two"))
	k.elsewhere(t, 1)
	k.apply(t, "b", "hello")
	k.allSay(t, "one", 2)
	first.Stop(t)
	k.apply(t, "b", "changed")
	k.allSay(t, "one", 2)

	crd := k.crd(t)
	annotations := crd.GetAnnotations()
	delete(annotations, "jacquard.dev/operator")
	crd.SetAnnotations(annotations)
	if err := cluster.Client.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	k.allSay(t, "two", 2)
	k.ready(t, "a", "b")
	if by := k.crd(t).GetAnnotations()["jacquard.dev/operator"]; by != "second" {
		t.Errorf("the kind is claimed by %q", by)
	}
}

// elsewhere waits until so many operators count the kind as served by another.
func (k *thing) elsewhere(t *testing.T, want float64) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("jacquard_kind_served_elsewhere is %v", want), func() error {
		families, err := metrics.Registry.Gather()
		if err != nil {
			return err
		}
		n := 0.0
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "jacquard_kind_served_elsewhere" && m.GetLabel()[0].GetValue() == k.name() {
					n += m.GetGauge().GetValue()
				}
			}
		}
		if n != want {
			return fmt.Errorf("it is %v", n)
		}
		return nil
	})
}

// TestRequests: a kind that comes costs one write of its CRD, for the claim and the kinds of
// children; at rest and at a restart none is sent; a rollout is one for each wave and one.
func TestRequests(t *testing.T) {
	t.Parallel()
	k := newThing(t, "requests", config("one"))
	mark := cluster.Mark(t)
	writes := func(want int, when string) {
		t.Helper()
		kit.Eventually(t, when, func() error { // what was done gets into the audit log a little later
			n := 0
			for _, r := range kit.Writes(cluster.AllRequests(t, mark)) {
				if r.Name == k.name() && r.Code < 300 && r.Resource == "customresourcedefinitions" {
					n++
				}
			}
			if n > want {
				t.Fatalf("%s: %d writes of the CRD, want %d", when, n, want)
			}
			if n < want {
				return fmt.Errorf("%d writes of the CRD, want %d", n, want)
			}
			return nil
		})
		mark = cluster.Mark(t)
	}
	op := k.run(t)
	k.apply(t, "a", "hello")
	k.ready(t, "a")
	writes(2, "a new kind, its CRD installed")
	k.write(t, config("two"))
	k.allSay(t, "two", 1)
	k.rollout(t, "Complete", "")
	writes(2, "a changed folder")
	op.Stop(t)
	again := k.run(t)
	kit.Eventually(t, "the operator is ready", again.Ready)
	k.apply(t, "b", "hello")
	k.ready(t, "a", "b")
	writes(1, "a restart, the CRD installed")
}
