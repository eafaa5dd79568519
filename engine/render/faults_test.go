package render_test

import (
	"context"
	"encoding/json"
	"fmt"
	"k8s.io/apimachinery/pkg/labels"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

const things = "things.example.com"

// configMap is the head of a child of which only the rest matters.
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"

// nowhere is a cluster in which nothing is.
type nowhere struct{}

func (nowhere) HasAPI(string, string) (bool, error) { return false, nil }
func (nowhere) Children(string) ([]any, error)      { return nil, nil }

// compile compiles a folder of the kind Thing from its files.
func compile(t testing.TB, files map[string]string) (*kind.Kind, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + things + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse(things+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{}
	for name, text := range files {
		root["templates/"+things+"/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	contents, err := folder.FromFS(root, "").Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := contents.Broken[things]; err != nil {
		return nil, err
	}
	return kind.Compile(contents.Folders[things], crd)
}

func thing(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "spec": spec,
		"metadata": map[string]any{"name": "web", "namespace": "default", "uid": "u"},
	}}
}

func renderFile(t testing.TB, text string, spec map[string]any) ([]render.Child, error) {
	t.Helper()
	k, err := compile(t, map[string]string{"x.yaml": text})
	if err != nil {
		return nil, err
	}
	r, err := render.Children(context.Background(), k, thing(spec), nowhere{})
	if err != nil {
		return nil, err
	}
	return r.Children, nil
}

// TestInput is about what authors write wrongly, and what they may write.
func TestInput(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"invalid YAML", configMap + "data: [", "x.yaml:5:"},
		{"a tab", configMap + "data:\n\ta: b", "indented with blanks, never tabs"},
		{"a key twice", configMap + "data:\n  a: b\n  a: c", `x.yaml:7:3: a: c: the key "a" stands here and on line 6`},
		{"a key twice by number", configMap + "data:\n  1: b\n  \"1\": c", "stands here and on line 6"},
		{"an alias", configMap + "data: &a\n  b: *a", "YAML"},
		{"deep nesting", configMap + "data: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "x.yaml:"},
		{"too large", configMap + "data: {a: 1e400}", "the number 1e400 is too large"},
		{"NO", configMap + "data: {a: NO}", "quote it"},
		{"beyond 64 bits", configMap + "data: {a: 9223372036854775808}", "too large"},
		{"BOM", "\uFEFF" + configMap, ""},
		{"CRLF", strings.ReplaceAll(configMap+"data:\n  a: |\n    b\n    c\n", "\n", "\r\n"), ""},
		{"octals", configMap + "data: {a: 0644}", ""},
		{"generateName", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: x-",
			"x.yaml:4:17: generateName would make a new object every time"},
		{"no kind", "apiVersion: v1\nmetadata:\n  name: x", "apiVersion without a literal kind"},
		{"no apiVersion", "kind: ConfigMap\nmetadata:\n  name: x", "kind without a literal apiVersion"},
		{"neither", "metadata:\n  name: x", "the document has no apiVersion"},
		{"no name", "apiVersion: v1\nkind: ConfigMap\ndata: {}", "ConfigMap has no metadata.name"},
		{"an absent name", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .spec.name }}", "ConfigMap has no metadata.name"},
		{"a kind out of a value", "apiVersion: v1\nkind: {{ .spec.free.kind }}\nmetadata:\n  name: x", "apiVersion without a literal kind"},
		{"its own kind", "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x", "may not create its own kind"},
		{"its own kind of another version", "apiVersion: example.com/v2\nkind: Thing\nmetadata:\n  name: x", "may not create its own kind"},
		{"a List", "apiVersion: v1\nkind: List\nitems: []", "a List is not allowed"},
		{"a ConfigMapList", "apiVersion: v1\nkind: ConfigMapList\nmetadata: {name: x}\nitems: [{a: 1}]", "a List is not allowed"},
		{"cluster-scoped", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x", "Namespace is cluster-scoped"},
		{"another namespace", configMap + "  namespace: other", "x.yaml:5:14: ConfigMap is in another namespace"},
		{"a namespace out of a value", configMap + "  namespace: {{ .spec.free.ns }}", "ConfigMap is in another namespace"},
		{"its own namespace", configMap + "  namespace: {{ .metadata.namespace }}", ""},
		{"the same twice", configMap + "---\n" + configMap, "ConfigMap of this name is rendered twice: here and at "},
		{"an invalid name", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: A_b", "x.yaml:4:9: metadata.name is no valid name"},
		{"status", configMap + "status: {a: 1}", "status belongs to the cluster"},
		{"labels that are numbers", configMap + "  labels: {b: 1, a: 2}", "a value in metadata.labels must be a text: quote it"},
		{"a label of ours", configMap + "  labels: {jacquard.dev/owner-uid: x}", "the label jacquard.dev/owner-uid is written by the engine"},
		{"an unknown annotation of ours", configMap + "  annotations: {jacquard.dev/nope: x}", "there is no annotation jacquard.dev/nope"},
		{"an undeclared field", configMap + "data: {a: {{ .spec.nmae }}}", "Thing v1 has no field spec.nmae; did you mean spec.name?"},
		{"a variable set again", "{{ $o := .spec.optional }}{{ if .spec.name }}{{ $o = dict \"zzz\" 1 }}{{ end }}\n" + configMap +
			"data: {a: {{ $o.zzz }}, b: 1}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			children, err := renderFile(t, tt.text, map[string]any{"free": map[string]any{"ns": "c4n4ry", "kind": "c4n4ry"}})
			switch {
			case err == nil && tt.want != "":
				t.Errorf("no error: %v", children)
			case err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "c4n4ry"):
				t.Errorf("a value is in %v", err)
			}
		})
	}
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "ownerReferences",
		"finalizers", "managedFields", "selfLink"} {
		for _, value := range []string{"x", "{{ .spec.name }}"} {
			_, err := renderFile(t, configMap+"  "+field+": "+value, nil)
			if want := "metadata." + field + " belongs to the cluster"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: got %v", field, value, err)
			}
		}
	}
}

