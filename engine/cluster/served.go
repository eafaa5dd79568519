package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/restmapper"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Served is an immutable snapshot of what the cluster serves.
type Served struct {
	resources map[schema.GroupVersionKind]live.Resource
	preferred map[schema.GroupKind]schema.GroupVersionKind
	unknown   map[string]error
	promised  map[schema.GroupVersionKind]bool // and not shown
	groups    map[string]*restmapper.APIGroupResources
}

// Resource returns how this kind is served; false if it is not. Ask Doubt
// before taking false for "not served".
func (s *Served) Resource(gvk schema.GroupVersionKind) (live.Resource, bool) {
	r, found := s.resources[gvk]
	return r, found
}

// Preferred returns the kind in the version that the cluster prefers for it.
func (s *Served) Preferred(gk schema.GroupKind) (live.Resource, bool) {
	r, found := s.resources[s.preferred[gk]]
	return r, found
}

// Unknown returns an error if discovery of this group failed, so that it
// cannot be told whether a kind of it is served.
func (s *Served) Unknown(group string) error { return s.unknown[group] }

// Doubt returns an error if it cannot be told whether a kind is served:
// discovery of its group failed, or does not show what is promised.
func (s *Served) Doubt(gvk schema.GroupVersionKind) error {
	if s.promised[gvk] {
		return fmt.Errorf("a CRD defines %s %s, but the API server does not serve it yet", gvk.GroupVersion(), gvk.Kind)
	}
	return s.unknown[gvk.Group]
}

// Promising returns the snapshot knowing that the API server is to serve these
// kinds: one that it does not show yet, or for a moment, is not absent.
func (s *Served) Promising(kinds []schema.GroupVersionKind) *Served {
	promised := map[schema.GroupVersionKind]bool{}
	for _, gvk := range kinds {
		if _, shown := s.resources[gvk]; !shown {
			promised[gvk] = true
		}
	}
	if len(promised) == 0 {
		return s
	}
	more := *s
	more.promised = promised
	return &more
}

// lacksSome reports whether something of another snapshot is not in this one.
func (s *Served) lacksSome(o *Served) bool {
	for gvk := range o.resources {
		if _, found := s.resources[gvk]; !found {
			return true
		}
	}
	return false
}

// Without returns the snapshot without these kinds: their CRDs are going, and
// discovery is the last to say so.
func (s *Served) Without(kinds map[schema.GroupKind]bool) *Served {
	if len(kinds) == 0 {
		return s
	}
	left := *s
	left.resources, left.preferred = maps.Clone(s.resources), maps.Clone(s.preferred)
	maps.DeleteFunc(left.resources, func(gvk schema.GroupVersionKind, _ live.Resource) bool { return kinds[gvk.GroupKind()] })
	maps.DeleteFunc(left.preferred, func(gk schema.GroupKind, _ schema.GroupVersionKind) bool { return kinds[gk] })
	return &left
}

// newServed makes a Served out of an answer of discovery. A group version that failed keeps what
// prev knew of it.
func newServed(prev *Served, groups []*metav1.APIGroup, lists []*metav1.APIResourceList, failed map[schema.GroupVersion]error) *Served {
	s := &Served{
		resources: map[schema.GroupVersionKind]live.Resource{},
		preferred: map[schema.GroupKind]schema.GroupVersionKind{},
		unknown:   map[string]error{},
		groups:    map[string]*restmapper.APIGroupResources{},
	}
	for _, g := range groups {
		s.groups[g.Name] = &restmapper.APIGroupResources{Group: *g, VersionedResources: map[string][]metav1.APIResource{}}
	}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err == nil && s.groups[gv.Group] != nil {
			s.groups[gv.Group].VersionedResources[gv.Version] = l.APIResources
		}
	}
	for gv, err := range failed {
		s.unknown[gv.Group] = err
		s.carryOver(prev, gv)
	}
	s.indexGroups()
	return s
}

