package lint

import (
	"slices"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// optionalSpec tells once, at the CRD, of a spec that a resource need not have.
// Without it there are neither the fields that it requires nor those with
// defaults; what follows of that alone is not told at each place that reads one.
func (l *linter) optionalSpec() {
	root := schema.Root(l.kind.Version)
	if _, declared := root.Field("spec"); !declared || root.Always("spec") {
		return
	}
	if !slices.ContainsFunc(l.findings, func(f typecheck.Finding) bool { return f.Class == typecheck.Nil || f.Class == typecheck.Falsy }) {
		return
	}
	given := &linter{catalog: l.catalog, kind: l.kind, flow: flowOf(l.catalog, l.kind, withGivenField(root, "spec"))}
	given.findings = slices.Clone(given.flow.Findings)
	given.checkDocuments()
	type key struct {
		class typecheck.Class
		place template.Place
	}
	stays := map[key]bool{}
	for _, f := range given.findings {
		stays[key{f.Class, f.Place}] = true
	}
	all := len(l.findings)
	l.findings = slices.DeleteFunc(l.findings, func(f typecheck.Finding) bool {
		return (f.Class == typecheck.Nil || f.Class == typecheck.Falsy) && !stays[key{f.Class, f.Place}]
	})
	if len(l.findings) < all {
		l.add(typecheck.Nil, l.inCRD(l.schemaPath()),
			"spec itself is not required: a resource without it has nothing of what templates read there, neither required fields nor defaults: add required: [spec] beside properties")
	}
}

// withGivenField returns the type of an object with a field that is always there.
func withGivenField(t *schema.Type, name string) *schema.Type {
	fields, given := map[string]*schema.Type{}, []string{name}
	for _, field := range t.Fields() {
		if fields[field], _ = t.Field(field); t.Always(field) {
			given = append(given, field)
		}
	}
	object := schema.ObjectOf(fields, given...)
	if t.FreeForm() {
		return object.AllowUnknown()
	}
	return object
}