// TestResources is about what resources hold and leave out.
func TestResources(t *testing.T) {
	many := make([]any, 10000)
	for i := range many {
		many[i] = map[string]any{"name": fmt.Sprint("n", i), "size": int64(i)}
	}
	body := configMap +
		"data:\n  t: {{ .spec.optional.deep.text }}\n  r: {{ .spec.replicas }}\n  l: {{ .spec.labels }}\n  i: {{ .spec.items }}\n  z: 1\n"
	for _, tt := range []struct {
		name, text string
		spec       map[string]any
		want       string // the data, or the error
	}{
		{"no spec", body, nil, `{"z":1}`},
		{"objects absent", body, map[string]any{}, `{"z":1}`},
		{"explicit null", body, map[string]any{"optional": nil, "replicas": nil, "labels": nil, "items": nil}, `{"z":1}`},
		{"null inside", body, map[string]any{"optional": map[string]any{"deep": nil}}, `{"z":1}`},
		{"empty", body, map[string]any{"labels": map[string]any{}, "items": []any{}}, `{"i":[],"l":{},"z":1}`},
		{"a text for a map", configMap + "data: {a: {{ .spec.free.a.b }}}", map[string]any{"free": map[string]any{"a": "c4n4ry"}},
			"a string has no field b"},
		{"a map for a text", configMap + "data: {a: x{{ .spec.free.a }}}",
			map[string]any{"free": map[string]any{"a": map[string]any{"c4n4ry": "c4n4ry"}}}, "the value is a map"},
		{"a number for a list", configMap + "data:\n{{- range .spec.free.a }}\n  a: 1\n{{- end }}",
			map[string]any{"free": map[string]any{"a": 1.5}}, "range needs a list"},
		{"a text for a number", configMap + "data: {a: {{ add 1 .spec.free.a }}}", map[string]any{"free": map[string]any{"a": "c4n4ry"}},
			"is text that is not a 64-bit integer"},
		{"a large list",
			configMap + "data:\n  a:\n  {{- range .spec.items }}\n  - {{ .name }}-{{ .size }}\n  {{- end }}\n  b: {{ len .spec.items }}",
			map[string]any{"items": many}, `"n9999-9999"],"b":10000}`},
		{"a large list as it is", configMap + "data: {a: {{ .spec.items }}}", map[string]any{"items": many}, `{"name":"n9999","size":9999}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			children, err := renderFile(t, tt.text, tt.spec)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				data, _ := json.Marshal(children[0].Object.Object["data"])
				got = string(data)
			}
			if !strings.HasSuffix(got, tt.want) && (err == nil || !strings.Contains(got, tt.want)) || strings.Contains(got, "c4n4ry") {
				t.Errorf("got %.300s, want %s", got, tt.want)
			}
		})
	}
}

// TestSameEveryTime renders from many goroutines at once.
func TestSameEveryTime(t *testing.T) {
	spec := map[string]any{"labels": map[string]any{}, "free": map[string]any{}}
	for i := range 50 {
		spec["labels"].(map[string]any)[fmt.Sprint("l", i)] = fmt.Sprint(i)
		spec["free"].(map[string]any)[fmt.Sprint("jacquard.dev/", i)] = []any{i}
		spec["free"].(map[string]any)[fmt.Sprint("f", i)] = map[string]any{"a": int64(i), "b": nil}
	}
	for name, text := range map[string]string{
		"values": configMap + "data:\n  a: {{ .spec.labels }}\n  b: {{ keys .spec.labels }}\n  c: {{ values .spec.labels }}\n  d: {{ toJson .spec.labels | sha256sum }}\n  e: \"{{ range $k, $v := .spec.labels }}{{ $k }}={{ $v }},{{ end }}\"\n  f: |\n    {{- toYaml .spec.labels | nindent 4 }}\n  g: {{ print .spec.labels }}\n",
		"errors": configMap + "  labels: {a: 1, b: 2, c: 3, d: 4}\n  annotations: {a: 1, b: 2}\n---\n" + configMap +
			"  uid: x\n  finalizers: []\n  ownerReferences: []\n---\nspec: {{ .spec.free }}\n",
		"values that are refused": configMap + "selector: {{ .spec.free }}",
	} {
		t.Run(name, func(t *testing.T) {
			k, err := compile(t, map[string]string{"x.yaml": text, "y.yaml": strings.ReplaceAll(text, "name: x", "name: y")})
			if err != nil {
				t.Fatal(err)
			}
			once := func() string {
				r, err := render.Children(context.Background(), k, thing(spec), nowhere{})
				if err != nil {
					return err.Error()
				}
				data, _ := json.Marshal([]any{r.Children[0].Object, r.Children[1].Object})
				return string(data)
			}
			want := once()
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 50 {
						if got := once(); got != want {
							t.Errorf("\n got %s\nwant %s", got, want)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}

func (nowhere) Await(string, []*template.Document) (any, string, error) { return nil, "", nil }
func (nowhere) Lookup(template.Object) (any, error)                     { return nil, nil }
func (nowhere) Select(template.Object, labels.Selector) ([]any, error)  { return nil, nil }
func (nowhere) Config(string) (any, error)                              { return nil, nil }
func (nowhere) Stable(string, string, int) (string, error)              { return "", nil }
