package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mine selects what the operator made.
const mine = "jacquard.dev/owner-uid"

// changed: what the operator made is deleted, loses its label, is not wanted any
// more, and is wanted again; the folders are changed as an admin does it.
func changed(t *testing.T, n *realNode) {
	file := filepath.Join(repository, "schemas", "routes.route.openshift.io.yaml")
	n.kubectl(t, "apply", "--server-side", "-f", file)
	n.converge(t)
	const kinds = "deployments.apps,daemonsets.apps,services,pods,routes.route.openshift.io"
	var count int
	there := func() error {
		if got := n.staying(t, kinds); got < count {
			return fmt.Errorf("there are %d children, and there were %d", got, count)
		}
		return nil
	}
	eventually(t, "the Podroute has a Route", func() error {
		_, err := n.try(admin, "", "kubectl", "get", "routes.route.openshift.io", "-n", "podroute", "podroute-route")
		return err
	})
	count = n.staying(t, kinds)
	n.kubectl(t, "delete", kinds, "--all-namespaces", "-l", mine, "--wait=false")
	eventually(t, "all children are recreated", there)
	n.kubectl(t, "label", kinds, "--all-namespaces", "-l", mine, mine+"-")
	eventually(t, "all children have their label again", there)

	empty := t.TempDir()
	n.emptied(t, empty)
	n.folders(t, empty)
	eventually(t, "no child is left", func() error {
		if left := n.kubectl(t, "get", kinds, "--all-namespaces", "-l", mine, "-o", "name"); left != "" {
			return fmt.Errorf("there are %s", left)
		}
		return nil
	})
	n.folders(t, repository)
	eventually(t, "all children are there again", there)
	n.converge(t)
}

// staying counts what the operator made of some kinds and is not on its way out,
// as Pods are for a while.
func (n *realNode) staying(t *testing.T, kinds string) (count int) {
	t.Helper()
	all := n.kubectl(t, "get", kinds, "--all-namespaces", "-l", mine, "-o",
		`jsonpath={range .items[*]}{.metadata.name}{" "}{.metadata.deletionTimestamp}{"\n"}{end}`)
	for line := range strings.Lines(all) {
		if len(strings.Fields(line)) == 1 {
			count++
		}
	}
	return count
}

// emptied writes a root with the shipped kinds that make nothing for any
// resource, though they could.
func (n *realNode) emptied(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{"crds", "templates", "schemas"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(repository, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range everyKind {
		files, err := filepath.Glob(filepath.Join(root, "templates", kind, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			switch filepath.Base(file) {
			case "kind.yaml", "config.yaml", "status.yaml":
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, file, `{{- if eq .metadata.name "nobody" }}`+"\n"+string(text)+"{{- end }}\n")
		}
		write(t, filepath.Join(root, "templates", kind, "kind.yaml"), "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nallowEmpty: true\n")
	}
}

// folders gives the operator the folders of a root's shipped kinds; all the rest
// stays as the chart made it.
func (n *realNode) folders(t *testing.T, root string) {
	t.Helper()
	for _, kind := range everyKind {
		n.kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", n.written(t, n.pack(t, root, kind, "--include", "folder", "--no-lint")))
	}
}

// written is a file with a text.
func (n *realNode) written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	write(t, file, text)
	return file
}
