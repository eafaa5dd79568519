package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkCRD checks the CRD beyond its schema, and whether it has what the engine needs.
func (l *linter) checkCRD() {
	l.engineStatus()
	for _, at := range l.jsonPaths() {
		l.jsonPath(at)
	}
	for i, v := range l.kind.CRD.Versions {
		l.checkRequired(v.Live(), fieldAt{v.Name, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i), ""})
	}
}

// A fieldAt is a field of a version: where its schema is in the CRD, and its own path.
type fieldAt struct{ version, written, path string }

// checkRequired finds fields that a schema requires and does not declare. The API server drops such
// a field, and then misses it.
func (l *linter) checkRequired(t *schema.Type, at fieldAt) {
	if t.Kind() == schema.KindList || t.Kind() == schema.KindFreeMap {
		step := ".items"
		if t.Kind() == schema.KindFreeMap {
			step = ".additionalProperties"
		}
		l.checkRequired(t.Elem(), fieldAt{at.version, at.written + step, at.path + "[]"})
		return
	}
	for _, name := range t.Required() {
		if _, declared := t.Field(name); declared {
			continue
		}
		text := fmt.Sprintf("%s %s requires %s and does not declare it, so it is dropped, and then missing",
			l.kind.GVK.Kind, at.version, joinPath(at.path, name))
		if near := schema.Suggest(name, t.Fields()); near != "" {
			text += "; did you mean " + joinPath(at.path, near) + "?"
		}
		l.findings = append(l.findings, typecheck.Finding{
			Class: typecheck.UnknownField, Place: l.inCRD(at.written + ".required"), Path: joinPath(at.path, name), Text: text,
		})
	}
	for _, name := range t.Fields() {
		if field, _ := t.Field(name); at.path != "" || name != "metadata" {
			l.checkRequired(field, fieldAt{at.version, at.written + ".properties." + name, joinPath(at.path, name)})
		}
	}
}

// A jsonPath is a JSON path that the CRD writes, for the version of that number.
type jsonPath struct {
	version       int
	written, path string
}

// jsonPaths are those of printer columns, selectable fields and the scale
// subresource.
func (l *linter) jsonPaths() []jsonPath {
	var all []jsonPath
	for i, v := range l.kind.CRD.Object.Spec.Versions {
		at := fmt.Sprintf("spec.versions[%d]", i)
		for j, column := range v.AdditionalPrinterColumns {
			all = append(all, jsonPath{i, fmt.Sprintf("%s.additionalPrinterColumns[%d].jsonPath", at, j), column.JSONPath})
		}
		for j, field := range v.SelectableFields {
			all = append(all, jsonPath{i, fmt.Sprintf("%s.selectableFields[%d].jsonPath", at, j), field.JSONPath})
		}
		if v.Subresources == nil || v.Subresources.Scale == nil {
			continue
		}
		scale, at := v.Subresources.Scale, at+".subresources.scale."
		all = append(all, jsonPath{i, at + "specReplicasPath", scale.SpecReplicasPath},
			jsonPath{i, at + "statusReplicasPath", scale.StatusReplicasPath})
		if scale.LabelSelectorPath != nil {
			all = append(all, jsonPath{i, at + "labelSelectorPath", *scale.LabelSelectorPath})
		}
	}
	return all
}

// inCRD is where something is written in the CRD.
func (l *linter) inCRD(path string) template.Place {
	line, column := crdfile.LocateIn(l.kind.CRD, path)
	return template.Place{File: l.kind.CRD.File, Line: line, Column: column}
}

// engineStatus finds a CRD that cannot keep what the engine says of a resource.
func (l *linter) engineStatus() {
	at := fmt.Sprintf("spec.versions[%d]", l.versionIndex())
	if !l.kind.Version.Status {
		if !l.kind.HasStatus { // which is told at the file
			l.add(DroppedStatus, l.inCRD(at),
				"the version has no status subresource, so nobody learns whether its resources are ready: add subresources: {status: {}}")
		}
		return
	}
	status, declared := schema.Root(l.kind.Version).Field("status")
	if !declared {
		if !l.kind.HasStatus {
			l.add(DroppedStatus, l.inCRD(l.schemaPath()),
				"the schema declares no status, so the condition Ready is dropped: add properties.status with conditions")
		}
		return
	}
	if _, declared := status.Field("conditions"); !declared {
		l.add(DroppedStatus, l.inCRD(l.schemaPath()+".properties.status"),
			"the status declares no conditions, so the engine's Ready is dropped, for which people and kubectl wait look: add conditions, and what else the engine writes")
	}
}

// versionIndex returns the index of the kind's version in the CRD.
func (l *linter) versionIndex() int {
	return slices.IndexFunc(l.kind.CRD.Object.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == l.kind.Version.Name
	})
}

// step is one step of a JSON path: .name, ['name'], or [whatever else], which
// gives items.
var step = regexp.MustCompile(`^(?:\.([\w-]+)|\['([^']+)'\]|\[[^\]]*\])`)

// jsonPath finds a JSON path of a field that the schema of a version does not
// declare.
func (l *linter) jsonPath(of jsonPath) {
	v := l.kind.CRD.Versions[of.version]
	t, at, rest := v.Live(), "", of.path
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
			l.findings = append(l.findings, typecheck.Finding{
				Class: typecheck.UnknownField, Place: l.inCRD(of.written), Path: joinPath(at, name), Text: describeUndeclared(subject, at, name, t),
			})
			return
		}
		t, at = field, joinPath(at, name)
	}
}
