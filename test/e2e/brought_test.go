package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
	"github.com/jacquard-operator/jacquard/test/e2e/standin"
)

// kindsImage is the name of an image that holds folders of kinds.
const kindsImage = "registry.example.com/team/kinds:v1"

// Kinds that are brought by the chart's values, and the roots that they are in.
const (
	byValues = "webapps.platform.example.com"
	byImage  = "pages.example.com"
)

// kinds: kinds that nobody knew come in each of the ways that there are.
func kinds(t *testing.T, n *realNode) {
	n.bring(t)
	t.Run("Packed", func(t *testing.T) { packed(t, n) })
	t.Run("Brought", func(t *testing.T) {
		for _, kind := range []string{byValues, byImage} {
			eventually(t, "the example of "+kind+" is ready", func() error { return n.resourceReady(kind, "default") })
			eventually(t, "status knows the folder of "+kind, func() error { return n.serving(kind) })
		}
	})
}

// bring brings one kind as what pack prints, and one in an image that the node
// mounts, and applies their examples.
func (n *realNode) bring(t *testing.T) {
	t.Helper()
	root := filepath.Join(repository, "examples", "kinds", "webapp")
	packed := n.written(t, n.pack(t, root, byValues))
	made := t.TempDir()
	if _, err := n.try(admin, "", "jacquard", "new", "Page", "--group", "example.com", "--root", made); err != nil {
		t.Fatal(err)
	}
	n.pushKinds(t, made)
	n.apply(t, admin, n.pack(t, made, byImage, "--only", "roles,users,crd"))
	n.unable(func() { // Helm brings the folder before its rights, and the operator may be quicker
		n.install(t, "--set-file", "kinds.custom."+strings.ReplaceAll(byValues, ".", `\.`)+"="+packed, "--set",
			"kinds.images[0].reference="+kindsImage)
	})
	n.apply(t, admin, example(t, root, byValues))
	n.apply(t, admin, example(t, made, byImage))
}

// example is the text of a kind's example.
func example(t *testing.T, root, kind string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", kind+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pushKinds puts the folders of a root into an image, and that into the
// registry.
func (n *realNode) pushKinds(t *testing.T, root string) {
	t.Helper()
	var files oci.Files
	for _, dir := range []string{"crds", "templates"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			return files.AddFile(strings.TrimPrefix(file, root), file)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	image, err := oci.Image{Platform: standin.Here(), Config: v1.Config{}, Files: &files}.Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.registry.Push(image, kindsImage); err != nil {
		t.Fatal(err)
	}
}

// serving says what is wrong if `jacquard status` does not say that a kind is
// served.
func (n *realNode) serving(kind string) error {
	out, err := n.try(admin, "", "jacquard", "status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, kind) && strings.Contains(line, "Serving") {
			return nil
		}
	}
	return fmt.Errorf("%s is not served:\n%s", kind, out)
}
