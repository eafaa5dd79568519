package children

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestDroppedWithItsRights: where a changed folder makes a kind of child no more,
// and the roles went with it, the resource says what nobody can see, which rule
// is missing and how the folder keeps it; with the rule the child goes.
func TestDroppedWithItsRights(t *testing.T) {
	t.Parallel()
	k := newThing(t, "dropped", plain())
	k.write(t,
		map[string]string{"budget.yaml": "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  minAvailable: 1\n"})
	account := cluster.Access(t)
	grant := func(groups string) {
		for _, o := range kit.Parse(t, fmt.Sprintf(role, "dropped", groups, account.Subject.Namespace, account.Subject.Name)) {
			if err := cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
				client.ForceOwnership); err != nil {
				t.Fatal(err)
			}
		}
	}
	limited := func(o *controller.Options) {
		install(o)
		o.Config = account.Config
	}
	grant(k.group + ", policy")
	mayRead(t, account)
	op := cluster.Run(t, limited, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "")
	k.ready(t, "a")
	op.Stop(t)

	grant(k.group)
	k.remove(t, "budget.yaml")
	cluster.Run(t, limited, k.root)
	k.says(t, "a", "Ready", "False", "ChildrenUnknown", "what is left of kind PodDisruptionBudget is not known",
		`the missing rule, in a ClusterRole: {apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list", "watch"]}`,
		"write in kind.yaml, under retired: - {apiVersion: policy/v1, kind: PodDisruptionBudget}")
	if _, err := cluster.Get("policy/v1", "PodDisruptionBudget", k.ns, "a"); err != nil {
		t.Error(err)
	}
	grant(k.group + ", policy")
	k.ready(t, "a")
	kit.Eventually(t, "the budget goes", func() error { return cluster.Gone("policy/v1", "PodDisruptionBudget", k.ns, "a") })
}
