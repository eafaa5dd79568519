// Package main_test shows that the operator does what it exists for, against a
// real API server with the controllers of Kubernetes: TestExamples applies every
// example of this repository and waits until it is ready, TestNewKind adds a kind
// by adding a folder, without a restart. The other tests lie beside the code in
// engine, author, admin and cli, and in test: the suites that need a cluster in
// test/integration, the laws of code, data and documents in test/laws.
package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.Main(m, &cluster, "--nodes", "3", "--node-label", "node-0:daemon=logs")
}

// TestExamples: each resource of examples/ becomes ready.
func TestExamples(t *testing.T) {
	t.Parallel()
	routes, err := os.ReadFile("schemas/routes.route.openshift.io.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Apply(t, "", string(routes))
	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs, o.Identity = true, "test/examples" }, ".")
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("there are %d examples: %v", len(files), err)
	}
	var resources []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range kit.Parse(t, string(text)) {
			if _, err := os.Stat("templates/" + crdName(o)); err == nil {
				cluster.Served(t, o.GetAPIVersion(), o.GetKind())
				resources = append(resources, o)
			}
		}
		cluster.Apply(t, "default", string(text))
	}
	if len(resources) < len(files) {
		t.Fatalf("%d files have %d resources of our kinds", len(files), len(resources))
	}
	for _, o := range resources {
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = "default"
		}
		kit.Eventually(t, o.GetKind()+" "+o.GetName()+" is ready", func() error {
			return cluster.Ready(o.GetAPIVersion(), o.GetKind(), namespace, o.GetName())
		})
	}
}

// crdName guesses the name of an object's CRD.
func crdName(o *unstructured.Unstructured) string {
	files, _ := filepath.Glob("crds/*." + o.GroupVersionKind().Group + ".yaml")
	if len(files) != 1 {
		return "none"
	}
	name := filepath.Base(files[0])
	return name[:len(name)-len(".yaml")]
}

// TestNewKind: while the operator runs, the CRD and the folder of a kind are
// added, and a resource of it is served; the folder is edited, and the child
// follows.
func TestNewKind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cluster.Run(t, nil, root)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "", crd)
	kit.Write(t, root, map[string]string{"templates/notes.first.example.com/note.yaml": template})
	cluster.Served(t, "first.example.com/v1", "Note")
	cluster.Apply(t, namespace, "{apiVersion: first.example.com/v1, kind: Note, metadata: {name: hello}, spec: {text: \"yes: no # 1\"}}")
	reads := func(key, want string) {
		t.Helper()
		kit.Eventually(t, fmt.Sprintf("the ConfigMap's %s is %q", key, want), func() error {
			child, err := cluster.Get("v1", "ConfigMap", namespace, "hello")
			if err != nil {
				return err
			}
			if got, _, _ := unstructured.NestedString(child.Object, "data", key); got != want {
				return fmt.Errorf("it is %q", got)
			}
			return cluster.Ready("first.example.com/v1", "Note", namespace, "hello")
		})
	}
	reads("text", "yes: no # 1")
	kit.Write(t, root, map[string]string{"templates/notes.first.example.com/note.yaml": template + "  more: {{ upper .spec.text }}\n"})
	reads("more", "YES: NO # 1")
}

const template = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text }}
`

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.first.example.com}
spec:
  group: first.example.com
  scope: Namespaced
  names: {kind: Note, plural: notes, singular: note, listKind: NoteList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [text], properties: {text: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`
