package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// TestOperatorRefusesNoMore: what the operator refuses when it loads a folder, the type
// checker refuses at the same place, in every case of testdata and in every folder of the
// repository. What only the commands refuse stands in testdata/commands.txt.
func TestOperatorRefusesNoMore(t *testing.T) {
	var commands strings.Builder
	cases, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := strings.CutPrefix(strings.TrimSuffix(file, ".txtar"), "testdata/")
		for _, text := range onlyCommands(t, unpack(t, archive)) {
			fmt.Fprintf(&commands, "%s: %s\n", name, text)
		}
	}
	for _, dir := range rootsIn(t, "../..") {
		for _, text := range onlyCommands(t, dir) {
			fmt.Fprintf(&commands, "%s: %s\n", strings.TrimPrefix(dir, "../../"), text)
		}
	}
	const golden = "testdata/commands.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(commands.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), commands.String()); diff != "" {
		t.Errorf("%s (-want +found, -update writes it):\n%s", golden, diff)
	}
}

// earlier is the last commit whose operator followed values when it loaded a folder.
const earlier = "a0f6fc7148ea44f044643c314423653dbed85b4b"

// TestFoldersKeepLoading: the operator refuses no folder of the earlier commit that the
// operator of that commit served, once what was renamed since then has its present name.
func TestFoldersKeepLoading(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "commit.tar")
	if err := gitIn("cat-file", "-e", earlier+"^{commit}").Run(); err != nil {
		why := "this clone has no commit " + earlier + ": `git fetch --unshallow` gets it"
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	for _, command := range []*exec.Cmd{gitIn("archive", "--output", tree, earlier), exec.Command("tar", "-xf", tree, "-C", dir)} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("running %v: %v: %s", command.Args, err, out)
		}
	}
	script := renamingScript(t)
	for _, root := range rootsIn(t, dir) {
		rename := exec.Command("sh", "-ec", script)
		rename.Dir = root
		if out, err := rename.CombinedOutput(); err != nil {
			t.Fatalf("renaming in %s: %v: %s", root, err, out)
		}
		onlyCommands(t, root)
	}
}

// renamingScript returns the commands of the changelog that rename what a folder has.
func renamingScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "**To rename what a folder has**")
	_, after, _ = strings.Cut(after, "```sh\n")
	script, _, found := strings.Cut(after, "```\n")
	if !found {
		t.Fatal("the changelog has no script that renames what a folder has")
	}
	return script
}

// gitIn is a command of git in the repository, whoever owns the clone.
func gitIn(args ...string) *exec.Cmd {
	return exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", "../.."}, args...)...)
}

// rootsIn are the directories of a repository that hold templates.
func rootsIn(t *testing.T, repository string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2, d.Name() == "node_modules":
			return fs.SkipDir
		case d.Name() == "templates":
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "crds")); err == nil {
				all = append(all, filepath.Dir(path))
			}
			return fs.SkipDir
		}
		return nil
	})
	if err != nil || len(all) < 5 {
		t.Fatalf("%d directories with templates: %v", len(all), err)
	}
	return all
}

// onlyCommands checks the folders of a directory as the operator does and as the commands
// do, and returns what only the commands refuse.
func onlyCommands(t *testing.T, dir string) (only []string) {
	t.Helper()
	loaded, err := catalog.Load([]string{dir})
	if err != nil {
		return nil // there is nothing to check
	}
	for _, name := range slices.Sorted(maps.Keys(loaded.CRDs)) {
		f, crd := loaded.Folder(name), loaded.CRDs[name]
		if f == nil {
			continue
		}
		_, operator := kind.Compile(f, crd)
		places := map[string]bool{}
		_, commands := kind.CompileWith(f, crd, func(k *kind.Kind) error {
			err := typecheck.Check(k)
			for _, one := range append(Findings(err), flowOf(loaded, k, schema.Root(k.Version)).Findings...) {
				places[one.Place.String()] = true
			}
			return errors.Join(err, errChecked) // so that the operator's own check adds nothing
		})
		for _, one := range Findings(commands) {
			places[one.Place.String()] = true
		}
		refused := map[string]bool{}
		for _, one := range Findings(operator) {
			refused[one.Place.String()] = true
			if !places[one.Place.String()] {
				t.Errorf("%s: only the operator refuses %v", dir, one)
			}
		}
		for _, one := range Findings(commands) {
			if !refused[one.Place.String()] && one.Text != errChecked.Error() {
				only = append(only, fmt.Sprintf("%s [%s]", strings.ReplaceAll(one.Error(), dir+"/", ""), one.Class))
			}
		}
	}
	return only
}

// errChecked is what a check returns that has found nothing.
var errChecked = errors.New("checked")
