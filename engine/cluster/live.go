package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// claimedOwner is whose child an object says it is.
func claimedOwner(l live.Object) owner {
	of, _ := api.ParseOwner(l.Meta.GetAnnotations()[api.AnnotationOwner])
	return owner{of: of, uid: types.UID(l.Meta.GetLabels()[api.LabelOwnerUID])}
}

func byKey(a, b live.Object) int {
	x, y := a.Key(), b.Key()
	if c := strings.Compare(x.Namespace, y.Namespace); c != 0 {
		return c
	}
	return strings.Compare(x.Name, y.Name)
}

// isNewer reports whether resourceVersion a is later than b. A version that is not a number, as
// some aggregated APIs give, is not later than any. Any number is later than no version.
func isNewer(a, b string) bool {
	if b == "" {
		return a != ""
	}
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c > 0
}

// isNumber reports whether a resourceVersion is a number, as all are but those of some aggregated
// APIs.
func isNumber(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}
