package faults

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestForeignObject: an object of a child's name is refused, named, left alone
// also when it is not wanted any more and when the resource goes; the other
// children are applied. It heals when the object goes.
func TestForeignObject(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {theirs: x}}")
	foreign := s.get("v1", "ConfigMap", "a")
	s.web("text: one")
	r := rest{children: wantSecret, because: "ConfigMap " + s.namespace + "/a", foreign: []*unstructured.Unstructured{foreign}}
	s.rests(r)
	s.write(map[string]string{"map.yaml": "{{- if .spec.config }}\n" + configMap + "{{ end }}"})
	r = rest{children: wantSecret, foreign: r.foreign}
	s.ready()
	s.rests(r)
	s.web("text: one, config: true")
	s.is("Ready", "False", "it was not made by this resource")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a")
	s.rests(rest{children: wantSecret + parting + wantConfigMap})
}

// TestTwoResourcesOneChild: the second resource that renders a child is told
// whose it is.
func TestTwoResourcesOneChild(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": strings.Replace(configMap, "{{ .metadata.name }}", "shared", 1)})
	s.web("text: one")
	s.ready()
	cluster.Apply(t, s.namespace, "{apiVersion: "+s.apiVersion()+", kind: Web, metadata: {name: b}, spec: {text: two}}")
	kit.Eventually(t, "the second is told", func() error {
		o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "b")
		if err != nil {
			return err
		}
		return kit.IsCondition(o, "Stalled", "True", "it belongs to Web a")
	})
	child := strings.Replace(wantConfigMap, "name: a", "name: shared", 1)
	s.rests(rest{children: child})
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "b")
	s.rests(rest{children: child})
}

// TestCopies: what wears our labels, annotations, owner reference or even
// managedFields, but was not applied by us, is never touched.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	s.web("text: one")
	s.ready()
	copied := s.get("v1", "ConfigMap", "a")
	var copies []*unstructured.Unstructured
	for name, change := range map[string]func(*unstructured.Unstructured){
		"copied":             func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil); o.SetManagedFields(nil) },
		"copied-with-owner":  func(o *unstructured.Unstructured) { o.SetManagedFields(nil) },
		"copied-with-fields": func(*unstructured.Unstructured) {},
	} {
		o := copied.DeepCopy()
		o.SetName(name)
		change(o)
		copies = append(copies, s.create(o))
	}
	want := rest{children: wantConfigMap + parting + wantSecret, foreign: copies}
	s.rests(want)
	s.web("text: two")
	want.children = strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(want.children)
	s.rests(want)
	s.restart()
	s.rests(want)
}

// TestEndpointSlices: those of a Service copy its labels, ours too, and are
// nevertheless the Service's, also where a folder makes some of its own.
func TestEndpointSlices(t *testing.T) {
	t.Parallel()
	slice := "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: {{ .metadata.name }}\naddressType: IPv4\nendpoints:\n- addresses:\n  - 192.0.2.1\n"
	s := build(t, map[string]string{"service.yaml": service, "slice.yaml": "{{- if .spec.slice }}\n" + slice + "{{ end }}"})
	s.web("slice: true")
	s.ready()
	var copied *unstructured.Unstructured
	kit.Eventually(t, "the Service's own slice copies our label", func() error {
		for _, o := range s.everything() {
			if o.GetKind() == "EndpointSlice" && o.GetName() != "a" && o.GetLabels()["jacquard.dev/owner-uid"] == string(s.owner().GetUID()) {
				copied = o
				return nil
			}
		}
		return fmt.Errorf("no such slice")
	})
	wantSlice := "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}}"
	s.rests(rest{children: wantService + parting + wantSlice, foreign: []*unstructured.Unstructured{copied}})
	s.web("slice: false")
	s.rests(rest{children: wantService, foreign: []*unstructured.Unstructured{copied}})
}

// TestStripped: our label, annotations or owner reference are put back; a
// child that another controller took is refused, named, and comes back when
// that one lets go.
func TestStripped(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	s.web("text: one")
	want := rest{children: wantConfigMap + parting + wantSecret}
	s.rests(want)
	was := s.get("v1", "ConfigMap", "a")
	uid, worn := was.GetUID(), map[string]any{}
	for _, field := range []string{"labels", "annotations", "ownerReferences"} {
		worn[field] = was.Object["metadata"].(map[string]any)[field]
	}
	for _, patch := range []string{
		`{"metadata":{"labels":null}}`,
		`{"metadata":{"labels":{"jacquard.dev/owner-uid":"another"}}}`,
		`{"metadata":{"annotations":null}}`,
		`{"metadata":{"ownerReferences":null}}`,
		`{"metadata":{"ownerReferences":null,"labels":null}}`,
		`{"metadata":{"ownerReferences":null,"labels":null,"annotations":null}}`,
	} {
		s.patch("v1", "ConfigMap", "a", "kubectl-edit", patch)
		kit.Eventually(t, "it is put back", func() error {
			return within(map[string]any{"metadata": worn}, s.get("v1", "ConfigMap", "a").Object, "")
		})
		s.rests(want)
		if t.Failed() || s.get("v1", "ConfigMap", "a").GetUID() != uid {
			t.Fatalf("that was after %s", patch)
		}
	}
	thief := s.get("v1", "Secret", "a") // any living object may be a controller
	s.patch("v1", "ConfigMap", "a", "thief", fmt.Sprintf(
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"a","uid":%q,"controller":true}]}}`, thief.GetUID()))
	s.is("Stalled", "True", "it belongs to Secret a")
	taken := s.get("v1", "ConfigMap", "a")
	s.rests(rest{children: wantSecret, because: "ConfigMap " + s.namespace + "/a", foreign: []*unstructured.Unstructured{taken}})
	s.patch("v1", "ConfigMap", "a", "thief", `{"metadata":{"ownerReferences":null}}`)
	s.rests(want)
}

// TestReborn: a resource is deleted and made again at once under the same
// name, while its old children terminate.
func TestReborn(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "deployment.yaml": deployment})
	want := rest{children: wantConfigMap + parting + wantDeployment}
	s.web("text: one, replicas: 2")
	s.rests(want)
	for range 2 {
		old := s.owner()
		cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
		s.web("text: one, replicas: 2")
		if s.owner().GetUID() == old.GetUID() {
			t.Fatal("it is the old one still")
		}
		s.rests(want)
	}
}

// TestRebornWithFinalizer: an old child is held by a finalizer for a while. The test
// collects the garbage itself, which Kubernetes may begin half a minute later.
func TestRebornWithFinalizer(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	s.web("text: one")
	want := rest{children: wantConfigMap + parting + wantSecret}
	s.rests(want)
	s.patch("v1", "ConfigMap", "a", "other", `{"metadata":{"finalizers":["example.com/held"]}}`)
	old := s.owner()
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	s.web("text: one")
	if s.owner().GetUID() == old.GetUID() {
		t.Fatal("it is the old one still")
	}
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a")
	cluster.Delete(t, "v1", "Secret", s.namespace, "a")
	s.is("Ready", "False", "an object of this name is being deleted")
	held := s.get("v1", "ConfigMap", "a")
	s.rests(rest{children: wantSecret, because: "being deleted", foreign: []*unstructured.Unstructured{held}})
	if err := cluster.Client.Patch(context.Background(), held,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	s.rests(want)
}
