package rollouts

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .metadata.name }}\n"

// TestDroppedKind: the children of a kind that the folder drops are pruned, and
// then the kind leaves the record: not while a resource is served by a version
// that makes it, nor while a child is there. Then nothing has to retire it any
// more, and resources can be deleted. Made again, it is on record again.
func TestDroppedKind(t *testing.T) {
	t.Parallel()
	both := config("one")
	both["account.yaml"] = account
	k := newThing(t, "dropped", both)
	k.run(t)
	k.many(t, 5)
	k.onRecord(t, "ConfigMap,ServiceAccount")

	hold := func(finalizers string) {
		t.Helper()
		o, err := cluster.Get("v1", "ServiceAccount", k.ns, "r04")
		if err == nil {
			err = cluster.Client.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	hold(`["example.com/held"]`)
	k.remove(t, "account.yaml")
	k.write(t, map[string]string{"kind.yaml": patient + "retired: [{apiVersion: v1, kind: ServiceAccount}]\n"})
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.onRecord(t, "ConfigMap,ServiceAccount")
	k.approve(t)
	k.rollout(t, rollout.Complete, "")
	for i := range 4 {
		kit.Eventually(t, "the ServiceAccount is pruned",
			func() error { return cluster.Gone("v1", "ServiceAccount", k.ns, fmt.Sprintf("r%02d", i)) })
	}
	k.onRecord(t, "ConfigMap,ServiceAccount")
	hold(`null`)
	k.onRecord(t, "ConfigMap")

	k.write(t, config("two"))
	k.allSay(t, "two", 5)
	k.ready(t, "r03", "r04")
	k.onRecord(t, "ConfigMap")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "r00")
	kit.Eventually(t, "the resource goes", func() error { return cluster.Gone(k.apiVersion(), "Thing", k.ns, "r00") })

	k.write(t, both)
	k.onRecord(t, "ConfigMap,ServiceAccount")
}

// onRecord waits until these kinds of children are on record.
func (k *thing) onRecord(t *testing.T, want string) {
	t.Helper()
	kit.Eventually(t, "on record of "+k.group+" is "+want, func() error {
		if got := k.crd(t).GetAnnotations()["jacquard.dev/child-kinds"]; got != want {
			return fmt.Errorf("on record is %s", got)
		}
		return nil
	})
}
