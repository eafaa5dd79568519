package diff

import (
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// describeUnchanged says what becomes of a child that is applied again and says the same
// afterwards: whose its fields are.
func describeUnchanged(a *reconcile.Tried) string {
	said := []string{"every field keeps its value"}
	if a.Step.Live == nil {
		return said[0]
	}
	entry, found, err := ownership.Ours(a.Step.Live.Meta.GetManagedFields(), api.FieldManager)
	if !found || err != nil {
		return said[0]
	}
	if lost := entry.Extra(a.Step.Document.Object); len(lost) > 0 {
		said = append(said, "no longer ours: "+plan.Brief(lost))
	}
	if won := entry.Missing(a.Step.Document.Object); len(won) > 0 {
		said = append(said, "ours from now on: "+plan.Brief(won))
	}
	var initial []string
	for _, path := range a.Step.Child.Policy.Initial {
		if entry.Reaches(path...) {
			initial = append(initial, strings.Join(path, "."))
		}
	}
	if len(initial) > 0 {
		said = append(said, "only set initially: "+plan.Brief(initial))
	}
	if len(said) == 1 {
		return said[0] + ", and only the record of what is applied is written again"
	}
	return strings.Join(said, "; ")
}
