package children

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// broken is a file with a syntax error in line 4.
const broken = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }\ndata: {}\n"

// TestBrokenWhileRunning: a folder that no longer loads leaves its last good
// version running, and says where it is wrong. Healing it needs no restart.
func TestBrokenWhileRunning(t *testing.T) {
	t.Parallel()
	k := newThing(t, "brokenlater", plain())
	other := newThing(t, "brokenlaterother", plain())
	op := k.run(t, other)
	k.apply(t, "a", "text: one")
	other.apply(t, "o", "")
	k.ready(t, "a")
	other.ready(t, "o")

	k.write(t, map[string]string{"more.yaml": broken})
	told(t, "", k.name(), "Warning FolderInvalid", k.name()+"/more.yaml:4:")
	if err := op.Ready(); err != nil {
		t.Errorf("the operator is not ready although the last good version runs: %v", err)
	}
	k.apply(t, "a", "text: two")
	k.data(t, "a", "two")
	k.apply(t, "b", "")
	k.ready(t, "a", "b")
	other.apply(t, "o", "text: other")
	other.data(t, "o", "other")

	k.write(t, map[string]string{"more.yaml": config("-more", "{{ .spec.text }}")})
	told(t, "", k.name(), "Normal FolderValid")
	k.data(t, "a-more", "two")
	k.data(t, "b-more", "hello")
	k.ready(t, "a", "b")
	k.atRest(t, "a", "ConfigMap/a", "ConfigMap/a-more")
	other.atRest(t, "o", "ConfigMap/o")
}

// TestBrokenAtStart: the kind is on hold: its children stay, deleting works,
// its resources say why, and the operator is not ready; others are served.
func TestBrokenAtStart(t *testing.T) {
	t.Parallel()
	k := newThing(t, "brokenfirst", plain())
	other := newThing(t, "brokenfirstother", plain())
	first := k.run(t, other)
	k.apply(t, "a", "text: one")
	k.apply(t, "b", "text: one")
	k.ready(t, "a", "b")
	first.Stop(t)

	k.write(t, map[string]string{"map.yaml": broken})
	op := k.run(t, other)
	k.says(t, "a", "Ready", "False", "FolderInvalid", k.name()+"/map.yaml:4:")
	k.says(t, "a", "Stalled", "True", "FolderInvalid")
	if err := op.Ready(); err == nil || !strings.Contains(err.Error(), "map.yaml:4:") {
		t.Errorf("the operator is ready, or does not say why not: %v", err)
	}
	told(t, "", k.name(), "Warning FolderInvalid", "map.yaml:4:")
	other.apply(t, "o", "")
	other.ready(t, "o")
	k.data(t, "a", "one")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "b")
	k.data(t, "b", "")
	k.apply(t, "c", "")
	k.says(t, "c", "Ready", "False", "FolderInvalid")
	k.atRest(t, "a", "ConfigMap/a")
	k.atRest(t, "c")

	k.write(t, plain())
	k.ready(t, "a", "c")
	if err := op.Ready(); err != nil {
		t.Errorf("the folder loads and the operator is not ready: %v", err)
	}
	k.atRest(t, "a", "ConfigMap/a")
	k.atRest(t, "c", "ConfigMap/c")
}

// TestUnreadable: a folder that holds what no folder may hold is on hold too.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	k := newThing(t, "unreadable", with(plain(), map[string]string{"notes.txt": "x"}))
	op := k.run(t)
	k.apply(t, "a", "")
	k.says(t, "a", "Ready", "False", "FolderInvalid", "notes.txt")
	if op.Ready() == nil {
		t.Error("the operator is ready")
	}
	k.remove(t, "notes.txt")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
}

// offlineFault is what the offline tools say of the kind's folder.
func offlineFault(t *testing.T, k *thing) string {
	t.Helper()
	loaded, err := catalog.Load([]string{k.root})
	if err != nil {
		t.Fatal(err)
	}
	fault := errors.Join(loaded.Faults()...)
	if fault == nil || !strings.Contains(fault.Error(), "map.yaml:6:") {
		t.Fatalf("the offline tools say %v", fault)
	}
	return fault.Error()
}

