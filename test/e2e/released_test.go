package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// released is the version of the release that make e2e makes, for this machine
// alone.
const released = "v0.0.0-e2e"

// release is a file of this release.
func release(t *testing.T, name string) string {
	t.Helper()
	file := bin(filepath.Join("release", name))
	if _, err := os.Stat(file); err != nil {
		absent(t, fmt.Sprintf("there is no %s: make e2e", file), true)
	}
	return file
}

// TestReleasedTwice: make release twice has the same checksums.
func TestReleasedTwice(t *testing.T) {
	release(t, "SHA256SUMS") // all that it takes is compiled
	var sums [2]string
	for i := range sums {
		dir := filepath.Join(t.TempDir(), "release")
		cmd := exec.Command("make", "--no-print-directory", "-C", repository, "release", "VERSION="+released, "PLATFORMS=linux/"+runtime.GOARCH,
			"RELEASE="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		sums[i] = read(t, filepath.Join(dir, "SHA256SUMS"))
	}
	if sums[0] != sums[1] {
		t.Errorf("the checksums were\n%s\nand are\n%s", sums[0], sums[1])
	}
}

// TestReleasedBinary: the binary in the archive tells the version, and the lists
// of what is in it and in the image name every module of it.
func TestReleasedBinary(t *testing.T) {
	dir, stem := t.TempDir(), "jacquard_linux_"+runtime.GOARCH
	if out, err := exec.Command("tar", "-xzf", release(t, stem+".tar.gz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	binary := filepath.Join(dir, "jacquard")
	if out, err := exec.Command(binary, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "jacquard "+released+" ") {
		t.Errorf("jacquard version says %q, %v", out, err)
	}
	for name, modules := range map[string][]string{
		stem + ".cdx.json":        modulesOf(t, exec.Command("go", "version", "-m", binary), "dep"),
		"jacquard_image.cdx.json": modulesOf(t, operatorModules(), "module"),
	} {
		var list struct {
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal([]byte(read(t, release(t, name))), &list); err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, c := range list.Components {
			named[c.Name+" "+c.Version] = true
		}
		for _, m := range modules {
			if !named[m] {
				t.Errorf("%s does not name %s", name, m)
			}
		}
		if len(modules) < 50 {
			t.Errorf("%s: only %d modules: this test looks in the wrong place", name, len(modules))
		}
	}
}

// operatorModules lists the modules of the image's binary, which has only the commands run and
// version.
func operatorModules() *exec.Cmd {
	list := exec.Command("go", "list", "-deps", "-tags", "operator",
		"-f", "{{with .Module}}{{if not .Main}}module {{.Path}} {{.Version}}{{end}}{{end}}", ".")
	list.Dir = repository
	return list
}

// modulesOf returns "PATH VERSION" of the lines that begin with a word.
func modulesOf(t *testing.T, list *exec.Cmd, word string) (all []string) {
	t.Helper()
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) >= 3 && words[0] == word {
			all = append(all, words[1]+" "+words[2])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestReleased: the chart of a release, as it is, runs the image of the release,
// which tells the same version.
func TestReleased(t *testing.T) {
	chart, archive := release(t, "jacquard-"+released[1:]+".tgz"), release(t, "jacquard_image.tar")
	n := node(t)
	if out, err := exec.Command(bin("devcluster"), "load", "--dir", n.dir, archive).CombinedOutput(); err != nil {
		t.Fatalf("loading %s: %v\n%s", archive, err, out)
	}
	n.helm(t, "helm", "install", "released", chart, "--namespace", "released", "--create-namespace", "--wait", "--timeout", patience.String())
	defer n.helm(t, "helm", "uninstall", "released", "--namespace", "released", "--wait")
	found, err := n.pods("released", "app.kubernetes.io/name=jacquard")
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has %d Pods, %v", len(found), err)
	}
	image, err := imageName(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := found[0].ready(); err != nil || found[0].Status.ContainerStatuses[0].Image != image || !strings.HasSuffix(image, ":"+released) {
		t.Errorf("the Pod runs %+v, and the archive holds %s (%v)", found[0].Status.ContainerStatuses, image, err)
	}
	n.kubectl(t, "run", "tells", "--namespace", "released", "--image", image, "--image-pull-policy=Never", "--restart=Never", "--", "version")
	eventually(t, "the image tells its version", func() error {
		out, err := n.try(admin, "", "kubectl", "logs", "tells", "--namespace", "released")
		if err == nil && !strings.HasPrefix(out, "jacquard "+released+" ") {
			err = fmt.Errorf("it says %q", out)
		}
		return err
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
