package liveview

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// ReadDivision reads the division on the Lease of an installation. holder holds the Lease;
// "" is nobody. isDivided is false while one process holds it: that process serves all
// resources, whatever division the replicas before it left.
func ReadDivision(lease metav1.Object, holder string) (d replicas.Division, isDivided bool) {
	if holder != "" && holder != replicas.Holder {
		return replicas.Division{}, false
	}
	return replicas.Parse(lease.GetAnnotations()[api.AnnotationDivision])
}
