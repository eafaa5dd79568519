package children

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

const apps = "apps.app.huolala.cn"

// TestMisspelt: .spec.imgae in the folder of a running kind. lint and the
// operator say the very same, and the last good version goes on.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	root, ns := t.TempDir(), cluster.Namespace(t)
	home, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	crd, err := os.ReadFile(filepath.Join(home, "crds", apps+".yaml"))
	if err == nil {
		err = os.CopyFS(filepath.Join(root, "templates", apps), os.DirFS(filepath.Join(home, "templates", apps)))
	}
	if err != nil {
		t.Fatal(err)
	}
	kit.Write(t, root, map[string]string{"crds/" + apps + ".yaml": string(crd)})
	op := cluster.Run(t, install, root)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", apps) })
	cluster.Served(t, "app.huolala.cn/v1", "App")
	runs := func(image string) {
		cluster.Apply(t, ns, fmt.Sprintf("apiVersion: app.huolala.cn/v1\nkind: App\nmetadata: {name: a}\nspec: {replicas: 1, image: %q}\n",
			image))
		kit.Eventually(t, "the Deployment runs "+image, func() error { return runsImage(ns, image) })
	}
	runs("one")

	file := "templates/" + apps + "/deployment.yaml"
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	kit.Write(t, root, map[string]string{file: strings.Replace(string(text), ".spec.image ", ".spec.imgae ", 1)})
	said := filepath.Join(root, file) + ":20:19: App v1 has no field spec.imgae; did you mean spec.image?"
	var out, trouble bytes.Buffer
	if code := cli.Main([]string{"lint", "--root", root, apps}, strings.NewReader(""), &out, &trouble); code != 1 {
		t.Errorf("jacquard lint: exit %d: %s", code, trouble.String())
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); first != said {
		t.Errorf("jacquard lint says %q, want %q", first, said)
	}
	told(t, "", apps, "Warning FolderInvalid "+said)
	runs("two")
	if err := op.Ready(); err != nil {
		t.Errorf("the operator is not ready although the last good version runs: %v", err)
	}
}

// runsImage reports whether the App's Deployment has an image.
func runsImage(ns, image string) error {
	o, err := cluster.Get("apps/v1", "Deployment", ns, "a")
	if err != nil {
		return err
	}
	containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return fmt.Errorf("its containers are %v: %w", containers, err)
	}
	if got := containers[0].(map[string]any)["image"]; got != image {
		return fmt.Errorf("it has %v", got)
	}
	return nil
}
