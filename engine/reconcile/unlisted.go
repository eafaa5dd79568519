package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// reportUnlisted reports, for a resource that stays, which kinds on record no right lets
// us list: what an earlier folder made of them, or this one for an earlier spec,
// may be left, and nothing else would tell. Of a kind that the plan has steps
// of, these tell.
func (w *snapshot) reportUnlisted(p *plan.Plan, found *findings) {
	crd := w.subject.readCRD()
	if !p.IsRendered || crd == nil {
		return
	}
	for _, gk := range Recorded(crd.GetAnnotations()[api.AnnotationChildKinds]) {
		for gvk, state := range w.state {
			if gvk.GroupKind() == gk && !hasSteps(p, gk, false) {
				w.reportForbidden(kind.RetiredRule{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}, state.Err, found)
			}
		}
	}
	for _, gk := range Recorded(crd.GetAnnotations()[api.AnnotationPatchedKinds]) {
		for gvk, err := range w.unpatched {
			if gvk.GroupKind() == gk && !hasSteps(p, gk, true) {
				w.reportForbidden(kind.RetiredRule{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Ownership: "patch"}, err, found)
			}
		}
	}
}

// reportForbidden reports that what is left of a kind is not known, if no right lets us
// see it, and how roles that are made of the folder have it.
func (w *snapshot) reportForbidden(left kind.RetiredRule, err error, found *findings) {
	var rule *live.RuleError
	if !errors.As(err, &rule) {
		return
	}
	text := fmt.Sprintf("what is left of kind %s is not known: %v", left.Kind, rule)
	gk := left.GVK().GroupKind()
	if k := w.subject.version.Kind; k != nil && !k.Retires(gk, left.Patch()) && !w.subject.version.writesKind(gk, left.Patch()) {
		text += "; so that roles have it, write in kind.yaml, under retired: - " + left.String()
	}
	found.addUnknown(text)
}

// hasSteps reports whether a plan makes, or patches, an object of a kind.
func hasSteps(p *plan.Plan, gk schema.GroupKind, patches bool) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Child.Policy.Patch == patches && s.Document.GroupVersionKind().GroupKind() == gk
	})
}
