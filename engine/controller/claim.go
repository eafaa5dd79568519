package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// hasRecord reports whether children were ever made for a kind.
func hasRecord(crd metav1.Object) bool {
	return crd.GetAnnotations()[api.AnnotationChildKinds] != "" || crd.GetAnnotations()[api.AnnotationPatchedKinds] != ""
}

// elsewhere says why a kind is not served here, and how to take it over.
func elsewhere(name string, mine shard.Shard, other shard.Claim) string {
	why := fmt.Sprintf("operator %s serves this kind, so %s does not", other.Identity, mine.Identity)
	if !mine.Whole() || !other.Whole() {
		why = fmt.Sprintf("operator %s serves %s of this kind; %s, which is to serve %s, does not, since a resource could be of both",
			other.Identity, other.Shard, mine.Identity, mine)
	}
	return fmt.Sprintf("%s; to take it over, stop that operator or remove its folder, then: kubectl annotate crd %s %s-", why, name, other.Key)
}
