package render_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// compileAt compiles a folder of the kind Thing, which is cluster-scoped or
// not, for an operator in the namespace jacquard-system, in a cluster where
// Wide of wide.io is cluster-scoped.
func compileAt(t *testing.T, clusterScoped bool, files map[string]string) *kind.Kind {
	t.Helper()
	text, err := os.ReadFile("testdata/" + things + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if clusterScoped {
		text = []byte(strings.Replace(string(text), "scope: Namespaced", "scope: Cluster", 1))
	}
	crd, err := crdfile.Parse(things+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if crd.Namespaced == clusterScoped {
		t.Fatal("the definition is of the other scope")
	}
	data := map[string][]byte{}
	for name, text := range files {
		data[name] = []byte(text)
	}
	f, err := folder.FromMap(things, "", data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		t.Fatal(err)
	}
	return k.At(kind.Site{Namespace: "jacquard-system", Scopes: func(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
		return gvk.Kind == "Wide", gvk.Group == "wide.io"
	}})
}

// document is a document of a kind in a namespace.
func document(apiVersion, of, name, namespace string) string {
	text := "---\napiVersion: " + apiVersion + "\nkind: " + of + "\nmetadata:\n  name: " + name + "\n"
	if namespace != "" {
		text += "  namespace: " + namespace + "\n"
	}
	if of == "Namespace" {
		text += "  annotations: {jacquard.dev/on-delete: delete}\n"
	}
	return text
}

// TestPlaces: where a child may be is declared, and nothing may be where
// Kubernetes and the operator are.
func TestPlaces(t *testing.T) {
	const rules = `children:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: v1, kind: ConfigMap, namespaces: [listed, kube-listed, jacquard-system]}
- {apiVersion: v1, kind: Secret, namespaces: rendered}
- {apiVersion: wide.io/v1, kind: Wide}
`
	made := document("v1", "Namespace", "made", "")
	for name, tt := range map[string]struct {
		text, want string
		cluster    bool
	}{
		"own":         {text: document("v1", "ConfigMap", "x", "")},
		"own by name": {text: document("v1", "ConfigMap", "x", "default")},
		"listed":      {text: document("v1", "ConfigMap", "x", "listed")},
		"listed kube": {text: document("v1", "ConfigMap", "x", "kube-listed")},
		"not listed": {text: document("v1", "ConfigMap", "x", "other"),
			want: "ConfigMap is in another namespace than its resource: leave metadata.namespace out, or declare in kind.yaml, under children, where it may be"},
		"listed for others": {text: document("v1", "Pod", "x", "listed"), want: "Pod is in another namespace than its resource"},
		"the operator's": {text: document("v1", "ConfigMap", "x", "jacquard-system"),
			want: "nothing may be in the operator's own namespace"},
		"kube": {text: made + document("v1", "Secret", "x", "kube-system"),
			want: "nothing may be in the namespaces kube-*: where it must be, list that namespace"},
		"rendered":            {text: made + document("v1", "Secret", "x", "made")},
		"rendered afterwards": {text: document("v1", "Secret", "x", "made") + made},
		"not rendered": {text: made + document("v1", "Secret", "x", "other"),
			want: "Secret is in a namespace that the resource does not make: render a Namespace of that name"},
		"no text": {text: document("v1", "ConfigMap", "x", "1"),
			want: "metadata.namespace must be the name of a namespace"},
		"a Namespace":        {text: made},
		"a Namespace in one": {text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b, annotations: {jacquard.dev/on-delete: keep}}\n", want: "Namespace is cluster-scoped: leave metadata.namespace out"},
		"a Namespace kube": {text: document("v1", "Namespace", "kube-x", ""),
			want: "x.yaml:5:9: nothing may be in the namespaces kube-*"},
		"a Namespace kube listed": {text: document("v1", "Namespace", "kube-listed", "")},
		"a Namespace of the operator": {text: document("v1", "Namespace", "jacquard-system", ""),
			want: "nothing may be in the operator's own namespace"},
		"another cluster-scoped kind": {text: document("wide.io/v1", "Wide", "kube-x", "")},
		"the same, undeclared": {text: document("wide.io/v2", "Wide", "x", ""),
			want: "Wide is cluster-scoped and must be declared: write in kind.yaml, under children: - {apiVersion: wide.io/v2, kind: Wide}"},
		"a cluster-scoped owner": {text: document("v1", "ConfigMap", "x", "listed"), cluster: true},
		"a cluster-scoped owner, nowhere": {text: document("v1", "ConfigMap", "x", ""), cluster: true,
			want: "Thing is cluster-scoped, and so it has no namespace for ConfigMap: write metadata.namespace"},
		"a cluster-scoped owner, elsewhere": {text: document("v1", "ConfigMap", "x", "default"), cluster: true,
			want: "ConfigMap is in another namespace"},
		"a cluster-scoped owner, rendered": {text: made + document("v1", "Secret", "x", "made"), cluster: true},
		"an own of a patched object": {text: document("v1", "ConfigMap", "x", "") + patch("x", ""),
			want: "ConfigMap of this name is rendered as the resource's own and as a patch of somebody else's"},
		"a patch twice":               {text: patch("x", "") + patch("x", ""), want: "ConfigMap of this name is rendered twice"},
		"a patch of two subresources": {text: patch("x", "") + patch("x", "status") + patch("x", "scale")},
		"a patch of one twice":        {text: patch("x", "status") + patch("x", "status"), want: "ConfigMap of this name is rendered twice"},
		"a patch with a status":       {text: patch("x", "status") + "status: {a: b}\n"},
		"a patch with another status": {text: patch("x", "scale") + "status: {a: b}\n",
			want: "status belongs to the cluster and cannot be rendered"},
		"a patch elsewhere": {text: strings.Replace(patch("x", ""), "name: x", "name: x, namespace: other", 1),
			want: "ConfigMap is in another namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			k := compileAt(t, tt.cluster, map[string]string{"kind.yaml": rules, "x.yaml": tt.text})
			resource := thing(nil)
			if tt.cluster {
				unstructured.RemoveNestedField(resource.Object, "metadata", "namespace")
			}
			_, err := render.Children(context.Background(), k, resource, nowhere{})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func patch(name, subresource string) string {
	marks := "jacquard.dev/ownership: patch"
	if subresource != "" {
		marks += ", jacquard.dev/subresource: " + subresource
	}
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {" + marks + "}}\n"
}

// TestNamespaceWaits: a file waits while another does that could make its
// namespace.
func TestNamespaceWaits(t *testing.T) {
	k := compileAt(t, false, map[string]string{
		"kind.yaml": "children: [{apiVersion: v1, kind: Namespace}, {apiVersion: v1, kind: Secret, namespaces: rendered}]\n",
		"a.yaml":    document("v1", "Secret", "x", "made") + document("v1", "ConfigMap", "x", ""),
		"b.yaml":    document("v1", "ConfigMap", "w", ""),
		"c.yaml":    `{{ wait "not yet" }}` + "\n" + document("v1", "Namespace", "made", ""),
	})
	r, err := render.Children(context.Background(), k, thing(nil), nowhere{})
	if err != nil {
		t.Fatal(err)
	}
	want := []render.Waiting{{File: "c", Message: "not yet"}, {File: "a", Message: "the namespace of Secret is not there yet: c waits"}}
	if diff := cmp.Diff(want, r.Waiting); diff != "" {
		t.Error(diff)
	}
	if len(r.Children) != 1 || !slices.Equal(r.Rendered, []string{"b"}) {
		t.Errorf("rendered %v, %d children", r.Rendered, len(r.Children))
	}
}

func TestPolicy(t *testing.T) {
	const text = `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .metadata.name }}
  annotations:
    jacquard.dev/on-immutable: recreate-keeping-dependents
    jacquard.dev/on-failed: recreate
    jacquard.dev/on-delete: keep
    jacquard.dev/run-once: "true"
    jacquard.dev/initial-fields: spec.suspend, spec.a-b.c
    jacquard.dev/adopt: "true"
---
apiVersion: v1
kind: Pod
metadata:
  name: w
  annotations: {jacquard.dev/ownership: patch, jacquard.dev/subresource: status}
`
	children, err := renderFile(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []render.Policy{
		{RecreateOnImmutable: true, KeepDependents: true, RecreateOnFailed: true, OnDelete: "keep", Once: true, Adopt: true,
			Initial: [][]string{{"spec", "suspend"}, {"spec", "a-b", "c"}}},
		{Patch: true, Subresource: "status"},
	}
	if diff := cmp.Diff(want, []render.Policy{children[0].Policy, children[1].Policy}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"jacquard.dev/on-delete": "keep"}, children[0].Object.GetAnnotations()); diff != "" {
		t.Error(diff)
	}
	if left := children[1].Object.GetAnnotations(); left != nil {
		t.Errorf("the patch has annotations %v", left)
	}
}

// TestMarksAreLiteral: a partial cannot make a patch of a child, nor can a
// value say anything.
func TestMarksAreLiteral(t *testing.T) {
	const fromValue = "a key of jacquard.dev comes out of a value: such keys count only as literal text of the template"
	included := configMap + "  annotations:\n    {{- include \"a\" . | nindent 4 }}\n"
	for text, want := range map[string]string{
		configMap + "  annotations: {{ .spec.free }}\n":                                        fromValue,
		configMap + "  annotations:\n    {{ print \"jacquard.dev/\" \"ownership\" }}: patch\n": fromValue,
		included +
			"{{ define \"a\" }}jacquard.dev/ownership: patch{{ end }}": "the folder does not say literally what becomes of this ConfigMap",
		included + "{{ define \"a\" }}jacquard.dev/on-delete: {{ .spec.name }}{{ end }}": "jacquard.dev",
	} {
		_, err := renderFile(t, text, map[string]any{"name": "keep", "free": map[string]any{"jacquard.dev/ownership": "patch"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, err, want)
		}
	}
}
