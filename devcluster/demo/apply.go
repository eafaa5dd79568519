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

// apply applies an object on the server's side, as kubectl does.
func (c *client) apply(ctx context.Context, object *unstructured.Unstructured) error {
	to, err := c.destination(object)
	if err != nil {
		return fmt.Errorf("applying %s: %w", describe(object), err)
	}
	_, err = to.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "demo"})
	if err != nil {
		return fmt.Errorf("applying %s: %w", describe(object), err)
	}
	return nil
}

// destination returns where to send an object. One without a namespace goes to
// the client's, and all do if it has one.
func (c *client) destination(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
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

// describe names an object as in "Deployment default/web".
func describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return object.GetKind() + " " + name
}
