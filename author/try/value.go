package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// showValue shows one template and one value, through text/template and through us.
func (s *screen) showValue(ctx context.Context) error {
	text, err := os.ReadFile(templateFile)
	if err != nil {
		return err
	}
	loaded, resources, err := loadRoot(page)
	if err != nil {
		return err
	}
	theirs, err := parseNaively(string(text), resources[0].Object.Object)
	if err != nil {
		return err
	}
	cluster, err := loaded.Cluster(nil, nil)
	if err != nil {
		return err
	}
	children, err := renderChildren(ctx, resources[0], cluster)
	if err != nil {
		return err
	}
	ours := children[0].Object.Object
	s.printHeading("1. A value that wants to be more than a value")
	s.printText("The template, %s:\n\n", templateFile)
	s.printIndented(string(text))
	s.printText("\nA user may set only the greeting, and sets it to three lines:\n\n")
	example, err := os.ReadFile(filepath.Join(page, "examples", pages+".yaml"))
	if err != nil {
		return err
	}
	_, spec, _ := strings.Cut(string(example), "\nspec:\n")
	s.printIndented("spec:\n" + spec)
	s.printText("\nThe Pod that is made of it:\n\n")
	left, right, err := formatPods(theirs, ours)
	if err != nil {
		return err
	}
	added := addedLines(left, right)
	s.printBeside("Go's text/template, then YAML\n\n"+left, "Jacquard\n\n"+right, added)
	return s.judgePods(theirs, ours)
}

// templateFile is the template of the kind.
var templateFile = filepath.Join(page, "templates", pages, "pod.yaml")

// loadRoot reads a root and the resources of its examples.
func loadRoot(root string) (*catalog.Catalog, []*catalog.Resource, error) {
	loaded, err := catalog.Load([]string{root})
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(loaded.Faults()...); err != nil {
		return nil, nil, err
	}
	file, err := catalog.Open(filepath.Join(root, "examples", pages+".yaml"), nil)
	if err != nil {
		return nil, nil, err
	}
	resources, _, err := loaded.Resources(file.Objects)
	return loaded, resources, err
}

// parseNaively returns the object that a tool makes that prints values into text and then reads the
// text as YAML.
func parseNaively(text string, resource map[string]any) (map[string]any, error) {
	parsed, err := template.New(filepath.Base(templateFile)).Parse(text)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	if err := parsed.Execute(&out, resource); err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(out.String()), &object); err != nil {
		return nil, fmt.Errorf("reading what text/template printed: %w", err)
	}
	return object, nil
}

// formatPods prints both objects the same way.
func formatPods(a, b map[string]any) (left, right string, err error) {
	one, err := yaml.Marshal(a)
	if err != nil {
		return "", "", err
	}
	// The namespace is filled in by us, by others when the Pod is created.
	b = (&unstructured.Unstructured{Object: b}).DeepCopy().Object
	unstructured.RemoveNestedField(b, "metadata", "namespace")
	two, err := yaml.Marshal(b)
	return string(one), string(two), err
}

// addedLines are the lines of the left column that the right one does not have,
// counted with the title and the line below it.
func addedLines(left, right string) map[int]bool {
	added := map[int]bool{}
	for i, line := range strings.Split(left, "\n") {
		if !strings.Contains("\n"+right, "\n"+line+"\n") && !strings.Contains(line, "value:") {
			added[i+2] = true
		}
	}
	return added
}

// judgePods fails unless the one Pod is privileged, and the other one is not and has the whole
// value.
func (s *screen) judgePods(theirs, ours map[string]any) error {
	theirContainer, ourContainer := onlyContainer(theirs), onlyContainer(ours)
	privileged, _, _ := unstructured.NestedBool(theirContainer, "securityContext", "privileged")
	if !privileged {
		return errors.New("text/template added no field to the Pod")
	}
	if _, found := ourContainer["securityContext"]; found {
		return errors.New("the value added a field to the Pod")
	}
	env, _, _ := unstructured.NestedSlice(ourContainer, "env")
	variable, _ := env[0].(map[string]any)
	if text, _ := variable["value"].(string); !strings.Contains(text, "privileged: true") {
		return errors.New("the value is not in the Pod as it was given")
	}
	s.printText("On the left the value became part of the manifest: the container is privileged.\n" +
		"On the right the value is still the greeting, because Jacquard parses the template as YAML\n" +
		"before any value is in it. A template author cannot forget to quote a value.\n")
	return nil
}

// onlyContainer returns the container of a Pod that has exactly one, or nil.
func onlyContainer(pod map[string]any) map[string]any {
	all, _, _ := unstructured.NestedSlice(pod, "spec", "containers")
	if len(all) != 1 {
		return nil
	}
	one, _ := all[0].(map[string]any)
	return one
}
