package kinds

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// testMoreExamples applies the examples of one of examples/kinds: before, diff says that
// there is something to do, and afterwards nothing.
func testMoreExamples(t *testing.T, root string) {
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no example (%v)", root, err)
	}
	for _, file := range files {
		becomes(t, root, file)
	}
}

// becomes applies an example and waits until it is ready and at rest.
func becomes(t *testing.T, root, file string) {
	example := kit.Parse(t, text(t, file))
	for _, o := range example {
		cluster.Served(t, o.GetAPIVersion(), o.GetKind())
	}
	crd := kit.Parse(t, text(t, filepath.Join(root, "crds", filepath.Base(file))))[0]
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	o := example[slices.IndexFunc(example, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })]
	ns := cluster.Namespace(t)
	if code, said := diff(root, ns, file); code != 1 {
		t.Errorf("jacquard diff of a new resource: exit %d: %s", code, said)
	}
	cluster.Apply(t, ns, text(t, file))
	kit.Eventually(t, o.GetKind()+" is ready", func() error {
		return cluster.Ready(o.GetAPIVersion(), o.GetKind(), ns, o.GetName())
	})
	if code, said := diff(root, ns, file); code != 0 {
		t.Errorf("jacquard diff of a resource that is ready: exit %d: %s", code, said)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func diff(root, namespace, file string) (code int, said string) {
	var out bytes.Buffer
	code = cli.Main([]string{"diff", "--root", root, "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"), "-n", namespace, file},
		strings.NewReader(""), &out, &out)
	return code, out.String()
}
