package operator

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// recorded are the kinds on record, in the version that the cluster prefers.
// Where the cluster cannot tell whether it has them, they have no version:
// their objects are then unknown, and nobody takes them for gone.
func (o *Operator) recorded(text string) []apischema.GroupVersionKind {
	served := o.discovery.Served()
	var all []apischema.GroupVersionKind
	for _, gk := range reconcile.Recorded(text) {
		if r, found := served.Preferred(gk); found {
			all = append(all, r.GVK)
		} else if served.Unknown(gk.Group) != nil {
			all = append(all, gk.WithVersion(""))
		}
	}
	return all
}
