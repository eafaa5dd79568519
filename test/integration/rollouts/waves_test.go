package rollouts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// balanced is a folder with a Service that is Ready once it has an address.
func balanced(version string) map[string]string {
	return map[string]string{
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout:\n  progressDeadline: 5s\n  minReadySeconds: 1\n" +
			"  waves:\n  - {matchLabels: {env: dev}, minReadySeconds: 3600, pause: true}\n",
		"service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .metadata.name }}\n  labels: {version: " + version + "}\n" +
			"spec:\n  type: LoadBalancer\n  ports: [{port: 80}]\n",
	}
}

// address gives the Service of a resource an address, or takes it away.
func (k *thing) address(t *testing.T, name, ingress string) {
	t.Helper()
	o, err := cluster.Get("v1", "Service", k.ns, name)
	if err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"loadBalancer":{"ingress":[`+ingress+`]}}}`))
	if err := cluster.Client.Status().Patch(context.Background(), o, patch); err != nil {
		t.Fatal(err)
	}
}

// areTwo waits until the Services of just these resources are of version two.
func (k *thing) areTwo(t *testing.T, names ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%v are of version two", names), func() error {
		got := map[string]bool{}
		for _, o := range cluster.List(t, "v1", "Service", client.InNamespace(k.ns), client.MatchingLabels{"version": "two"}) {
			got[o.GetName()] = true
		}
		if all := slices.Sorted(maps.Keys(got)); !slices.Equal(all, names) {
			return fmt.Errorf("%v are", all)
		}
		return nil
	})
}

// TestLastingReadiness: a wave of labels comes first. Its resource is Ready, and is not
// any more before minReadySeconds are over, so the rollout stops. Once that is approved
// it pauses, and once the pause is approved the others follow.
func TestLastingReadiness(t *testing.T) {
	t.Parallel()
	k := newThing(t, "lasting", balanced("one"))
	k.run(t)
	names := []string{"r00", "r01", "r02"}
	for _, name := range names {
		cluster.Apply(t, k.ns, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s, labels: {env: %s}}\n",
			k.apiVersion(), name, map[bool]string{true: "dev", false: "prod"}[name == "r01"]))
		kit.Eventually(t, name+" has a Service", func() error {
			_, err := cluster.Get("v1", "Service", k.ns, name)
			return err
		})
		k.address(t, name, `{"ip":"192.0.2.1"}`)
	}
	k.ready(t, names...)
	k.write(t, balanced("two"))
	k.areTwo(t, "r01")
	k.ready(t, names...)
	k.address(t, "r01", "")
	if r := k.rollout(t, rollout.Stopped, rollout.NotReady); r.Moved != 1 || r.Wave != 1 {
		t.Errorf("the record is %s", r)
	}
	k.areTwo(t, "r01")
	k.approve(t)
	if r := k.rollout(t, rollout.Stopped, rollout.Paused); r.Moved != 1 || r.NotReady != 1 {
		t.Errorf("the record is %s", r)
	}
	k.told(t, "RolloutStopped", "kind.yaml pauses it after wave 1", "jacquard approve")
	k.areTwo(t, "r01")
	k.approve(t)
	k.areTwo(t, names...)
	k.rollout(t, rollout.Complete, "")
}

// TestNamespaceWave: a wave has the resources of the namespaces with a label.
func TestNamespaceWave(t *testing.T) {
	t.Parallel()
	settings := "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout:\n  waves: [{namespaceMatchLabels: {env: dev}, pause: true}]\n"
	said := func(version string) map[string]string {
		files := config(version + "-{{ .spec.text }}")
		files["kind.yaml"] = settings
		return files
	}
	k, dev := newThing(t, "namespaces", said("one")), cluster.Namespace(t)
	cluster.Apply(t, "", fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {env: dev}}\n", dev))
	k.run(t)
	in := func(ns string) *thing {
		there := *k
		there.ns = ns
		return &there
	}
	for _, ns := range []string{k.ns, dev} {
		in(ns).apply(t, "a", "hello")
		in(ns).apply(t, "b", "hello")
		in(ns).say(t, map[string]int{"one-hello": 2})
	}
	k.write(t, said("two"))
	if r := k.rollout(t, rollout.Stopped, rollout.Paused); r.Moved != 2 || r.Total != 4 {
		t.Errorf("the record is %s", r)
	}
	in(dev).say(t, map[string]int{"two-hello": 2})
	in(k.ns).say(t, map[string]int{"one-hello": 2})
	k.approve(t)
	in(k.ns).say(t, map[string]int{"two-hello": 2})
}
