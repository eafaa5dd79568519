package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// readObjects returns the objects of all YAML files of a folder, by the
// files' names.
func readObjects(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		objects, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

func readFile(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	documents := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(file), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// applyObject applies an object on the server's side, as kubectl does.
func (c *client) applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	to, err := c.findDestination(object)
	if err != nil {
		return fmt.Errorf("applying %s: %w", describeObject(object), err)
	}
	_, err = to.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "demo"})
	if err != nil {
		return fmt.Errorf("applying %s: %w", describeObject(object), err)
	}
	return nil
}

// findDestination returns where to send an object. If the client has a namespace, all namespaced
// objects go there. Otherwise, an object without a namespace goes to default.
func (c *client) findDestination(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	list, err := c.discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if err != nil {
		return nil, err
	}
	for _, r := range list.APIResources {
		if r.Kind != kind.Kind || filepath.Base(r.Name) != r.Name { // the latter is a subresource
			continue
		}
		to := c.dynamic.Resource(kind.GroupVersion().WithResource(r.Name))
		if !r.Namespaced {
			return to, nil
		}
		object.SetNamespace(cmp.Or(c.namespace, object.GetNamespace(), metav1.NamespaceDefault))
		return to.Namespace(object.GetNamespace()), nil
	}
	return nil, fmt.Errorf("the cluster has no %s", kind.Kind)
}

// describeObject returns the kind and the name of an object, as in "Deployment default/web".
func describeObject(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return object.GetKind() + " " + name
}
