package scaffold

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// FromCRD makes the rest of a kind for its CRD: a folder with a first child
// that shows how the spec is read, and an example. The source may hold several
// documents; which says the CRD's name or kind, and is "" where it holds one.
// The example is given, or made as the schema allows it; the error says where
// that did not do.
func FromCRD(source Source, which string, example []byte) (*Draft, error) {
	crd, text, err := chooseCRD(source, which)
	if err != nil {
		return nil, err
	}
	version, err := crd.Version("")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	d := NewDraft(crd.Name)
	d.addCRD(text)
	declared := crd.Object.Spec.Versions[slices.IndexFunc(crd.Object.Spec.Versions,
		func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == version.Name
		})].Schema
	if declared == nil || declared.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("%s: the version %s has no schema", source.Name, version.Name)
	}
	root := declared.OpenAPIV3Schema
	if example == nil {
		if example, err = exampleOf(crd, version, root); err != nil {
			return nil, err
		}
	}
	d.addExample(string(example))
	d.firstChild(crd, root)
	return d, nil
}

var separator = regexp.MustCompile(`(?m)^---[ \t]*(#.*)?\n?`)

// chooseCRD returns a CRD of a source, and its text.
func chooseCRD(source Source, which string) (*schema.CRD, string, error) {
	var names []string
	var found *schema.CRD
	var text string
	for _, document := range separator.Split(string(bytes.TrimPrefix(source.Data, []byte("\uFEFF"))), -1) {
		var head struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(document), &head); err != nil || head.Kind != "CustomResourceDefinition" {
			continue
		}
		crd, err := crdfile.Parse(source.Name, []byte(document))
		if err != nil {
			return nil, "", err
		}
		names = append(names, crd.Name)
		if which == "" || which == crd.Name || which == crd.Kind || which == crd.Plural {
			found, text = crd, strings.TrimLeft(document, "\n")
		}
	}
	switch {
	case len(names) == 0:
		return nil, "", fmt.Errorf("%s: there is no CustomResourceDefinition (apiextensions.k8s.io/v1) in it", source.Name)
	case found == nil:
		return nil, "", fmt.Errorf("%s: %s is not in it; there are: %s", source.Name, which, strings.Join(names, ", "))
	case which == "" && len(names) > 1:
		return nil, "", fmt.Errorf("%s: it holds several CRDs: say which one: %s", source.Name, strings.Join(names, ", "))
	}
	return found, text, nil
}

// printOrdered prints an object with its keys in the order in which people write them.
func printOrdered(object map[string]any) ([]byte, error) {
	n, err := nodeOf(object)
	if err != nil {
		return nil, err
	}
	text, err := printNode(inOrder(n))
	return []byte(text), err
}
