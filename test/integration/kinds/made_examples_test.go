package kinds

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestExamples runs the kinds of examples/kinds: before, diff says that there
// is something to do, and afterwards nothing.
func TestExamples(t *testing.T) {
	roots, err := filepath.Glob("../../../examples/kinds/*")
	if err != nil || len(roots) == 0 {
		t.Fatalf("there are no examples (%v): this test looks in the wrong place", err)
	}
	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, roots...)
	for _, root := range roots {
		files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no example (%v)", root, err)
		}
		t.Run(filepath.Base(root), func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				becomes(t, root, file)
			}
		})
	}
}

// becomes applies an example and waits until it is ready and at rest.
func becomes(t *testing.T, root, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := kit.Parse(t, string(text))[0]
	cluster.Served(t, o.GetAPIVersion(), o.GetKind())
	ns := cluster.Namespace(t)
	if code, said := diff(root, ns, file); code != 1 {
		t.Errorf("jacquard diff of a new resource: exit %d: %s", code, said)
	}
	cluster.Apply(t, ns, string(text))
	kit.Eventually(t, o.GetKind()+" is ready", func() error {
		return cluster.Ready(o.GetAPIVersion(), o.GetKind(), ns, o.GetName())
	})
	if code, said := diff(root, ns, file); code != 0 {
		t.Errorf("jacquard diff of a resource that is ready: exit %d: %s", code, said)
	}
}

func diff(root, namespace, file string) (code int, said string) {
	var out bytes.Buffer
	code = cli.Main([]string{"diff", "--root", root, "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"), "-n", namespace, file},
		strings.NewReader(""), &out, &out)
	return code, out.String()
}
