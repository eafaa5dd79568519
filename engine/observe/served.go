package observe

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/restmapper"
)

// A Resource is how the cluster serves one kind in one version.
type Resource struct {
	GVR        schema.GroupVersionResource
	GVK        schema.GroupVersionKind
	Namespaced bool
	Verbs      sets.Set[string]
}

func (r Resource) equal(o Resource) bool {
	return r.GVR == o.GVR && r.GVK == o.GVK && r.Namespaced == o.Namespaced && r.Verbs.Equal(o.Verbs)
}

// Leases are how every cluster serves them.
var Leases = Resource{
	GVR:        schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	GVK:        schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	Namespaced: true,
}

// A Served is an immutable snapshot of what the cluster serves.
type Served struct {
	resources map[schema.GroupVersionKind]Resource
	preferred map[schema.GroupKind]schema.GroupVersionKind
	unknown   map[string]error
	groups    map[string]*restmapper.APIGroupResources
	mapper    meta.RESTMapper
}

// Resource returns how this kind is served; false if it is not. Ask Unknown
// before taking false for "not served".
func (s *Served) Resource(gvk schema.GroupVersionKind) (Resource, bool) {
	r, found := s.resources[gvk]
	return r, found
}

// Preferred returns the kind in the version that the cluster prefers for it.
func (s *Served) Preferred(gk schema.GroupKind) (Resource, bool) {
	r, found := s.resources[s.preferred[gk]]
	return r, found
}

// Unknown returns an error if discovery of this group failed, so that it
// cannot be told whether a kind of it is served.
func (s *Served) Unknown(group string) error { return s.unknown[group] }

// Without returns the snapshot without these kinds: their CRDs are going, and
// discovery is the last to say so.
func (s *Served) Without(kinds map[schema.GroupKind]bool) *Served {
	if len(kinds) == 0 {
		return s
	}
	left := *s
	left.resources, left.preferred = maps.Clone(s.resources), maps.Clone(s.preferred)
	maps.DeleteFunc(left.resources, func(gvk schema.GroupVersionKind, _ Resource) bool { return kinds[gvk.GroupKind()] })
	maps.DeleteFunc(left.preferred, func(gk schema.GroupKind, _ schema.GroupVersionKind) bool { return kinds[gk] })
	return &left
}

// snapshot makes a Served out of an answer of discovery. A group version that
// failed keeps what prev knew of it.
func snapshot(prev *Served, groups []*metav1.APIGroup, lists []*metav1.APIResourceList, failed map[schema.GroupVersion]error) *Served {
	s := &Served{
		resources: map[schema.GroupVersionKind]Resource{},
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
		s.carry(prev, gv)
	}
	s.index()
	return s
}

// carry takes over what prev knew of a group version whose discovery failed.
// The order of versions is that of prev, so that a failure does not change
// which one is preferred.
func (s *Served) carry(prev *Served, gv schema.GroupVersion) {
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

func (s *Served) index() {
	all := make([]*restmapper.APIGroupResources, 0, len(s.groups))
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[name]
		all = append(all, g)
		for _, v := range preferredFirst(g.Group) {
			s.indexVersion(schema.GroupVersion{Group: name, Version: v}, g.VersionedResources[v])
		}
	}
	s.mapper = restmapper.NewDiscoveryRESTMapper(all)
}

func (s *Served) indexVersion(gv schema.GroupVersion, resources []metav1.APIResource) {
	for _, r := range resources {
		gvk := gv.WithKind(r.Kind)
		if _, taken := s.resources[gvk]; taken || strings.Contains(r.Name, "/") {
			continue
		}
		s.resources[gvk] = Resource{GVR: gv.WithResource(r.Name), GVK: gvk, Namespaced: r.Namespaced, Verbs: sets.New(r.Verbs...)}
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

// same says whether two snapshots tell the same.
func (s *Served) same(o *Served) bool {
	return maps.EqualFunc(s.resources, o.resources, Resource.equal) && maps.Equal(s.preferred, o.preferred) &&
		maps.EqualFunc(s.unknown, o.unknown, func(a, b error) bool { return a.Error() == b.Error() })
}
