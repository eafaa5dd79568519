package laws

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
)

const (
	patterns     = "docs/patterns.md"
	patternsRoot = "examples/patterns"
	fence        = "```"
)

var (
	patternFile  = regexp.MustCompile(`\]\(\.\./(examples/patterns/[^)]+)\)`)
	patternRoles = regexp.MustCompile("`jacquard rbac ([a-z]+)` prints")
)

// TestPatternsAreQuoted: each piece of YAML in docs/patterns.md is a run of whole
// lines of the file that the paragraph above it links to last, or of what the
// command that the paragraph names prints.
func TestPatternsAreQuoted(t *testing.T) {
	text := string(read(t, patterns))
	n := 0
	for {
		before, rest, found := strings.Cut(text, fence+"yaml\n")
		if !found {
			break
		}
		quoted, after, _ := strings.Cut(rest, fence)
		text = after
		n++
		paragraph := strings.TrimSpace(before[strings.LastIndex(strings.TrimSpace(before), "\n")+1:])
		source, whole := quotedFrom(t, paragraph)
		if source == "" {
			t.Errorf("%s: nothing says where this is quoted from:\n%s", patterns, quoted)
		} else if !strings.Contains("\n"+whole, "\n"+quoted) {
			t.Errorf("%s: %s does not say:\n%s", patterns, source, quoted)
		}
	}
	if n == 0 {
		t.Errorf("%s quotes nothing: this test looks in the wrong place", patterns)
	}
}

// quotedFrom is what a paragraph announces a quotation of, and its text.
func quotedFrom(t *testing.T, paragraph string) (source, text string) {
	t.Helper()
	if m := patternRoles.FindStringSubmatch(paragraph); m != nil {
		return "jacquard rbac " + m[1], jacquard(t, "rbac", m[1], "--root", patternsRoot)
	}
	if links := patternFile.FindAllStringSubmatch(paragraph, -1); len(links) > 0 {
		file := links[len(links)-1][1]
		return file, string(read(t, file))
	}
	return "", ""
}

// TestPatternsAreWhole: each kind of examples/patterns has an example, which is
// also the resource of a golden case that wants children, and docs/patterns.md
// links to its files.
func TestPatternsAreWhole(t *testing.T) {
	names := stems(t, patternsRoot+"/crds/*.yaml")
	if len(names) < 7 {
		t.Fatalf("%s has the CRDs %v: this test looks in the wrong place", patternsRoot, names)
	}
	text := string(read(t, patterns))
	for _, name := range names {
		folder, example := path.Join(patternsRoot, "templates", name), path.Join(patternsRoot, "examples", name+".yaml")
		for _, file := range []string{path.Join(patternsRoot, "crds", name+".yaml"), folder, example} {
			if !strings.Contains(text, "](../"+file+")") {
				t.Errorf("%s: does not link to %s", patterns, file)
			}
		}
		cluster := caseOf(t, folder, example)
		if cluster == "" {
			t.Errorf("%s: is the resource of no golden case of %s that wants children", example, folder)
		} else if out := jacquard(t, append([]string{"render", "--root", patternsRoot, example}, live(cluster)...)...); out == "" {
			t.Errorf("%s: renders nothing", example)
		}
	}
}

// caseOf is the golden case of a folder whose resource is the example and that
// wants children; "" if there is none.
func caseOf(t *testing.T, folder, example string) string {
	t.Helper()
	wants, err := filepath.Glob(folder + "/tests/*/want.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		dir := filepath.Dir(want)
		if len(read(t, want)) > 0 && bytes.Equal(read(t, filepath.Join(dir, "resource.yaml")), read(t, example)) {
			return dir
		}
	}
	return ""
}

// live are the flags that give a case's cluster.
func live(dir string) []string {
	if found, _ := filepath.Glob(dir + "/cluster.yaml"); len(found) > 0 {
		return []string{"--cluster-file", found[0]}
	}
	return nil
}

// jacquard runs a command that must succeed, and returns what it prints.
func jacquard(t *testing.T, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), &out, &trouble); code != 0 {
		t.Errorf("jacquard %s: exit %d: %s", strings.Join(args, " "), code, trouble.String())
	}
	return out.String()
}
