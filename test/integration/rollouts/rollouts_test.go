// Package rollouts tests how changed folders reach the resources of a kind, on
// a real cluster: in waves, held after a restart, stopped, approved; where
// folders come from, and which installation serves a kind.
package rollouts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Main(m, &cluster, "--nodes", "2", "--components", "etcd,apiserver,controller-manager,scheduler,kwok")
}

// A thing is a kind Thing in a group of its own, with a root of its own.
type thing struct {
	group, root, ns string
	// short is what people call it; "" for the CRD's name.
	short string
}

func newThing(t *testing.T, name string, files map[string]string) *thing {
	t.Helper()
	k := &thing{group: name + ".example.com", root: t.TempDir(), ns: cluster.Namespace(t)}
	kit.Write(t, k.root, map[string]string{"crds/" + k.name() + ".yaml": kit.ThingCRD(k.group)})
	k.write(t, files)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name()) })
	return k
}

func (k *thing) name() string       { return "things." + k.group }
func (k *thing) apiVersion() string { return k.group + "/v1" }

// write writes files into the folder, and patient, unless they bring a kind.yaml.
func (k *thing) write(t *testing.T, files map[string]string) {
	t.Helper()
	all := map[string]string{}
	if files != nil {
		all["templates/"+k.name()+"/kind.yaml"] = patient
	}
	for name, text := range files {
		all["templates/"+k.name()+"/"+name] = text
	}
	kit.Write(t, k.root, all)
}

// remove takes away a file of the folder, or all of it at once: a folder of which
// a part is left is another one.
func (k *thing) remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Rename(filepath.Join(k.root, "templates", k.name(), file), filepath.Join(t.TempDir(), "removed")); err != nil {
		t.Fatal(err)
	}
}

// patient has few waves and gives each the usual time, as a busy machine needs;
// quick gives up on a wave soon.
const (
	patient = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"1\", \"20%\"]}\n"
	quick   = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"1\", \"20%\"], progressDeadline: 5s}\n"
)

// run runs an operator over the kind's root and installs its CRD.
func (k *thing) run(t *testing.T) *kit.Operator {
	t.Helper()
	op := cluster.Run(t, install, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	return op
}

func install(o *controller.Options) { o.InstallCRDs = true }

func (k *thing) apply(t *testing.T, name, text string) {
	t.Helper()
	cluster.Apply(t, k.ns, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s}\nspec: {text: %s}\n", k.apiVersion(), name, text))
}

// many makes resources r00, r01, …, and waits until they are Ready.
func (k *thing) many(t *testing.T, n int) []string {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("r%02d", i))
		k.apply(t, names[i], "hello")
	}
	k.ready(t, names...)
	return names
}

func (k *thing) ready(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		kit.Eventually(t, k.group+" "+name+" is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", k.ns, name) })
	}
}

// says waits until a resource has this condition.
func (k *thing) says(t *testing.T, name, kind, status, part string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%s %s says %s=%s %q", k.group, name, kind, status, part), func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
		return errors.Join(err, kit.IsCondition(o, kind, status, part))
	})
}

// crd is the kind's CRD.
func (k *thing) crd(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rollout waits until the record on the CRD has this state and reason.
func (k *thing) rollout(t *testing.T, state rollout.State, reason rollout.Reason) rollout.Record {
	t.Helper()
	var r rollout.Record
	kit.Eventually(t, fmt.Sprintf("the rollout of %s is %s %s", k.group, state, reason), func() error {
		if r = rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]); r.State != state || r.Reason != reason {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
	return r
}

// texts counts the values of data.text of the kind's ConfigMaps.
func (k *thing) texts(t *testing.T) map[string]int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	if err := cluster.Client.List(context.Background(), list, client.InNamespace(k.ns),
		client.HasLabels{"jacquard.dev/owner-uid"}); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, o := range list.Items {
		text, _, _ := unstructured.NestedString(o.Object, "data", "text")
		n[text]++
	}
	return n
}

// allSay waits until every ConfigMap of the kind has this text.
func (k *thing) allSay(t *testing.T, text string, n int) {
	t.Helper()
	k.say(t, map[string]int{text: n})
}

// say waits until the ConfigMaps of the kind have these texts, so many each.
func (k *thing) say(t *testing.T, want map[string]int) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("the ConfigMaps of %s say %v", k.group, want), func() error {
		if got := k.texts(t); !maps.Equal(got, want) {
			return fmt.Errorf("there are %v", got)
		}
		return nil
	})
}

// deletes waits until a stopped rollout tells of so many deletions.
func (k *thing) deletes(t *testing.T, n int) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("the rollout of %s would delete %d", k.group, n), func() error {
		if r := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]); r.Reason != rollout.Deletes || r.DeletionCount != n {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
}

// config is a folder with one ConfigMap.
func config(text string) map[string]string {
	return map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  text: " + text +
		"\n"}
}

// told waits until an event about the kind's CRD has all these parts.
func (k *thing) told(t *testing.T, parts ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("an event about %s says %q", k.name(), parts), func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("events.k8s.io/v1")
		list.SetKind("EventList")
		if err := cluster.Client.List(context.Background(), list); err != nil {
			return err
		}
		for _, e := range list.Items {
			about, _, _ := unstructured.NestedString(e.Object, "regarding", "name")
			note := fmt.Sprint(e.Object["reason"], ": ", e.Object["note"])
			if about == k.name() && all(note, parts) {
				return nil
			}
		}
		return errors.New("there is none")
	})
}

func all(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
