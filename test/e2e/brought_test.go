package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/tar"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Kinds by the way in which they are brought: in the chart's values, in an image that the
// node mounts, and in an image that Flux unpacks.
const (
	byValues = "webapps.platform.example.com"
	byImage  = "pages.example.com"
	byFlux   = "notes.example.com"
)

// kinds: kinds that nobody knew come in each of the ways that there are.
func kinds(t *testing.T, n *realNode) {
	n.bring(t)
	t.Run("Packed", func(t *testing.T) { packed(t, n) })
	t.Run("Brought", func(t *testing.T) {
		for _, kind := range []string{byValues, byImage, byFlux} {
			eventually(t, "the example of "+kind+" is ready", func() error { return n.resourceReady(kind, "default") })
			eventually(t, "status knows the folder of "+kind, func() error { return n.serving(kind) })
		}
	})
}

// bring brings the kinds, each in its way, and applies their examples.
func (n *realNode) bring(t *testing.T) {
	t.Helper()
	root := filepath.Join(repository, "examples", "kinds", "webapp")
	packed := n.written(t, n.pack(t, root, byValues))
	made := t.TempDir()
	for _, kind := range []string{"Page", "Note"} {
		if _, err := n.try(admin, "", "jacquard", "new", kind, "--group", "example.com", "--root", made); err != nil {
			t.Fatal(err)
		}
	}
	reference := n.push(t, made, byImage, "team/pages")
	n.apply(t, admin, n.pack(t, made, byImage, "--include", "roles,users,crd"))
	n.unable(func() { // Helm brings the folder before its rights, and the operator may be quicker
		n.install(t, "--set-file", "kinds.custom."+strings.ReplaceAll(byValues, ".", `\.`)+"="+packed, "--set",
			"kinds.images[0].reference="+reference)
	})
	n.push(t, made, byFlux, "team/notes")
	n.fluxPulls(t, "team/notes")
	n.apply(t, admin, example(t, root, byValues))
	n.apply(t, admin, example(t, made, byImage))
	n.apply(t, admin, example(t, made, byFlux))
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

// push pushes a kind of a root, signed, and returns the reference by which a node pulls it.
// Whoever pulls it with the key gets the same packed files.
func (n *realNode) push(t *testing.T, root, kind, repository string) (reference string) {
	t.Helper()
	private, public := keys(t)
	here := strings.TrimPrefix(n.registry.URL(), "http://") + "/" + repository + ":v1"
	out, err := n.try(admin, "", "jacquard", "push", here, kind, "--root", root, "--sign", private)
	if err != nil {
		t.Fatal(err)
	}
	_, digest, _ := strings.Cut(out, "@")
	pulled := t.TempDir()
	if _, err := n.try(admin, "", "jacquard", "pull", here, "--verify", public, "--root", pulled); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(pulled, "packed", kind+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := n.pack(t, pulled, kind, "--include", "users,crd,folder"); !strings.HasSuffix(string(packed), want) {
		t.Errorf("packed/ does not end with what pack prints of the image:\n%s", want)
	}
	_, other := keys(t)
	if _, err := n.try(admin, "", "jacquard", "pull", here, "--verify", other, "--root", t.TempDir()); err == nil {
		t.Error("pull accepts the key of somebody else")
	}
	return "registry.example.com/" + repository + "@" + digest
}

// fluxPulls applies an image's packed/ with Flux's own libraries, as a stand-in for its
// controllers: source-controller takes the first layer of the image for its own platform,
// and kustomize-controller applies the files of the path.
func (n *realNode) fluxPulls(t *testing.T, repository string) {
	t.Helper()
	ref, err := name.NewTag(strings.TrimPrefix(n.registry.URL(), "http://")+"/"+repository+":v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	if err := tar.Untar(archive, dir, tar.WithMaxUntarSize(tar.UnlimitedUntarSize)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "packed", "*.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("packed/ has %v: %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	n.flux(t, "", string(text))
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
