package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shipped loads the repository itself.
func shipped(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load([]string{"../.."})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Faults()...); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadPlaces(t *testing.T) {
	text := "\uFEFF# first\r\n---\r\nkind: Pod\r\napiVersion: v1\r\nspec:\r\n  containers:\r\n  - name: a\r\n    args: [x, 9007199254740993, 1.5, true]\r\n--- # second\r\n\r\n{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Node}]}\r\n"
	f, err := Read("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Objects) != 2 {
		t.Fatalf("%d objects, want 2", len(f.Objects))
	}
	args, _, _ := unstructured.NestedSlice(f.Objects[0].Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any), "args")
	if diff := cmp.Diff([]any{"x", int64(9007199254740993), 1.5, true}, args); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{
		"":                              "x.yaml:3:1",
		"kind":                          "x.yaml:3:1",
		"spec.containers[0].args[1]":    "x.yaml:8:15",
		"spec.containers[0].image":      "x.yaml:7:5",
		"spec.containers[7].name":       "x.yaml:6:3",
		"metadata.annotations[a.b/c].d": "x.yaml:3:1",
	} {
		if got := f.Objects[0].Place(path); got != want {
			t.Errorf("Place(%q) = %s, want %s", path, got, want)
		}
	}
	if got := f.Objects[1].Place("kind"); got != "x.yaml:11:55" {
		t.Errorf("the item of the List is at %s", got)
	}
}

func TestReadRefuses(t *testing.T) {
	head := "apiVersion: v1\nkind: Pod\n"
	for name, c := range map[string]struct{ text, want string }{
		"tab":                 {head + "spec:\n\ta: b\n", "x.yaml:4: "},
		"tab in second":       {head + "---\n" + head + "spec:\n\ta: b\n", "x.yaml:7: "},
		"duplicate":           {head + "spec: {a: 1, b: {c: 1, c: 2}}\n", "x.yaml:3:24: the key \"c\" occurs twice"},
		"scalar":              {"hello\n", "x.yaml:1:1: this is no object"},
		"no kind":             {"apiVersion: v1\n", "x.yaml:1:1: kind must be a text"},
		"kind is no text":     {"apiVersion: v1\nkind: 5\n", "x.yaml:2:1: kind must be a text"},
		"bad item":            {"apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n", "x.yaml:3:9: apiVersion must be a text"},
		"infinity":            {head + "a: .inf\n", "x.yaml:"},
		"text after dashes":   {head + "--- a: b\n", "x.yaml:3: "},
		"unknown alias":       {head + "a: *b\n", "x.yaml:"},
		"duplicate in JSON":   {"{\"apiVersion\": \"v1\", \"kind\": \"a\\/b\", \"kind\": \"Pod\"}", "x.yaml:1:38: the key \"kind\" occurs twice"},
		"broken JSON":         {"{\"apiVersion\": \"v1\",\n\"kind\": }{", "x.yaml:"},
		"both of two are bad": {"a: b\n---\nkind: Pod\n", "x.yaml:1:1: apiVersion must be a text\nx.yaml:3:1: apiVersion must be a text"},
	} {
		_, err := Read("x.yaml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestBuiltInKinds(t *testing.T) {
	c := shipped(t)
	cluster, err := c.Cluster(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	world := cluster.For(c.Kinds["apps.app.huolala.cn"], &unstructured.Unstructured{})
	for api, want := range map[[2]string]bool{
		{"v1", "Pod"}: true, {"apps/v1", "Deployment"}: true, {"networking.k8s.io/v1", "Ingress"}: true,
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition"}: true,
		{"apiregistration.k8s.io/v1", "APIService"}:             true,
		{"app.huolala.cn/v1", "App"}:                            true,
		{"route.openshift.io/v1", "Route"}:                      true,
		{"v1", "PodList"}:                                       false,
		{"v1", "ListOptions"}:                                   false,
		{"v1", "Deployment"}:                                    false,
		{"apps/v1beta1", "Deployment"}:                          false,
		{"extensions/v1beta1", "Ingress"}:                       false,
		{"policy/v1beta1", "PodSecurityPolicy"}:                 false,
		{"app.huolala.cn/v2", "App"}:                            false,
		{"example.com/v1", "Absent"}:                            false,
	} {
		got, err := world.HasAPI(api[0], api[1])
		if err != nil || got != want {
			t.Errorf("hasAPI %q %q = %v, %v", api[0], api[1], got, err)
		}
	}
	if _, err := world.HasAPI("a/b/c", "D"); err == nil {
		t.Error("an apiVersion with two slashes is no error")
	}
}

// TestBrokenHurtsNobody breaks each shipped kind in turn: the others load.
func TestBrokenHurtsNobody(t *testing.T) {
	for name := range shipped(t).Kinds {
		dir := t.TempDir()
		for _, part := range []string{"crds", "templates", "schemas"} {
			if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../..", part))); err != nil {
				t.Fatal(err)
			}
		}
		status := filepath.Join(dir, "templates", name, "status.yaml")
		if err := os.WriteFile(status, []byte("a: {{ .spec.absent }}\nb: {{ if }}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Broken[name]; err == nil || !strings.HasPrefix(err.Error(), status+":2:") {
			t.Errorf("%s: broken is %v", name, err)
		}
		if len(c.Broken) != 1 || len(c.Kinds) != len(c.CRDs)-1 {
			t.Errorf("%s: it broke others: %v", name, c.Broken)
		}
	}
}

// TestAdmitConverts reads a resource in another served version than the one
// that templates see.
func TestAdmitConverts(t *testing.T) {
	c, err := Load([]string{"../../cli/testdata/root"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read("x.yaml", []byte("apiVersion: example.com/v1alpha1\nkind: App\nmetadata: {name: a, generation: 7}\nspec: {image: b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	found, rest, err := c.Resources(f.Objects)
	if err != nil || len(found) != 1 || len(rest) != 0 {
		t.Fatalf("%v, %v, %v", found, rest, err)
	}
	want := map[string]any{
		"apiVersion": "example.com/v1", "kind": "App",
		"metadata": map[string]any{"name": "a", "namespace": "default", "generation": int64(7), "uid": standInUID},
		"spec":     map[string]any{"image": "b", "replicas": int64(1)},
	}
	if diff := cmp.Diff(want, found[0].Object.Object); diff != "" {
		t.Error(diff)
	}
	if found[0].String() != "App default/a" {
		t.Error(found[0])
	}
	if _, changed := f.Objects[0].Object["spec"].(map[string]any)["replicas"]; changed {
		t.Error("the object of the file was changed")
	}
}