// carryOver takes over what prev knew of a group version whose discovery failed. The order of
// versions is that of prev, so that a failure does not change which one is preferred.
func (s *Served) carryOver(prev *Served, gv schema.GroupVersion) {
	old := prev.groups[gv.Group]
	if old == nil || old.VersionedResources[gv.Version] == nil {
		return
	}
	now := s.groups[gv.Group]
	if now == nil {
		now = &restmapper.APIGroupResources{Group: metav1.APIGroup{Name: gv.Group}, VersionedResources: map[string][]metav1.APIResource{}}
		s.groups[gv.Group] = now
	}
	now.VersionedResources[gv.Version] = old.VersionedResources[gv.Version]
	versions := slices.Clone(old.Group.Versions)
	for _, v := range now.Group.Versions {
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	now.Group.Versions = versions
	now.Group.PreferredVersion = old.Group.PreferredVersion
}

// indexGroups makes the indexes of a snapshot.
func (s *Served) indexGroups() {
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[name]
		for _, v := range preferredFirst(g.Group) {
			s.indexVersion(schema.GroupVersion{Group: name, Version: v}, g.VersionedResources[v])
		}
	}
}

func (s *Served) indexVersion(gv schema.GroupVersion, resources []metav1.APIResource) {
	for _, r := range resources {
		gvk := gv.WithKind(r.Kind)
		if _, taken := s.resources[gvk]; taken || strings.Contains(r.Name, "/") {
			continue
		}
		s.resources[gvk] = live.Resource{GVR: gv.WithResource(r.Name), GVK: gvk, Namespaced: r.Namespaced, Verbs: sets.New(r.Verbs...)}
		if _, taken := s.preferred[gvk.GroupKind()]; !taken {
			s.preferred[gvk.GroupKind()] = gvk
		}
	}
}

// preferredFirst returns the versions of a group in the order of preference.
func preferredFirst(g metav1.APIGroup) []string {
	versions := []string{}
	if v := g.PreferredVersion.Version; v != "" {
		versions = append(versions, v)
	}
	for _, v := range g.Versions {
		if !slices.Contains(versions, v.Version) {
			versions = append(versions, v.Version)
		}
	}
	return versions
}

// Changes are the kinds about which two snapshots differ.
type Changes struct {
	kinds  map[schema.GroupKind]bool
	groups map[string]bool // of which it became known, or unknown, what they serve
}

// Contains reports whether the snapshots differ about a kind.
func (c Changes) Contains(gk schema.GroupKind) bool { return c.kinds[gk] || c.groups[gk.Group] }

// ChangesTo returns the kinds that a later snapshot serves otherwise: in other versions, by other
// names, or no longer; and those of which it is known, or not known, only there.
func (s *Served) ChangesTo(later *Served) Changes {
	c := Changes{kinds: map[schema.GroupKind]bool{}, groups: map[string]bool{}}
	for _, pair := range [][2]*Served{{s, later}, {later, s}} {
		a, b := pair[0], pair[1]
		for gvk, resource := range a.resources {
			if other, found := b.resources[gvk]; !found || !resource.Equal(other) {
				c.kinds[gvk.GroupKind()] = true
			}
		}
		for gk, gvk := range a.preferred {
			if b.preferred[gk] != gvk {
				c.kinds[gk] = true
			}
		}
		for gvk := range a.promised {
			if !b.promised[gvk] {
				c.kinds[gvk.GroupKind()] = true
			}
		}
		for group, err := range a.unknown {
			if other := b.unknown[group]; other == nil || other.Error() != err.Error() {
				c.groups[group] = true
			}
		}
	}
	return c
}

// isSame reports whether two snapshots are the same.
func (s *Served) isSame(o *Served) bool {
	return maps.EqualFunc(s.resources, o.resources, live.Resource.Equal) && maps.Equal(s.preferred, o.preferred) &&
		maps.EqualFunc(s.unknown, o.unknown, func(a, b error) bool { return a.Error() == b.Error() })
}
