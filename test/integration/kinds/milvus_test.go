package kinds

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// pods waits until the namespace has just these Pods and the Milvus m counts
// them.
func (s *site) pods(names ...string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("there are the Pods %q", names), func() error {
		have := []string{}
		for _, p := range s.list("Pod") {
			have = append(have, p.GetName())
		}
		if slices.Sort(have); !slices.Equal(have, names) {
			return fmt.Errorf("there are %q", have)
		}
		return nil
	})
	s.has("Milvus", "m", "status.readyReplicas", len(names))
	s.ready("Milvus", "m")
}

// testMilvus: how many Pods there are.
func testMilvus(s *site) {
	s.apply("Milvus", "m", "image: one")
	s.pods("m")
	s.apply("Milvus", "m", "image: one, replicas: 3")
	s.pods("m", "m-1", "m-2")
	kept := s.get("Pod", "m")
	s.apply("Milvus", "m", "image: one, replicas: 2")
	s.pods("m", "m-1")
	if s.get("Pod", "m").GetUID() != kept.GetUID() {
		s.Error("a Pod that stays was recreated")
	}
	s.apply("Milvus", "m", "image: one, replicas: 0")
	s.pods()
	s.rests()
	s.apply("Milvus", "m", "image: one, replicas: 1")
	s.pods("m")
	cluster.Delete(s, versions["Milvus"], "Milvus", s.ns, "m")
	s.gone("Pod", "m")
}

// testMilvusPods: what becomes of one Pod.
func testMilvusPods(s *site) {
	s.apply("Milvus", "m", "image: one, milvusSpec: first")
	s.pods("m")
	first := s.has("Pod", "m", "spec.containers.0.name", "milvus-0", "spec.containers.0.image", "one",
		"spec.containers.0.env", []any{map[string]any{"name": "MILVUS_SPEC", "value": "first"}})
	s.apply("Milvus", "m", "image: two, milvusSpec: first")
	changed := s.has("Pod", "m", "spec.containers.0.image", "two")
	if changed.GetUID() != first.GetUID() {
		s.Error("a changed image made the Pod anew")
	}
	s.apply("Milvus", "m", "image: two, milvusSpec: second")
	second := s.anew(first)
	s.has("Pod", "m", "spec.containers.0.env.0.value", "second")
	s.pods("m")
	s.kubectl("delete", "pod", "m", "--wait=false")
	third := s.anew(second)
	s.pods("m")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Failed","reason":"Evicted","conditions":null}}`))
	if err := cluster.Client.Status().Patch(context.Background(), third.DeepCopy(), patch); err != nil {
		s.Fatal(err)
	}
	fourth := s.anew(third)
	s.pods("m")
	s.rests(fourth)
}
