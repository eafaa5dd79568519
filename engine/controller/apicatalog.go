package controller

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// promisedKinds is what the cluster serves, and what its CRDs promise besides.
func (a *apiCatalog) promisedKinds() *cluster.Served {
	return a.definitions.addPromised(a.discovery.Served())
}

// servedKinds is what the cluster serves, without the kinds whose CRD is going.
func (a *apiCatalog) servedKinds() *cluster.Served {
	return a.definitions.addStaying(a.discovery.Served())
}

// knownAPIs are the kinds that there are in the cluster, as far as is known.
func (a *apiCatalog) knownAPIs() observe.APIs {
	return observe.APIs{Served: a.discovery.Served(), Defined: a.isDefined}
}

// findResource is how the cluster serves a kind, also while its CRD goes.
func (a *apiCatalog) findResource(gvk schema.GroupVersionKind) (live.Resource, bool) {
	return a.discovery.Served().Resource(gvk)
}

// declaresConditions reports whether the CRD of a kind of child declares
// status.conditions.
func (a *apiCatalog) declaresConditions(gk schema.GroupKind) bool {
	crd := a.definitions.findCRD(gk)
	return crd != nil && observe.DeclaresConditions(crd)
}

// isDefined reports whether a CRD defines a kind, be it served just now or not.
func (a *apiCatalog) isDefined(gk schema.GroupKind) bool { return a.definitions.findCRD(gk) != nil }

// placeKind is a kind as it is in this cluster.
func (a *apiCatalog) placeKind(k *kind.Kind) (*kind.Kind, error) {
	if err := k.CheckScopes(a.scopeOf); err != nil {
		return nil, err
	}
	return k.At(kind.Site{Namespace: a.options.Namespace, Namespaces: a.options.Namespaces, Scopes: a.scopeOf}), nil
}

// scopeOf reports whether a kind that is not built in lives in no namespace.
func (a *apiCatalog) scopeOf(gvk schema.GroupVersionKind) (clusterScoped, known bool) {
	served, found := a.discovery.Served().Resource(gvk)
	return found && !served.Namespaced, found
}
