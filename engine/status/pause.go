package status

import (
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// paused is the state of the condition Paused, nil if the resource is not.
func paused(in Input) *state {
	if !in.Paused {
		return nil
	}
	s := state{"True", api.ReasonPaused, "nothing is applied or deleted while paused"}
	if unapplied(in.Live, in.Generation) {
		s.reason = api.ReasonNotApplied
		s.message += ", and the present generation was not applied before"
	}
	if len(in.OtherVersions) > 0 {
		s.message += "; children have an owner reference in " + strings.Join(in.OtherVersions, ", ") +
			": end the pause before that version is no longer served, or they stay when the resource is deleted"
	}
	return &s
}

// unapplied says of a paused resource whether its present generation was not, or
// not wholly, applied before the pause: the last status tells.
func unapplied(live map[string]any, generation int64) bool {
	ready := conditionOf(live, "Ready")
	if ready == nil {
		return true
	}
	for _, observed := range []any{live["observedGeneration"], ready["observedGeneration"]} { // a CRD may declare either
		if observed, known := observed.(int64); known && observed != generation {
			return true
		}
	}
	if p := conditionOf(live, "Paused"); p != nil { // it was paused before
		return text(p, "reason") == api.ReasonNotApplied
	}
	return slices.ContainsFunc([]string{"Stalled", "Reconciling"}, func(kind string) bool {
		c := conditionOf(live, kind)
		return c != nil && !slices.Contains(besideApplying, text(c, "reason"))
	})
}

// besideApplying are the reasons for not being ready of a resource all of which
// was applied.
var besideApplying = []string{api.ReasonChildrenNotReady, api.ReasonChildFailed, api.ReasonStatusInvalid, api.ReasonStatusRenderFailed}
