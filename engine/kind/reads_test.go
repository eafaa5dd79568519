package kind

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// asking is a file that asks these things.
func asking(expressions ...string) string {
	text := head + "data:\n"
	for i, e := range expressions {
		text += "  " + string(rune('a'+i)) + "x: {{ len (" + e + " | toJson) }}\n"
	}
	return text
}

func TestMayRead(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "kind.yaml": `reads:
- {apiVersion: v1, kind: Secret, namespaces: [platform], names: [pull]}
- {apiVersion: v1, kind: Secret, namespaces: [open, more]}
- {apiVersion: v1, kind: Node}
- {apiVersion: v1, kind: PersistentVolume, names: [a]}
`})
	const undeclared = "reading Secret outside of the resource's namespace must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: Secret, namespaces: [NAMESPACE]}"
	for _, tt := range []struct {
		kind, own, namespace, name string
		clusterScoped              bool
		want                       string
	}{
		{kind: "Secret", own: "default", namespace: "default", name: "x"},
		{kind: "Secret", own: "default", namespace: "default"},
		{kind: "Secret", own: "default", namespace: "platform", name: "pull"},
		{kind: "Secret", own: "default", namespace: "platform", name: "x", want: undeclared},
		{kind: "Secret", own: "default", namespace: "platform", want: undeclared},
		{kind: "Secret", own: "default", namespace: "open"},
		{kind: "Secret", own: "default", namespace: "more", name: "x"},
		{kind: "Secret", own: "default", namespace: "other", name: "pull", want: undeclared},
		{kind: "Secret", namespace: "", name: "x", want: "the resource has no namespace of its own to read Secret in: name one"},
		{kind: "Node", clusterScoped: true, own: "default", name: "x"},
		{kind: "Node", clusterScoped: true},
		{kind: "PersistentVolume", clusterScoped: true, name: "a"},
		{kind: "PersistentVolume", clusterScoped: true,
			want: "PersistentVolume is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: PersistentVolume}"},
		{kind: "Namespace", clusterScoped: true, name: "default",
			want: "Namespace is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: Namespace}"},
	} {
		err := k.MayRead(apischema.GroupVersionKind{Version: "v1", Kind: tt.kind}, tt.own, tt.namespace, tt.name, tt.clusterScoped)
		if tt.want == "" {
			saysLines(t, err)
			continue
		}
		saysLines(t, err, tt.want)
	}
}

// TestAsks: what no resource may read is refused at once.
func TestAsks(t *testing.T) {
	const rules = "reads: [{apiVersion: v1, kind: Secret, namespaces: [platform], names: [pull]}, {apiVersion: v1, kind: Node, names: [a]}]\n"
	for ask, want := range map[string]string{
		`lookup "v1" "ConfigMap" "" .spec.image`:        "",
		`lookup "v1" "ConfigMap" .spec.image "x"`:       "",
		`lookup "v1" "ConfigMap" "other" "x"`:           "a.yaml:6:15: reading ConfigMap outside of the resource's namespace must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: ConfigMap, namespaces: [NAMESPACE]}",
		`lookup "v1" "Secret" "platform" "pull"`:        "",
		`lookup "v1" "Secret" "platform" .spec.image`:   "",
		`lookup "v1" "Secret" "platform" "x"`:           "a.yaml:6:15: reading Secret outside of the resource's namespace must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: Secret, namespaces: [NAMESPACE]}",
		`lookup "v1" "Node" "" "a"`:                     "",
		`lookup "v1" "Node" "a" "a"`:                    "a.yaml:6:15: Node is cluster-scoped: leave the namespace empty",
		`lookup "v1" "Node" "" "b"`:                     "a.yaml:6:15: Node is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: Node}",
		`lookup "v1" "PersistentVolume" "" .spec.image`: "a.yaml:6:15: PersistentVolume is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: - {apiVersion: v1, kind: PersistentVolume}",
	} {
		files := map[string]string{"a.yaml": asking(ask), "kind.yaml": rules}
		if want == "" {
			refuses(t, files)
			continue
		}
		refuses(t, files, want)
	}
}

func TestReads(t *testing.T) {
	k := compile(t, map[string]string{
		"kind.yaml": "reads: [{apiVersion: v1, kind: Node}, {apiVersion: x.io/v1, kind: X, namespaces: [a]}, {apiVersion: v1, kind: Secret, namespaces: [a]}]\n",
		"a.yaml": asking(`lookup "x.io/v1" "X" "a" "b"`, `lookup "v1" "Node" "" "b"`, `lookup "v1" "ConfigMap" "" "b"`,
			`lookup "v1" "ConfigMap" "" "c"`,
			`await "deployment"`, `child "service"`, `stable "secret" "password" 20`),
		"deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
		"service.yaml":    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
		"secret.yaml":     "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n",
	})
	gvk := apischema.FromAPIVersionAndKind
	want := []ReadKind{
		{gvk("v1", "ConfigMap"), live.Body, true, nil},
		{gvk("v1", "Node"), live.Body, false, []ReadRule{{APIVersion: "v1", Kind: "Node"}}},
		{gvk("x.io/v1", "X"), live.Body, false, []ReadRule{{APIVersion: "x.io/v1", Kind: "X", Namespaces: []string{"a"}}}},
	}
	if diff := cmp.Diff(want, k.ReadKinds()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]live.Need{"apps/v1 Deployment": live.Body, "v1 Service": live.Body, "v1 Secret": live.Body,
		"v1 ServiceAccount": live.Metadata, "v1 ConfigMap": live.Metadata} {
		apiVersion, kind, _ := strings.Cut(name, " ")
		if got := k.ChildNeed(gvk(apiVersion, kind)); got != want {
			t.Errorf("of %s is needed %s, want %s", name, got, want)
		}
	}
}

// TestCheckScopes: of kinds that are not built in it is found out later.
func TestCheckScopes(t *testing.T) {
	scopes := func(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
		return gvk.Kind == "Wide", gvk.Group == "x.io"
	}
	wide := "apiVersion: x.io/v1\nkind: Wide\nmetadata: {name: a}\n"
	ask := asking(`lookup "x.io/v1" "Wide" "" "b"`)
	k := compile(t, map[string]string{"a.yaml": ask, "b.yaml": wide})
	saysLines(t, k.CheckScopes(scopes),
		"b.yaml:2:1: Wide is cluster-scoped and must be declared: write in kind.yaml, under children: - {apiVersion: x.io/v1, kind: Wide}",
		"a.yaml:6:15: Wide is cluster-scoped, and reading it must be declared: write in kind.yaml, under reads: - {apiVersion: x.io/v1, kind: Wide}")
	k = compile(t, map[string]string{"a.yaml": ask, "b.yaml": wide,
		"kind.yaml": "children: [{apiVersion: x.io/v1, kind: Wide}]\nreads: [{apiVersion: x.io/v1, kind: Wide}]\n"})
	saysLines(t, k.CheckScopes(scopes))
	k = compile(t, map[string]string{"b.yaml": wide, "kind.yaml": "children: [{apiVersion: x.io/v1, kind: Wide, namespaces: [a]}]\n"})
	saysLines(t, k.CheckScopes(scopes), "kind.yaml:1:58: Wide is cluster-scoped: it has no namespaces")
	if at := k.At(Site{Scopes: scopes}); !at.ClusterScoped(apischema.FromAPIVersionAndKind("x.io/v1", "Wide")) {
		t.Error("Wide is not cluster-scoped")
	}
}
