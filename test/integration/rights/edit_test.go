package rights

import (
	"context"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/jacquard-operator/jacquard/author/rbac"
)

// TestEditMakes: the cluster's own role edit has each right that we say it has.
func TestEditMakes(t *testing.T) {
	t.Parallel()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:aggregate-to-edit"}}
	if err := cluster.Client.Get(context.Background(), types.NamespacedName{Name: role.Name}, role); err != nil {
		t.Fatal(err)
	}
	found, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := found.ServerPreferredNamespacedResources()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, list := range lists {
		gv, err := apischema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !rbac.EditMakes(apischema.GroupKind{Group: gv.Group, Kind: r.Kind}) {
				continue
			}
			n++
			for _, verb := range []string{"create", "update", "patch", "delete"} {
				if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
					return slices.Contains(rule.APIGroups, gv.Group) && slices.Contains(rule.Resources, r.Name) && slices.Contains(rule.Verbs, verb)
				}) {
					t.Errorf("edit may not %s %s of %q", verb, r.Name, gv.Group)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d kinds were looked at", n)
	}
}
