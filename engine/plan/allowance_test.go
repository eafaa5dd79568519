package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// TestAllowances: an entry allows the deletion of one object: that of its kind, namespace,
// name and uid.
func TestAllowances(t *testing.T) {
	withUID := func(uid string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { o.SetUID(types.UID(uid)) }
	}
	claim := object(claims, "shop/db", withUID("6f1c2d3e-0000-4000-8000-000000000001"))
	binding := object(roleBindings, "shop/db", withUID("6f1c2d3e-0000-4000-8000-000000000002"))
	space := object(namespaces, "/shop", withUID("6f1c2d3e-0000-4000-8000-000000000003"))
	for want, l := range map[string]live.Object{
		"PersistentVolumeClaim/shop/db/6f1c2d3e": claim, "Namespace/shop/6f1c2d3e": space,
		"RoleBinding.rbac.authorization.k8s.io/shop/db/6f1c2d3e": binding,
	} {
		if got := Allowance(l.GVK.GroupKind(), l.Meta); got != want {
			t.Errorf("it is allowed by %q, want %q", got, want)
		}
	}
	for annotation, want := range map[string][]string{
		"PersistentVolumeClaim/shop/db/6f1c2d3e":                             {"db"},
		"PersistentVolumeClaim/shop/db/6f1c2d3e-0000-4000-8000-000000000001": {"db"},
		" Namespace/shop/6f1c2d3e ,, PersistentVolumeClaim/shop/db/6f1c2d3e": {"db", "shop"},
		"PersistentVolumeClaim/shop/db/6f1c2d3e-0000":                        nil,
		"PersistentVolumeClaim/shop/db/6f1c2d3":                              nil,
		"PersistentVolumeClaim/shop/db/6f1c2d3e-0000-4000-8000-000000000002": nil,
		"PersistentVolumeClaim/else/db/6f1c2d3e":                             nil,
		"PersistentVolumeClaim/shop/web/6f1c2d3e":                            nil,
		"PersistentVolumeClaim.example.com/shop/db/6f1c2d3e":                 nil,
		"RoleBinding/shop/db/6f1c2d3e":                                       nil,
		"PersistentVolumeClaim/shop/db/":                                     nil,
		"PersistentVolumeClaim/shop/db":                                      nil,
		"PersistentVolumeClaim/db":                                           nil,
		"":                                                                   nil,
	} {
		entries := ParseAllowances(annotation)
		var got []string
		for _, l := range []live.Object{claim, space} {
			if isAllowed(entries, l.GVK.GroupKind(), l.Meta) {
				got = append(got, l.Meta.GetName())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q allows (-want +got):\n%s", annotation, diff)
		}
		unmatched := UnmatchedAllowances(entries, []live.Object{claim, space})
		if len(unmatched)+len(want) != len(entries) || slices.Contains(unmatched, "") {
			t.Errorf("of %q, %q match nothing", annotation, unmatched)
		}
	}
}