// TestUnknownField: a path that the CRD does not declare is found when the
// folder is loaded; the offline tools say the same.
func TestUnknownField(t *testing.T) {
	t.Parallel()
	k := newThing(t, "unknownfield", plain())
	op := k.run(t)
	k.apply(t, "a", "text: one")
	k.ready(t, "a")
	k.write(t, map[string]string{"map.yaml": config("", "{{ .spec.txet }}")})
	told(t, "", k.name(), "Warning FolderInvalid "+offlineFault(t, k))
	k.apply(t, "a", "text: two")
	k.data(t, "a", "two")
	if err := op.Ready(); err != nil {
		t.Error(err)
	}
	k.atRest(t, "a", "ConfigMap/a")
}

// TestFolderComesAndGoes: a folder added, changed and removed while running.
// Without a folder nobody touches the children, and deleting still works.
func TestFolderComesAndGoes(t *testing.T) {
	t.Parallel()
	k := newThing(t, "folder", nil)
	if err := os.MkdirAll(filepath.Join(k.root, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	op := k.run(t)
	k.apply(t, "a", "text: one")
	k.write(t, plain())
	k.ready(t, "a")
	k.write(t, map[string]string{"map.yaml": config("-renamed", "{{ .spec.text }}")})
	k.data(t, "a-renamed", "one")
	k.data(t, "a", "")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a-renamed")

	if err := os.RemoveAll(k.dir()); err != nil {
		t.Fatal(err)
	}
	k.says(t, "a", "Stalled", "True", "FolderRemoved")
	told(t, "", k.name(), "Warning FolderRemoved")
	k.data(t, "a-renamed", "one")
	k.apply(t, "b", "")
	k.says(t, "b", "Stalled", "True", "FolderRemoved")
	op.AwaitQuiet(t)
	if err := cluster.Gone("v1", "ConfigMap", k.ns, "b-renamed"); err != nil {
		t.Error(err)
	}
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "a")
	k.data(t, "a-renamed", "")

	k.write(t, plain())
	k.ready(t, "b")
	k.atRest(t, "b", "ConfigMap/b")
}

// TestConfigMapVolume: a folder whose files are links into ..data, which is
// swapped as a whole, as volumes of ConfigMaps are.
func TestConfigMapVolume(t *testing.T) {
	t.Parallel()
	k := newThing(t, "volume", map[string]string{"..1/map.yaml": config("", "one")})
	link(t, k, "..1", "..data")
	link(t, k, "..data/map.yaml", "map.yaml")
	k.run(t)
	k.apply(t, "a", "")
	k.data(t, "a", "one")
	k.write(t, map[string]string{"..2/map.yaml": config("", "two")})
	link(t, k, "..2", "..data_tmp")
	if err := os.Rename(filepath.Join(k.dir(), "..data_tmp"), filepath.Join(k.dir(), "..data")); err != nil {
		t.Fatal(err)
	}
	k.remove(t, "..1")
	k.data(t, "a", "two")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
}

func link(t *testing.T, k *thing, to, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(k.dir(), name)); err != nil {
		t.Fatal(err)
	}
}

// TestNoCRD: a folder without CRD and a CRD without folder hurt nobody.
func TestNoCRD(t *testing.T) {
	t.Parallel()
	k := newThing(t, "nocrd", plain())
	nofolder := newThing(t, "nofolder", nil)
	if err := os.Remove(filepath.Join(k.root, "crds", k.name()+".yaml")); err != nil {
		t.Fatal(err)
	}
	other := newThing(t, "nocrdother", plain())
	op := other.run(t, nofolder)
	lonely := cluster.Run(t, nil, k.root)
	other.apply(t, "a", "")
	other.ready(t, "a")
	nofolder.apply(t, "a", "")
	for _, o := range []*kit.Operator{op, lonely} {
		kit.Eventually(t, "the operator is ready", o.Ready)
	}
	other.atRest(t, "a", "ConfigMap/a")

	cluster.Apply(t, "", k.crd())
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
	o, err := cluster.Get(nofolder.apiVersion(), "Thing", nofolder.ns, "a")
	if err = errors.Join(err); err != nil || o.Object["status"] != nil {
		t.Errorf("a resource without folder has status %v (%v)", o.Object["status"], err)
	}
}
