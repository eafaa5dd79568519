package laws

import (
	"bytes"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/cli"
)

// shipped reads the CRDs of the kinds that ship.
func shipped(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range stems(t, "crds/*.yaml") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(read(t, "crds/"+name+".yaml"), crd); err != nil {
			t.Fatal(err)
		}
		if crd.Name != name {
			t.Errorf("crds/%s.yaml: the CRD in it is named %s", name, crd.Name)
		}
		all = append(all, crd)
	}
	if len(all) == 0 {
		t.Fatal("no kind ships: this test looks in the wrong place")
	}
	return all
}

// stems are the names of the files that match, without folder and suffix.
func stems(t *testing.T, pattern string) []string {
	t.Helper()
	matches, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range matches {
		matches[i] = strings.TrimSuffix(filepath.Base(m), ".yaml")
	}
	return matches
}

// TestEveryKindIsWhole: CRD, folder, example and golden cases bear one name.
func TestEveryKindIsWhole(t *testing.T) {
	folders := slices.DeleteFunc(stems(t, "templates/*"), func(name string) bool { return strings.HasPrefix(name, "_") })
	crds, examples := stems(t, "crds/*.yaml"), stems(t, "examples/*.yaml")
	names := slices.Concat(folders, crds, examples)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(crds, name) {
			t.Errorf("%s has no crds/%s.yaml", name, name)
		}
		if !slices.Contains(folders, name) {
			t.Errorf("%s has no templates/%s/", name, name)
		}
		if !slices.Contains(examples, name) {
			t.Errorf("%s has no examples/%s.yaml", name, name)
		}
		if cases(t, name) == 0 {
			t.Errorf("%s has no golden case that renders children: templates/%s/tests/<case>/{resource.yaml,want.yaml}", name, name)
		}
	}
}

// cases counts the golden cases that want children.
func cases(t *testing.T, name string) int {
	t.Helper()
	n := 0
	for _, dir := range stems(t, "templates/"+name+"/tests/*") {
		dir = path.Join("templates", name, "tests", dir)
		step := ""
		if _, err := os.Stat(dir + "/1-resource.yaml"); err == nil {
			step = "1-"
		}
		_, resource := os.Stat(dir + "/" + step + "resource.yaml")
		_, wanted := os.Stat(dir + "/" + step + "want.yaml")
		_, refused := os.Stat(dir + "/" + step + "want-error.txt")
		switch {
		case resource != nil:
			t.Errorf("%s: a golden case needs a resource.yaml", dir)
		case wanted == nil:
			n++
		case refused != nil:
			t.Errorf("%s: a golden case needs a want.yaml or a want-error.txt", dir)
		}
	}
	return n
}

// roots are the folders that hold kinds: this repository, and the examples.
func roots(t *testing.T) []string {
	t.Helper()
	examples, err := filepath.Glob("examples/kinds/*")
	if err != nil || len(examples) == 0 {
		t.Fatalf("examples/kinds holds %v (%v): this test looks in the wrong place", examples, err)
	}
	return append([]string{".", patternsRoot}, examples...)
}

// TestEveryBranchIsCovered: the golden cases pass and take every branch of the
// templates both ways.
func TestEveryBranchIsCovered(t *testing.T) {
	for _, root := range roots(t) {
		var out, trouble bytes.Buffer
		if code := cli.Main([]string{"test", "--coverage=100", "--root", root}, strings.NewReader(""), &out, &trouble); code != 0 {
			t.Errorf("jacquard test --coverage=100 --root %s: exit %d: %s%s", root, code, trouble.String(), out.String())
		}
		for _, name := range stems(t, root+"/crds/*.yaml") {
			if !strings.Contains(out.String(), "ok   "+name+": ") {
				t.Errorf("nothing is said of what is covered of %s", name)
			}
		}
	}
}

// TestNothingToFind: lint finds nothing in what people copy.
func TestNothingToFind(t *testing.T) {
	for _, root := range append(roots(t), "examples/embedded", "author/try/page", "devcluster/demo/site") {
		var out, trouble bytes.Buffer
		if code := cli.Main([]string{"lint", "--root", root}, strings.NewReader(""), &out, &trouble); code != 0 || out.Len() > 0 {
			t.Errorf("jacquard lint --root %s: exit %d: %s%s", root, code, trouble.String(), out.String())
		}
		if !strings.Contains(trouble.String(), "no findings") {
			t.Errorf("jacquard lint --root %s looked at nothing: %s", root, trouble.String())
		}
	}
}

// A taboo is how one kind could be named, and where that counts.
type taboo struct {
	word *regexp.Regexp
	// texts: only string literals count, since the word is an everyday one.
	texts bool
}

func word(s string) *regexp.Regexp { return regexp.MustCompile(`\b` + regexp.QuoteMeta(s) + `\b`) }

// taboos are the names of the shipped kinds. Groups of Kubernetes itself are
// nobody's name.
func taboos(crds []*apiextensionsv1.CustomResourceDefinition) []taboo {
	var all []taboo
	for _, crd := range crds {
		names := crd.Spec.Names
		all = append(all, taboo{word: word(crd.Name)}, taboo{word: word(crd.Spec.Group)}, taboo{word: word(names.Kind)},
			taboo{word: word(names.ListKind)})
		for _, name := range append([]string{names.Plural, names.Singular}, names.ShortNames...) {
			if name != "apps" {
				all = append(all, taboo{word(name), true})
			}
		}
	}
	return all
}

// TestNoKindInGo: a kind is data, so no Go code but tests names one.
func TestNoKindInGo(t *testing.T) {
	forbidden := taboos(shipped(t))
	for _, f := range goFiles(t) {
		// all of test/e2e is tests; bench has one kind to compare
		if f.test() || strings.HasPrefix(f.path, "test/e2e/") || strings.HasPrefix(f.path, "bench/") {
			continue
		}
		var texts []string
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				texts = append(texts, lit.Value)
			}
			_, isImport := n.(*ast.ImportSpec)
			return !isImport
		})
		// Labels of Kubernetes itself are nobody's name either.
		literals := strings.ReplaceAll(strings.Join(texts, "\n"), "app.kubernetes.io/", "")
		for _, no := range forbidden {
			in := f.text
			if no.texts {
				in = literals
			}
			if found := no.word.FindString(in); found != "" {
				t.Errorf("%s: names %s, which is a kind and so belongs into data", f.path, found)
			}
		}
	}
}
