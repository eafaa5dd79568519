package cluster

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// TestChangesTo: two snapshots differ about a kind that is served otherwise, that is promised, or
// of which it is not known whether it is served; and about no other.
func TestChangesTo(t *testing.T) {
	thing, other := schema.GroupKind{Group: "a.example.com", Kind: "Thing"}, schema.GroupKind{Group: "b.example.com", Kind: "Other"}
	serving := func(plural string, gvks ...schema.GroupVersionKind) *Served {
		s := &Served{resources: map[schema.GroupVersionKind]live.Resource{}, preferred: map[schema.GroupKind]schema.GroupVersionKind{}}
		for _, gvk := range gvks {
			s.resources[gvk] = live.Resource{GVK: gvk, GVR: gvk.GroupVersion().WithResource(plural)}
			s.preferred[gvk.GroupKind()] = gvk
		}
		return s
	}
	v1, v2, stays := thing.WithVersion("v1"), thing.WithVersion("v2"), other.WithVersion("v1")
	unknown := serving("things", v1, stays)
	unknown.unknown = map[string]error{thing.Group: errors.New("no answer")}
	base := serving("things", v1, stays)
	for name, later := range map[string]*Served{
		"it is gone":                   serving("things", stays),
		"it has one more version":      serving("things", v1, v2, stays),
		"a CRD promises a version":     serving("things", v1, stays).Promising([]schema.GroupVersionKind{v2}),
		"its CRD goes":                 serving("things", v1, stays).Without(map[schema.GroupKind]bool{thing: true}),
		"nobody knows whether it is":   unknown,
		"another version is preferred": func() *Served { s := serving("things", v1, stays); s.preferred[thing] = v2; return s }(),
	} {
		for _, pair := range [][2]*Served{{base, later}, {later, base}} {
			if c := pair[0].ChangesTo(pair[1]); !c.Contains(thing) || c.Contains(other) {
				t.Errorf("%s: they differ about it: %t, and about another kind: %t", name, c.Contains(thing), c.Contains(other))
			}
		}
	}
	if c := base.ChangesTo(serving("things", v1, stays)); c.Contains(thing) || c.Contains(other) {
		t.Error("two snapshots of the same differ")
	}
	if c := base.ChangesTo(serving("renamed", v1, stays)); !c.Contains(thing) {
		t.Error("another name in the API is no difference")
	}
}
