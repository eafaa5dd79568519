//go:build !operator

package cli

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNewLints: what jacquard new makes of CRDs that lack what the engine needs
// has no findings, and is packed.
func TestNewLints(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "crds", "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("there are only %d CRDs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			crd, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			said := runs(t, "", "new", "--from-crd", crd)
			sound(t, said)
		})
	}
}

// TestNewOfManifestsLints: so has what it makes of manifests.
func TestNewOfManifestsLints(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "manifests", "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("there are only %d files of manifests: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			manifests, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			sound(t, runs(t, "", "new", "Thing", "--group", "example.com", "--from-manifests", manifests))
		})
	}
}

// placedLine is a finding as lint and pack print it.
var placedLine = regexp.MustCompile(`(?m)^(?:jacquard: )?(\S+:\d+:\d+: .*?)(?: \([a-z-]+\))?$`)

// sound lints, tests and packs the kind of the present directory. What lint
// finds, since pack refuses it, jacquard new has said before.
func sound(t *testing.T, said string) {
	t.Helper()
	crds, err := filepath.Glob(filepath.Join("crds", "*.yaml"))
	if err != nil || len(crds) != 1 {
		t.Fatalf("there are %d CRDs: %v", len(crds), err)
	}
	name := strings.TrimSuffix(filepath.Base(crds[0]), ".yaml")
	for _, args := range [][]string{{"lint"}, {"test"}, {"pack", name}} {
		findsWhatWasSaid(t, said, args...)
	}
}

// findsWhatWasSaid runs a command that finds nothing but what jacquard new has
// said, which is only what no folder could mend: a kind whose CRD nobody has.
func findsWhatWasSaid(t *testing.T, said string, args ...string) {
	t.Helper()
	var out, trouble bytes.Buffer
	code := Main(args, strings.NewReader(""), &out, &trouble)
	found := placedLine.FindAllStringSubmatch(out.String()+trouble.String(), -1)
	for _, line := range found {
		if !strings.Contains(line[1], "it is not known by which name the API serves") {
			t.Errorf("what jacquard new wrote has a finding: %s", line[0])
		}
	}
	if len(found) > 0 && !slices.ContainsFunc(found, func(line []string) bool { return !strings.Contains(said, line[1]) }) {
		return
	}
	if code != 0 {
		t.Errorf("jacquard %s: exit %d:\n%s%s\njacquard new said:\n%s", strings.Join(args, " "), code, out.String(), trouble.String(), said)
	}
}
