package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// crd checks what the CRD says besides the schema, and what it must have for
// the engine.
func (l *linter) crd() {
	l.engineStatus()
	for i, v := range l.kind.CRD.Object.Spec.Versions {
		at := fmt.Sprintf("spec.versions[%d]", i)
		for j, column := range v.AdditionalPrinterColumns {
			l.jsonPath(i, fmt.Sprintf("%s.additionalPrinterColumns[%d].jsonPath", at, j), column.JSONPath)
		}
		for j, field := range v.SelectableFields {
			l.jsonPath(i, fmt.Sprintf("%s.selectableFields[%d].jsonPath", at, j), field.JSONPath)
		}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			scale := v.Subresources.Scale
			l.jsonPath(i, at+".subresources.scale.specReplicasPath", scale.SpecReplicasPath)
			l.jsonPath(i, at+".subresources.scale.statusReplicasPath", scale.StatusReplicasPath)
			if scale.LabelSelectorPath != nil {
				l.jsonPath(i, at+".subresources.scale.labelSelectorPath", *scale.LabelSelectorPath)
			}
		}
	}
}

// inCRD is where something is written in the CRD.
func (l *linter) inCRD(path string) template.Place {
	line, column := l.kind.CRD.Locate(path)
	return template.Place{File: l.kind.CRD.File, Line: line, Column: column}
}

// engineStatus finds a CRD that cannot keep what the engine says of a resource.
func (l *linter) engineStatus() {
	at := fmt.Sprintf("spec.versions[%d]", l.version())
	if !l.kind.Version.Status {
		if !l.kind.HasStatus { // which is told at the file
			l.add(StatusDropped, l.inCRD(at), "the version has no status subresource, so nobody learns whether its resources are ready: add subresources: {status: {}}")
		}
		return
	}
	status, declared := schema.Root(l.kind.Version).Field("status")
	if !declared {
		if !l.kind.HasStatus {
			l.add(StatusDropped, l.inCRD(at+".schema.openAPIV3Schema"), "the schema declares no status, so the condition Ready is dropped: add properties.status with conditions")
		}
		return
	}
	if _, declared := status.Field("conditions"); !declared {
		l.add(StatusDropped, l.inCRD(at+".schema.openAPIV3Schema.properties.status"),
			"the status declares no conditions, so the engine's Ready is dropped, for which people and kubectl wait look: add conditions, and what else the engine writes")
	}
}

// version is the number of the kind's version in the CRD.
func (l *linter) version() int {
	return slices.IndexFunc(l.kind.CRD.Object.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == l.kind.Version.Name
	})
}

// step is one step of a JSON path: .name, ['name'], or [whatever else], which
// gives items.
var step = regexp.MustCompile(`^(?:\.([\w-]+)|\['([^']+)'\]|\[[^\]]*\])`)

// jsonPath finds a JSON path of a field that the schema of a version does not
// declare.
func (l *linter) jsonPath(version int, written, path string) {
	v := l.kind.CRD.Versions[version]
	t, at, rest := v.Live(), "", path
	if !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "[") {
		rest = "." + rest
	}
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return // more of a path than is understood
		}
		rest = rest[len(m[0]):]
		name := m[1] + m[2]
		if name == "" {
			if t.Kind() != schema.KindList {
				return
			}
			t, at = t.Elem(), at+"[]"
			continue
		}
		field, found := t.Field(name)
		if !found {
			subject := l.kind.GVK.Kind + " " + v.Name
			l.findings = append(l.findings, flow.Finding{
				Class: flow.UnknownField, Place: l.inCRD(written), Path: below(at, name), Text: undeclared(subject, at, name, t),
			})
			return
		}
		t, at = field, below(at, name)
	}
}
