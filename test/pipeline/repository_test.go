package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// base makes the repository of testdata/repository.txtar, with all in one commit of
// the branch main, and checks out a branch for the change.
func base(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, archive(t, "repository").Files)
	git(t, dir, "git init --quiet --initial-branch main && "+commit+" && git checkout --quiet -b change")
	return dir
}

// commit commits all; whose commits they are does not matter.
const commit = "git add --all && git -c user.name=a -c user.email=a@example.com commit --quiet --message all"

func git(t *testing.T, dir, script string) {
	t.Helper()
	if out, code := bash(t, dir, script, map[string]string{"PATH": os.Getenv("PATH"), "HOME": t.TempDir()}); code != 0 {
		t.Fatalf("%s: %s", script, out)
	}
}

func archive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// write writes the files of a change; what a case wants is none of them.
func write(t *testing.T, dir string, files []txtar.File) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		var err error
		switch {
		case strings.HasPrefix(f.Name, wanted):
		case string(f.Data) == "(deleted)\n":
			err = os.Remove(name)
		default:
			if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
				err = os.WriteFile(name, f.Data, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wanted is where a case has what the action is to write.
const wanted = "want/"
