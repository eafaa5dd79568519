//go:build !operator

package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// TestManifestsOfShippedKinds: what the shipped kinds render, taken as
// manifests, becomes a kind that renders the same objects again.
func TestManifestsOfShippedKinds(t *testing.T) {
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	wants, err := filepath.Glob(filepath.Join(repo, "templates", "*", "tests", "*", "want.yaml"))
	if err != nil || len(wants) < 10 {
		t.Fatalf("there are only %d golden cases: %v", len(wants), err)
	}
	for _, want := range wants {
		data, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		parts := strings.Split(filepath.ToSlash(want), "/")
		t.Run(parts[len(parts)-4]+"/"+parts[len(parts)-2], func(t *testing.T) { again(t, data) })
	}
	examples, err := filepath.Glob(filepath.Join(repo, "examples", "*.yaml"))
	if err != nil || len(examples) < 5 {
		t.Fatalf("there are only %d examples: %v", len(examples), err)
	}
	for _, example := range examples {
		t.Run(filepath.Base(example), func(t *testing.T) {
			rendered := runs(t, "", "render", "--root", repo, example)
			if strings.TrimSpace(rendered) == "" {
				t.Skip("without a cluster it renders nothing")
			}
			again(t, []byte(rendered))
		})
	}
}

// TestManifestsOfAnApplication: a whole application becomes a kind. Its Secret
// and its own Namespace are left out, and a value that looks like a secret is
// asked for; everything else comes out again.
func TestManifestsOfAnApplication(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "manifests", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	said := runs(t, string(data), "new", "Shop", "--group", "example.com", "--from-manifests", "-")
	for _, note := range []string{"Namespace shop: it is left out", "Secret shop-db: its data", "API_TOKEN looks like a secret",
		"PersistentVolumeClaim shop-uploads: it is kept", "ClusterRoleBinding shop.shop-metrics: it lives in no namespace"} {
		if !strings.Contains(said, note) {
			t.Errorf("jacquard new does not say %q:\n%s", note, said)
		}
	}
	findsWhatWasSaid(t, said, "lint")
	var want []string
	for _, object := range objectsOf(t, strings.ReplaceAll(string(data), "abc123", "change-me")) {
		if !strings.Contains(object, "\nkind: Namespace\n") && !strings.Contains(object, "\nkind: Secret\n") {
			want = append(want, strings.Replace(object, "  name: shop-metrics\n  namespace: default\n", "  name: shop.shop-metrics\n", 1))
		}
	}
	got := objectsOf(t, runs(t, "", "render", "examples/shops.example.com.yaml"))
	for i, object := range got {
		got[i] = strings.Replace(object, "  name: shop.shop-metrics\n  namespace: default\n", "  name: shop.shop-metrics\n", 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other objects come out (-manifests +rendered):\n%s", diff)
	}
	everything(t, func(file, text string) {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "abc123") {
			t.Errorf("%s holds a secret", file)
		}
	})
	another := runs(t, "", "render", "templates/shops.example.com/tests/another/resource.yaml")
	for _, bad := range []string{"\n  name: shop\n", "shop-db.", "app: shop-db"} {
		if strings.Contains(another, bad) {
			t.Errorf("another Shop still says %q:\n%s", bad, another)
		}
	}
}

// everything calls f for each file below the present directory.
func everything(t *testing.T, f func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		f(file, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// again makes a kind of manifests and compares what its example renders.
func again(t *testing.T, manifests []byte) {
	t.Helper()
	t.Chdir(t.TempDir())
	made := runs(t, string(manifests), "new", "Copy", "--group", "example.com", "--from-manifests", "-")
	if said := runs(t, "", "test"); !strings.Contains(said, "ok   copies.example.com/another") {
		t.Errorf("jacquard test says:\n%s", said)
	}
	findsWhatWasSaid(t, made, "lint")
	rendered := runs(t, "", "render", "examples/copies.example.com.yaml")
	if diff := cmp.Diff(objectsOf(t, string(manifests)), objectsOf(t, rendered)); diff != "" {
		t.Errorf("other objects come out (-manifests +rendered):\n%s", diff)
	}
}

// objectsOf are the objects of a text by what they are, without what a file
// says of their namespace and policy.
func objectsOf(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		file, err := catalog.Read("objects", []byte(document))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range file.Objects {
			meta, _ := o.Object["metadata"].(map[string]any)
			if meta["namespace"] == nil {
				meta["namespace"] = "default"
			}
			notes, _ := meta["annotations"].(map[string]any)
			for key := range notes {
				if strings.HasPrefix(key, "jacquard.dev/") {
					delete(notes, key)
				}
			}
			if notes != nil && len(notes) == 0 {
				delete(meta, "annotations")
			}
			text, err := yaml.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	slices.Sort(all)
	return all
}

// runs runs a command line that must succeed, and returns what it prints.
func runs(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if code := Main(args, strings.NewReader(stdin), &out, &trouble); code != 0 {
		t.Fatalf("jacquard %s: exit %d:\n%s%s", strings.Join(args, " "), code, out.String(), trouble.String())
	}
	return out.String()
}
