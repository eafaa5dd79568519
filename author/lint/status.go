package lint

import (
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// engineStatus are the fields of a status that the engine has a hand in.
var engineStatus = []string{"conditions", "observedGeneration", "children"}

// checkStatus checks what status.yaml makes against the CRD's schema.
func (l *linter) checkStatus() {
	if !l.kind.HasStatus {
		return
	}
	if !l.kind.Version.Status {
		l.add(DroppedStatus, l.statusPlace(),
			"the CRD has no status subresource, so this status is never written: add subresources: {status: {}} to its version, or remove the file")
		return
	}
	t, declared := schema.Root(l.kind.Version).Field("status")
	if !declared {
		l.add(DroppedStatus, l.statusPlace(),
			"the CRD declares no status, so this one is dropped: add properties.status to its schema, or remove the file")
		return
	}
	for _, way := range l.flow.Paths[statusFile] {
		for _, made := range way.Documents {
			if way.Ends != "" || made.Root == nil {
				continue
			}
			l.checkSecrets(apischema.GroupVersionKind{}, made.Root)
			l.saysReady(made.Root)
			f := fitter{subject: l.kind.GVK.Kind + " " + l.kind.GVK.Version, unknown: DroppedStatus}
			root := *made.Root
			root.Keys = slices.Clone(root.Keys)
			for _, own := range engineStatus { // what the engine takes of these is checked when they are rendered
				for i, e := range root.Keys {
					if _, declared := t.Field(own); e.Name == own && !declared {
						root.Keys = slices.Delete(root.Keys, i, i+1)
						break
					}
				}
			}
			f.checkNode(&root, t, "status")
			for i := range f.findings {
				f.findings[i].Class = DroppedStatus
			}
			l.findings = append(l.findings, f.findings...)
		}
	}
}

// saysReady finds a condition that only the engine may write.
func (l *linter) saysReady(root *typecheck.Node) {
	conditions := entryOf(root, "conditions")
	if conditions == nil {
		return
	}
	for _, item := range conditions.Items {
		if literalText(entryOf(item, "type")) == "Ready" && literalText(entryOf(item, "status")) == "True" {
			l.add(DroppedStatus, item.Place, "only the engine says that a resource is Ready, once all children are: leave this condition out, or take a type of your own; Ready may be \"False\" here")
		}
	}
}

// statusPlace is the beginning of status.yaml.
func (l *linter) statusPlace() template.Place {
	place := template.Place{Line: 1, Column: 1}
	if f := l.catalog.Folder(l.name); f != nil && f.Status != nil {
		place.File = f.Status.Shown
	}
	return place
}
