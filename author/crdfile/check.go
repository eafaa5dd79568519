package crdfile

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// checkCreation runs the API server's own validation of a new definition: names,
// exactly one storage version, structural schemas, defaults that validate, CEL
// rules that compile within their cost.
func (d *document) checkCreation(object *apiextensionsv1.CustomResourceDefinition) Errors {
	full := object.DeepCopy()
	full.Status = apiextensionsv1.CustomResourceDefinitionStatus{} // as at a creation
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(full)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(full, internal, nil); err != nil {
		return Errors{d.newFinding("", fmt.Sprintf("converting: %v", err))}
	}
	var errs Errors
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
		if strings.HasPrefix(err.Field, "status.") {
			continue // follows from spec.versions, where it is reported
		}
		err.Field = writtenPath(err.Field)
		errs = append(errs, d.fieldFinding(err))
	}
	return errs.sortUnique()
}

// hoisted are the places to which the internal form moves what all versions have
// in common, and where an author finds it.
var hoisted = []struct{ from, to string }{
	{"spec.validation", "spec.versions[0].schema"},
	{"spec.subresources", "spec.versions[0].subresources"},
	{"spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"},
	{"spec.selectableFields", "spec.versions[0].selectableFields"},
}

// writtenPath turns a path of the internal form into that of the file.
func writtenPath(path string) string {
	for _, h := range hoisted {
		rest, found := strings.CutPrefix(path, h.from)
		if found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return h.to + rest
		}
	}
	return path
}
