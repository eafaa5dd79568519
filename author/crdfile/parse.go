package crdfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Parse reads one CustomResourceDefinition (apiextensions.k8s.io/v1) from YAML or
// JSON. It refuses what an API server refuses at creation, and unknown and
// repeated fields. The error is of type Errors: all findings, each with file
// and, where known, line and column.
func Parse(file string, data []byte) (*schema.CRD, error) {
	doc, errs := readDocument(file, data)
	if errs != nil {
		return nil, errs
	}
	object, errs := doc.decodeObject(data)
	if errs != nil {
		return nil, errs
	}
	if errs := doc.checkCreation(object); errs != nil {
		return nil, errs
	}
	crd, err := schema.FromObject(object)
	if err != nil {
		return nil, Errors{doc.newFinding("", err.Error())}
	}
	crd.File, crd.Source = file, doc.root
	return crd, nil
}

// decodeObject makes the typed definition of the document, strictly.
func (d *document) decodeObject(data []byte) (*apiextensionsv1.CustomResourceDefinition, Errors) {
	raw, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, yamlErrors(d.file, err)
	}
	if errs := d.checkHeader(raw); errs != nil {
		return nil, errs
	}
	object := &apiextensionsv1.CustomResourceDefinition{}
	strict, err := kjson.UnmarshalStrict(raw, object)
	if err != nil {
		return nil, Errors{d.typeFinding(err)}
	}
	errs := d.unknownSchemaFields()
	for _, err := range strict {
		path, text := "", err.Error()
		var located kjson.FieldError
		if errors.As(err, &located) {
			path, text = located.FieldPath(), strings.TrimSuffix(text, fmt.Sprintf(" %q", located.FieldPath()))
		}
		if !slices.ContainsFunc(errs, func(f *Finding) bool { return f.Field == path }) {
			errs = append(errs, d.newFinding(path, text))
		}
	}
	return object, errs.sortUnique()
}

// checkHeader checks that the document is a definition at all, before anything is
// said about its fields.
func (d *document) checkHeader(raw []byte) Errors {
	var head struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &head); err != nil {
		return Errors{d.newFinding("", "must be one CustomResourceDefinition")}
	}
	if head.Kind != "CustomResourceDefinition" {
		return Errors{d.newFinding("kind", "must be CustomResourceDefinition")}
	}
	if want := apiextensionsv1.SchemeGroupVersion.String(); head.APIVersion != want {
		return Errors{d.newFinding("apiVersion", "must be "+want)}
	}
	return nil
}
