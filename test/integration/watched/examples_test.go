package watched

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// repository is the root with the kinds that ship.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// examples applies the examples of all kinds that ship, and waits until their
// resources are Ready.
func examples(t *testing.T) {
	t.Helper()
	ns := cluster.Namespace(t)
	files, err := filepath.Glob(filepath.Join(repository(t), "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, group, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".")
		for _, o := range kit.Parse(t, string(text)) {
			if o.GetNamespace() == "" {
				o.SetNamespace(ns)
			}
			mine := o.GroupVersionKind().Group == group
			if mine {
				cluster.Served(t, o.GetAPIVersion(), o.GetKind())
			}
			create(t, o)
			if mine {
				t.Cleanup(func() { cluster.Delete(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()) })
				defer kit.Eventually(t, o.GetKind()+" "+o.GetName()+" is Ready", func() error {
					return cluster.Ready(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
				})
			}
		}
	}
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}
