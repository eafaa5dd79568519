package reconcile

import (
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// overridden is the condition that names fields which the API server's
// admission changed in what was applied; they are not fought over.
const (
	overridden     = "Overridden"
	overriddenText = "the cluster changed what was applied and is not contradicted: "
)

// recordOverridden notes where the server changed what was applied.
func (t learner) recordOverridden(s *plan.Step, differ []ownership.Difference) {
	name := shortName(s.Document.GetKind(), s.Document.GetName())
	delete(t.memory.changed, name)
	for _, d := range differ {
		if !d.Normalised && !d.Unset {
			t.memory.changed[name] = append(t.memory.changed[name], d.Path)
		}
	}
}

func shortName(kind, name string) string { return kind + "/" + name }

// inheritOverridden takes from the live status what an earlier process found overridden:
// a child that is not applied again is as overridden as it was.
func (t publisher) inheritOverridden() {
	if t.memory.changed != nil {
		return
	}
	t.memory.changed = map[string][]string{}
	message, _ := status.Condition(t.subject.Resource.Object, overridden)["message"].(string)
	for _, item := range strings.Split(strings.TrimPrefix(message, overriddenText), ", ") {
		if child, path, found := strings.Cut(item, " "); found {
			t.memory.changed[child] = append(t.memory.changed[child], path)
		}
	}
}

// withOverridden adds the condition to the kind's own ones.
func (t publisher) withOverridden(fields map[string]any) map[string]any {
	var all []string
	for child, paths := range t.memory.changed {
		for _, path := range paths {
			all = append(all, child+" "+path)
		}
	}
	if len(all) == 0 {
		return fields
	}
	slices.Sort(all)
	own, _ := fields["conditions"].([]any)
	fields["conditions"] = append(slices.Clone(own), map[string]any{
		"type": overridden, "status": "True", "reason": "ChangedByAdmission",
		"message": overriddenText + strings.Join(slices.Compact(all), ", "),
	})
	return fields
}
