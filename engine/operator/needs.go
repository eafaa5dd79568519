package operator

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// apis are the kinds that there are in the cluster, as far as is known.
func (o *Operator) apis() reconcile.APIs {
	return reconcile.APIs{Served: o.discovery.Served(), Defined: o.defined}
}

// defined says whether a CRD defines a kind, be it served just now or not.
func (o *Operator) defined(gk apischema.GroupKind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, crd := range o.crds {
		if crd.Spec.Group == gk.Group && crd.Spec.Names.Kind == gk.Kind {
			return true
		}
	}
	return false
}
