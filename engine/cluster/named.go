package cluster

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// Named returns what a person may mean by a name, in the versions that the
// cluster prefers: the one resource of that full name (webs.example.com), else
// all of that kind, plural, singular or short name, by their full names.
func (s *Served) Named(name string) []live.Resource {
	var all []live.Resource
	for _, group := range s.groups {
		for version, resources := range group.VersionedResources {
			gv := schema.GroupVersion{Group: group.Group.Name, Version: version}
			for _, r := range resources {
				full := gv.WithResource(r.Name).GroupResource().String()
				found, preferred := s.Preferred(gv.WithKind(r.Kind).GroupKind())
				if !preferred || found.GVR != gv.WithResource(r.Name) {
					continue
				}
				if full == name {
					return []live.Resource{found}
				}
				if isNamed(r, name) {
					all = append(all, found)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b live.Resource) int { return strings.Compare(a.GVR.String(), b.GVR.String()) })
	return all
}

// isNamed reports whether people call a resource by a name.
func isNamed(r metav1.APIResource, name string) bool {
	return strings.EqualFold(r.Kind, name) || r.Name == name || r.SingularName == name || slices.Contains(r.ShortNames, name)
}

// InGroup returns the namespaced kinds of a group that can be listed, in the
// versions that the cluster prefers.
func (s *Served) InGroup(group string) []live.Resource {
	var all []live.Resource
	for gk, gvk := range s.preferred {
		if r := s.resources[gvk]; gk.Group == group && r.Namespaced && r.Verbs.Has("list") {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b live.Resource) int { return strings.Compare(a.GVK.Kind, b.GVK.Kind) })
	return all
}

// Listable are all kinds whose objects can be listed, each in the version that
// the cluster prefers, by group and name.
func (s *Served) Listable() []live.Resource {
	var all []live.Resource
	for _, gvk := range s.preferred {
		if r := s.resources[gvk]; r.Verbs.Has("list") {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b live.Resource) int { return strings.Compare(a.GVR.String(), b.GVR.String()) })
	return all
}

// Troubled are the groups of which discovery failed, sorted.
func (s *Served) Troubled() []string { return slices.Sorted(maps.Keys(s.unknown)) }
