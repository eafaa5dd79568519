package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace makes a namespace of the test's own.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Client.Create(context.Background(), ns); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the namespace has its default account", func() error {
		_, err := c.Get("v1", "ServiceAccount", ns.Name, "default")
		return err
	})
	return ns.Name
}

// Parse reads YAML documents.
func Parse(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// Apply server-side applies YAML documents as a person would; those without a
// namespace go to namespace.
func (c *Cluster) Apply(t testing.TB, namespace, text string) {
	t.Helper()
	for _, o := range Parse(t, text) {
		if o.GetNamespace() == "" && o.GetKind() != "Namespace" && o.GetKind() != "CustomResourceDefinition" {
			o.SetNamespace(namespace)
		}
		if err := c.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
			client.ForceOwnership); err != nil {
			t.Fatalf("applying %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// List lists the objects of a kind.
func (c *Cluster) List(t testing.TB, apiVersion, kind string, options ...client.ListOption) []unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	if err := c.Client.List(context.Background(), list, options...); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// Delete deletes an object; its dependents go in the background.
func (c *Cluster) Delete(t testing.TB, apiVersion, kind, namespace, name string) {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	if err := c.Client.Delete(context.Background(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil &&
		!apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// Ready says why a custom resource is not Ready for its present generation.
func (c *Cluster) Ready(apiVersion, kind, namespace, name string) error {
	o, err := c.Get(apiVersion, kind, namespace, name)
	if err != nil {
		return err
	}
	return IsCondition(o, "Ready", "True", "")
}

// IsCondition says why a condition is not this one: type, status, and a part
// of its reason and message. Status "" means that there must be none.
func IsCondition(o *unstructured.Unstructured, kind, status, part string) error {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		if c["type"] != kind {
			continue
		}
		said := fmt.Sprintf("%s is %s (%s): %s", c["type"], c["status"], c["reason"], c["message"])
		generation, _ := c["observedGeneration"].(int64)
		if c["status"] != status || !strings.Contains(said, part) || generation != o.GetGeneration() {
			return fmt.Errorf("%s, for generation %d of %d", said, generation, o.GetGeneration())
		}
		return nil
	}
	if status == "" {
		return nil
	}
	return fmt.Errorf("there is no condition %s: %v", kind, conditions)
}

// Gone reports whether an object is gone.
func (c *Cluster) Gone(apiVersion, kind, namespace, name string) error {
	o, err := c.Get(apiVersion, kind, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s %s is still there", o.GetKind(), o.GetName())
}

// Write writes files of a root: path below the root → text. All are written
// before the first is put in its place: on a busy machine, an operator might take
// a file for empty, or what is there of a changed folder for all of it.
func Write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	written := map[string]string{}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if written[file], err = writeAside(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(written)) {
		if err := os.Rename(written[file], file); err != nil {
			t.Fatal(err)
		}
	}
}

// writeAside writes a file beside all roots.
func writeAside(text string) (name string, err error) {
	file, err := os.CreateTemp("", "jacquard-test-")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Chmod(0o644), file.Close())
}

// Served waits until the API server serves a kind.
func (c *Cluster) Served(t testing.TB, apiVersion, kind string) {
	t.Helper()
	Eventually(t, "the API server serves "+kind, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(apiVersion)
		list.SetKind(kind + "List")
		return c.Client.List(context.Background(), list)
	})
}
