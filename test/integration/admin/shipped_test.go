package admin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNobodyLooked: a resource of a kind of ours that was just made says that
// nobody has looked at it, whatever way it is read: the API server keeps no
// status of those who make it, and fills in the default when it reads.
func TestNobodyLooked(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, dir := range []string{"", "examples/kinds/memcached", "examples/kinds/webapp", "examples/kinds/webhosting"} {
		found, err := filepath.Glob(filepath.Join(root, dir, "crds", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 8 {
		t.Fatalf("there are %d CRDs only", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { t.Parallel(); nobodyLooked(t, file) })
	}
}

// nobodyLooked tries the kind of a file, in a group of its own: other tests serve the kind.
func nobodyLooked(t *testing.T, file string) {
	definition := kit.Parse(t, text(t, file))[0]
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	inOwnGroup := func(file string) string { return strings.ReplaceAll(text(t, file), group, "fresh."+group) }
	cluster.Apply(t, "", inOwnGroup(file))
	name := strings.ReplaceAll(definition.GetName(), group, "fresh."+group)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	var o *unstructured.Unstructured // the last that the example holds of the kind
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	for _, example := range kit.Parse(t, inOwnGroup(filepath.Join(filepath.Dir(file), "..", "examples", filepath.Base(file)))) {
		if example.GetKind() == kind {
			o = example
		}
	}
	o.SetNamespace(cluster.Namespace(t))
	o.Object["status"] = map[string]any{"observedGeneration": int64(1)}
	cluster.Served(t, o.GetAPIVersion(), kind)

	watching, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(o.GroupVersionKind())
	events, err := watching.Watch(context.Background(), list, client.InNamespace(o.GetNamespace()))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := cluster.Client.Create(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	fresh(t, "made", o)
	for event := range events.ResultChan() {
		if event.Type == watch.Added {
			fresh(t, "watched", event.Object.(*unstructured.Unstructured))
			break
		}
	}
	if err := cluster.Client.List(context.Background(), list, client.InNamespace(o.GetNamespace())); err != nil || len(list.Items) != 1 {
		t.Fatalf("%d resources: %v", len(list.Items), err)
	}
	fresh(t, "listed", &list.Items[0])
	got, err := cluster.Get(o.GetAPIVersion(), kind, o.GetNamespace(), o.GetName())
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, "read", got)
}

func fresh(t *testing.T, how string, o *unstructured.Unstructured) {
	t.Helper()
	if seen, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); !found || seen != -1 {
		t.Errorf("as it is %s, nobody can tell that nobody looked at it: its status is %v", how, o.Object["status"])
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
