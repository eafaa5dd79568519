package catalog

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// world is a cluster of these objects as App default/web sees it.
func world(t *testing.T, objects string) *World {
	t.Helper()
	c, err := Load([]string{"../../cli/testdata/root"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("cluster.yaml", []byte(objects))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := c.Cluster(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	resource := &unstructured.Unstructured{}
	resource.SetNamespace("default")
	resource.SetName("web")
	return cluster.For(c.Kinds["apps.example.com"], resource)
}

const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wides.x.io}
spec:
  group: x.io
  scope: Cluster
  names: {kind: Wide, plural: wides}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec:
  group: x.io
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {conditions: {type: array, items: {type: object}}}}}}}
---
`

// TestUnknownIsNotAbsent: what cannot be answered is never "there is none".
func TestUnknownIsNotAbsent(t *testing.T) {
	w := world(t, definitions+"{apiVersion: y.io/v1, kind: Yy, metadata: {name: a}}")
	for asked, want := range map[string]string{
		"v1 ConfigMap": "", "x.io/v1 Thing": "", "y.io/v1 Yy": "",
		"x.io/v2 Thing": "the cluster has no x.io/v2 Thing to read; ask hasAPI first",
		"z.io/v1 Z":     "the cluster has no z.io/v1 Z to read; ask hasAPI first",
	} {
		apiVersion, name, _ := strings.Cut(asked, " ")
		what := template.Object{APIVersion: apiVersion, Kind: name, Name: "b"}
		got, err := w.Lookup(what)
		var wait *template.Wait
		if want == "" && (err != nil || got != nil) || want != "" && (!errors.As(err, &wait) || wait.Message != want) {
			t.Errorf("%s: got %v, %v", asked, got, err)
		}
	}
	if _, err := w.Lookup(template.Object{APIVersion: "x.io/v1", Kind: "Wide", Name: "a"}); err == nil ||
		!strings.Contains(err.Error(), "Wide is cluster-scoped") {
		t.Errorf("got %v", err)
	}
	if _, err := w.Select(template.Object{APIVersion: "v1", Kind: "Pod", Namespace: "other"}, labels.Everything()); err == nil {
		t.Error("another namespace may be read")
	}
}

// awaits returns what a file that awaits a file with this text waits for, beside these
// objects.
func awaits(t *testing.T, text, objects string) string {
	t.Helper()
	w := world(t, objects)
	f, err := folder.FromMap("apps.example.com", "", map[string][]byte{"thing.yaml": []byte(text),
		"after.yaml": []byte("{{- $_ := await \"thing\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: after}\n")})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kind.Compile(f, w.kind.CRD)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Children(t.Context(), k, w.resource, w.cluster.For(k, w.resource))
	if err != nil {
		t.Fatal(err)
	}
	for _, waiting := range result.Waiting {
		return waiting.Message
	}
	return ""
}

// TestAwait: all that the awaited file renders has to be there and ready. A kind whose
// definition declares conditions is not ready before it has some.
func TestAwait(t *testing.T) {
	const thing = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: NAME}\n"
	a, b := strings.Replace(thing, "NAME", "a", 1), strings.Replace(thing, "NAME", "b", 1)
	live := func(name, status string) string {
		return "---\n" + strings.Replace(thing, "NAME", name+", annotations: {jacquard.dev/file: thing}", 1) + status
	}
	const ready = "status: {conditions: [{type: Ready, status: \"True\"}]}\n"
	for _, c := range []struct{ rendered, objects, want string }{
		{a, "", "thing: Thing a is not there yet"},
		{a, live("a", ""), "thing: Thing a is not ready: it has no conditions yet"},
		{a, live("a", "status: {conditions: [{type: Ready, status: \"False\", message: broken}]}\n"), "thing: Thing a is not ready: broken"},
		{a, live("a", ready), ""},
		{a, live("a, namespace: other", ready), "thing: Thing a is not there yet"},
		{a, live("b", ready), "thing: Thing a is not there yet"},
		{a + "---\n" + b, live("a", ready), "thing: Thing b is not there yet"},
		{a + "---\n" + b, "", "thing: Thing a is not there yet; and 1 more"},
		{a + "---\n" + b, live("a", ready) + live("b", ready), ""},
		{a, live("a", ready) + live("b", ""), ""},
		{"{{ if .spec.mode }}\n" + a + "{{ end }}\n", live("a", ready), "thing: it renders no object for this resource"},
		{"{{ wait \"later\" }}\n" + a, live("a", ready), "thing: it waits itself"},
	} {
		if got := awaits(t, c.rendered, definitions+c.objects); got != c.want {
			t.Errorf("of\n%sbeside\n%sit waits for %q, want %q", c.rendered, c.objects, got, c.want)
		}
	}
}

func TestStable(t *testing.T) {
	w := world(t, `{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {jacquard.dev/file: secret}}, data: {a: eA==, bad: "%"}, stringData: {b: x2}}`)
	for key, want := range map[string]string{"a": "x", "b": "x2"} {
		if got, err := w.Stable("secret", key, 20); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", key, got, err, want)
		}
	}
	if _, err := w.Stable("secret", "bad", 20); err == nil || !strings.Contains(err.Error(), "data.bad of Secret a") {
		t.Errorf("got %v", err)
	}
	seen := map[string]string{}
	for _, key := range []string{"password", "pass-word", "token"} {
		for _, length := range []int{1, 6, 32, 256} {
			got, err := w.Stable("secret", key, length)
			again, _ := w.Stable("secret", key, length)
			if err != nil || len(got) != length || got != again || !strings.HasPrefix("stable", got[:min(6, length)]) {
				t.Errorf("%s of %d: got %q and %q, %v", key, length, got, again, err)
			}
			if other := seen[got]; length >= 32 && other != "" {
				t.Errorf("%s and %s have the same stand-in", key, other)
			}
			seen[got] = key
		}
	}
	if other := notAlphanumeric.FindString(standIn("a-b", "c.d_e", 200)); other != "" {
		t.Errorf("a stand-in holds %q", other)
	}
}
