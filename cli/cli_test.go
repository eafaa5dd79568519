//go:build !operator

package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run the real command line as "jacquard", and as a plugin
// of kubectl.
func TestMain(m *testing.M) {
	run := func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"jacquard": run, plugin: run})
}

// TestScripts runs testdata/script. Each script works in a root of its own that
// begins as a copy of testdata/root, one sound kind. $REPO is the repository.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repo)
			return addMissing(env.WorkDir, os.DirFS("testdata/root"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "bom": bom},
	})
}

// exits runs jacquard and checks its exit code: exits 1 render app.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: exits CODE [ARGUMENT…]")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec("jacquard", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("running jacquard: %v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("jacquard exited with %d, want %s", code, args[0])
	}
}

// bom puts a byte order mark before a file: bom app.yaml.
func bom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: bom FILE")
	}
	file := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(file, []byte("\uFEFF"+ts.ReadFile(args[0])), 0o644))
}

// addMissing copies the files that the script does not bring itself.
func addMissing(dir string, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, name)
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(to, 0o755))
		}
		if _, err := os.Stat(to); err == nil {
			return nil
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
