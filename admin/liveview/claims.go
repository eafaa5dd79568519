package liveview

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// ClaimIdentities returns the identities of all installations that claim a kind, or a
// share of it, sorted.
func ClaimIdentities(crd metav1.Object) []string {
	var all []string
	for _, c := range shard.Claims(crd) {
		all = append(all, c.Identity)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// findClaims returns the claims that cover a resource: none or one, unless somebody else
// wrote them.
func findClaims(claims []shard.Claim, resource metav1.Object) []shard.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c shard.Claim) bool { return !c.Covers(resource) })
}
