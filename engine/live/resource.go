package live

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// A Resource is how the cluster serves one kind in one version.
type Resource struct {
	GVR        schema.GroupVersionResource
	GVK        schema.GroupVersionKind
	Namespaced bool
	Verbs      sets.Set[string]
}

// Equal reports whether both are served alike.
func (r Resource) Equal(o Resource) bool {
	return r.GVR == o.GVR && r.GVK == o.GVK && r.Namespaced == o.Namespaced && r.Verbs.Equal(o.Verbs)
}

// Leases are how every cluster serves them.
var Leases = Resource{
	GVR:        schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	GVK:        schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	Namespaced: true,
}
