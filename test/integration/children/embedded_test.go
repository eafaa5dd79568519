package children

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestEmbedded: the example of an operator with its folder inside serves its
// kind, and ends when it is asked to.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "embedded")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, filepath.Join(root, "examples", "embedded")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var said bytes.Buffer
	cluster.Grant(t, kit.User, controller.Options{InstallCRDs: true}, filepath.Join(root, "examples", "embedded"))
	run := exec.Command(binary)
	run.Dir = t.TempDir() // nothing is read from the disk
	run.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(cluster.Dir, "operator.kubeconfig"))
	run.Stderr = &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill() }) //nolint:errcheck // it has ended, if all went well
	cluster.Served(t, "example.com/v1", "Page")
	ns := cluster.Namespace(t)
	cluster.Apply(t, ns, "{apiVersion: example.com/v1, kind: Page, metadata: {name: hello}, spec: {text: hello}}")
	kit.Eventually(t, "the Page is Ready", func() error { return cluster.Ready("example.com/v1", "Page", ns, "hello") })
	o, err := cluster.Get("v1", "ConfigMap", ns, "hello")
	if err != nil {
		t.Fatal(err)
	}
	if got := o.GetLabels()["app.kubernetes.io/instance"]; got != "hello" {
		t.Errorf("the label of the partial is %q", got)
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
}
