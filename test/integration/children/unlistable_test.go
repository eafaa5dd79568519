package children

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// role lets an account do what an operator needs, and serve these groups.
const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
- {apiGroups: ["", apps, events.k8s.io, apiextensions.k8s.io, apiregistration.k8s.io, %[2]s], resources: ["*"], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, namespace: %[3]s, name: %[4]s}]
`

// TestUnlistable: a kind whose resources may not be listed holds nobody up, not
// even the operator's end, and is served as soon as they may.
func TestUnlistable(t *testing.T) {
	t.Parallel()
	k := newThing(t, "unlistable", plain())
	other := newThing(t, "listable", plain())
	account := cluster.Access(t)
	grant := func(groups string) {
		for _, o := range kit.Parse(t, fmt.Sprintf(role, "unlistable", groups, account.Subject.Namespace, account.Subject.Name)) {
			applied := client.ApplyConfigurationFromUnstructured(o)
			if err := cluster.Client.Apply(t.Context(), applied, client.FieldOwner("person"), client.ForceOwnership); err != nil {
				t.Fatal(err)
			}
		}
	}
	limited := func(o *controller.Options) {
		install(o)
		o.Config = account.Config
	}
	grant(other.group)
	mayRead(t, account)
	op := cluster.Run(t, limited, k.root, other.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	cluster.Served(t, other.apiVersion(), "Thing")
	k.apply(t, "a", "")
	other.apply(t, "o", "")
	other.ready(t, "o")

	k.write(t, map[string]string{"more.yaml": config("-more", "{{ .spec.text }}")})
	cluster.Apply(t, "", gadget("unlistable.gadgets.example.com", "Namespaced"))
	t.Cleanup(func() { dropCRD(t, "gadgets.unlistable.gadgets.example.com") })
	other.write(t, map[string]string{"more.yaml": config("-more", "{{ .spec.text }}")})
	other.data(t, "o-more", "hello")
	op.Stop(t)

	op = cluster.Run(t, limited, k.root, other.root)
	kit.Eventually(t, "the folders are loaded", op.Ready)
	other.apply(t, "o", "text: two")
	other.data(t, "o", "two")
	if err := cluster.Gone("v1", "ConfigMap", k.ns, "a"); err != nil {
		t.Error(err)
	}
	grant(other.group + ", " + k.group)
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a", "ConfigMap/a-more")
}

// mayRead waits until the API server has taken up that an account may read CRDs:
// an operator that may not install them ends.
func mayRead(t *testing.T, account *kit.Access) {
	t.Helper()
	kit.Eventually(t, "the account has its rights", func() error {
		as, err := client.New(account.Config, client.Options{})
		if err != nil {
			return err
		}
		crds := &unstructured.UnstructuredList{}
		crds.SetAPIVersion("apiextensions.k8s.io/v1")
		crds.SetKind(crdKind + "List")
		return as.List(t.Context(), crds)
	})
}
