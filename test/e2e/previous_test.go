package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// previous is the chart of the commit before this one, in a folder, and the
// values that name that commit's image, which is built and loaded. Where there
// is no such commit, as in a shallow clone, or where its kinds make something
// else, so that children must be written, it is this chart under an earlier
// version, and other Pods.
func (n *realNode) previous(t *testing.T) (chart string, values []string) {
	t.Helper()
	dir := t.TempDir()
	if why := unlike(); why != "" {
		t.Logf("upgrading from this chart under an earlier version: %s", why)
		return earlier(t, dir), []string{"--set-string", "podAnnotations.version=earlier"}
	}
	file := filepath.Join(dir, "commit.tar")
	for _, command := range [][]string{
		git("archive", "--output", file, "HEAD~1"),
		{"tar", "-xf", file, "-C", dir},
		{"make", "--no-print-directory", "-C", dir, "image", "VERSION=previous"},
		{bin("devcluster"), "load", "--dir", n.dir, filepath.Join(dir, ".bin", "image", "jacquard.tar")},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("running %v: %v: %s", command, err, out)
		}
	}
	return filepath.Join(dir, "charts", "jacquard"), []string{"--set-string", "image.tag=previous"}
}

// unlike says why the commit before this one is not what one upgrades from; ""
// if it is.
func unlike() string {
	is := git("cat-file", "-e", "HEAD~1:charts/jacquard/Chart.yaml")
	if err := exec.Command(is[0], is[1:]...).Run(); err != nil {
		return "there is no chart in the commit before this one, or no such commit in this clone"
	}
	same := git("diff", "--quiet", "HEAD~1", "--", "templates", "crds")
	if err := exec.Command(same[0], same[1:]...).Run(); err != nil {
		return "this commit changes what the kinds make"
	}
	return ""
}

// git is a command of git in the repository, whoever owns that.
func git(args ...string) []string {
	return append([]string{"git", "-c", "safe.directory=*", "-C", repository}, args...)
}

// earlier copies this chart, and gives the copy an earlier version.
func earlier(t *testing.T, dir string) string {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(thisChart)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`(?m)^version: .*$`).ReplaceAllString(string(text), "version: 0.0.1")
	if other == string(text) {
		t.Fatalf("%s has no version to replace", file)
	}
	write(t, file, other)
	return dir
}
