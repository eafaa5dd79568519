package operators

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNarrowed: where the namespaces of an installation become fewer, a resource
// that may have children in one that was left out does not go before somebody
// looked there: also when its folder is gone.
func TestNarrowed(t *testing.T) {
	k := newThing(t, "narrowed")
	root, none := k.folder(t, "now"), t.TempDir()
	if err := os.Mkdir(filepath.Join(none, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := k.run(t, "a", "", root, k.ns, k.far)
	k.apply(t, "one", "", "x")
	k.ready(t, "one")
	before.Stop(t)
	narrow := func(root string) *kit.Operator {
		access := cluster.Access(t)
		op := cluster.Run(t, func(o *controller.Options) {
			o.Identity, o.Namespaces, o.Config = k.group+"/a", []string{k.ns, k.far}, access.Config
			access.Serve(*o, root)
			o.Namespaces = []string{k.ns}
		}, root)
		kit.Eventually(t, "its folders are loaded", op.Ready)
		return op
	}
	stays := func(when string) {
		t.Helper()
		kit.Eventually(t, when+", it says what is not known", func() error {
			o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "one")
			if err != nil {
				t.Fatalf("%s: the resource: %v", when, err)
			}
			return kit.IsCondition(o, "Ready", "False", "what is left in namespace "+k.far)
		})
		if _, err := cluster.Get("v1", "ConfigMap", k.far, k.ns+"-one"); err != nil {
			t.Errorf("%s: the child there: %v", when, err)
		}
	}
	narrower := narrow(root)
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "one")
	stays("the namespaces became fewer")
	narrower.Stop(t)
	narrower = narrow(none)
	stays("the folder is gone")
	narrower.Stop(t)
	k.run(t, "a", "", root, k.ns, k.far)
	k.gone(t, "one")
}
