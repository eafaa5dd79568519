package observe

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

// DescribeUnlisted describes, for a resource that stays, what may be left of kinds on record that
// no permission lets us list: an earlier folder created it, or this one for an earlier spec, and
// nothing else would tell. Kinds of which the plan has steps are left out: these tell.
func (w *Snapshot) DescribeUnlisted(p *plan.Plan) (all []string) {
	crd := w.Subject.CRD()
	if !p.IsRendered || crd == nil {
		return nil
	}
	add := func(gvk schema.GroupVersionKind, ownership string, err error) {
		var rule *live.RuleError
		if errors.As(err, &rule) {
			left := kind.RetiredRule{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Ownership: ownership}
			all = append(all, w.describeForbidden(left, rule))
		}
	}
	for _, gk := range api.ParseKinds(crd.GetAnnotations()[api.AnnotationChildKinds]) {
		for gvk, state := range w.state {
			if gvk.GroupKind() == gk && !hasSteps(p, gk, false) {
				add(gvk, "", state.Err)
			}
		}
	}
	for _, gk := range api.ParseKinds(crd.GetAnnotations()[api.AnnotationPatchedKinds]) {
		for gvk, err := range w.unpatched {
			if gvk.GroupKind() == gk && !hasSteps(p, gk, true) {
				add(gvk, "patch", err)
			}
		}
	}
	return all
}

// describeForbidden describes what is not known of a kind, and how roles that are made of the
// folder get the missing permission.
func (w *Snapshot) describeForbidden(left kind.RetiredRule, missing *live.RuleError) string {
	text := fmt.Sprintf("what is left of kind %s is not known: %v", left.Kind, missing)
	gk := left.GVK().GroupKind()
	if k := w.Subject.Version.Kind; k != nil && !k.Retires(gk, left.Patch()) && !w.Subject.Version.WritesKind(gk, left.Patch()) {
		text += "; so that roles have it, write in kind.yaml, under retired: - " + left.String()
	}
	return text
}

// hasSteps reports whether a plan makes, or patches, an object of a kind.
func hasSteps(p *plan.Plan, gk schema.GroupKind, patches bool) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Child.Policy.Patch == patches && s.Document.GroupVersionKind().GroupKind() == gk
	})
}
