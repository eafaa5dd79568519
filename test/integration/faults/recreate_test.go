package faults

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

const immutable = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}%s
immutable: true
data:
  {{ .spec.key }}: {{ .spec.text }}
`

// TestRecreateOnImmutable: with leave, a change that the API refuses makes the
// object again, and content that would be refused anyway deletes nothing.
func TestRecreateOnImmutable(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": fmt.Sprintf(immutable, "\n  annotations:\n    jacquard.dev/on-immutable: recreate")})
	s.web("key: text, text: one")
	s.rests(rest{children: wantConfigMap})
	first := s.get("v1", "ConfigMap", "a").GetUID()
	s.web("key: 'no key', text: two")
	s.is("Stalled", "True", "map.yaml:")
	s.rests(rest{children: wantConfigMap, because: "map.yaml:"})
	if s.get("v1", "ConfigMap", "a").GetUID() != first {
		t.Error("invalid content deleted the object")
	}
	s.web("key: text, text: two")
	s.rests(rest{children: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: two}}"})
	if s.get("v1", "ConfigMap", "a").GetUID() == first {
		t.Error("it was not recreated")
	}
}

// TestRecreateOnFailed: a Pod that ended Failed is recreated, again and again.
func TestRecreateOnFailed(t *testing.T) {
	t.Parallel()
	s := build(t,
		map[string]string{"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .metadata.name }}\n  annotations:\n    jacquard.dev/on-failed: recreate\nspec:\n  containers:\n  - name: web\n    image: nginx\n"})
	s.web("")
	s.ready()
	mark := cluster.Mark(t)
	kit.Eventually(t, "it is recreated twice", func() error {
		o, err := cluster.Get("v1", "Pod", s.namespace, "a")
		if err == nil && o.GetDeletionTimestamp() == nil {
			s.failPod(o.GetName())
		}
		if n := kit.Tally(s.sent(mark))["delete pods"]; n < 2 {
			return fmt.Errorf("%d times: %v", n, s.sent(mark))
		}
		return nil
	})
	s.rests(rest{children: "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Running}}"})
}

// failPod makes a Pod end Failed, unless it is gone by now.
func (s *site) failPod(name string) {
	s.Helper()
	o := ref("v1", "Pod", s.namespace, name)
	err := cluster.Client.Status().Patch(context.Background(), o,
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`)))
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
}

// TestManagedFieldsWiped: the child is owned again, so that a field which the
// template later has no more goes, also when they were wiped while no operator
// ran.
func TestManagedFieldsWiped(t *testing.T) {
	t.Parallel()
	s := build(t,
		map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata: {{ .spec.data }}\n"})
	s.web("data: {text: one, more: x, most: z}")
	s.rests(rest{children: wantConfigMap})
	wipe := func() {
		s.patch("v1", "ConfigMap", "a", "wiper", `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`)
	}
	check := func(gone string) {
		s.rests(rest{children: wantConfigMap})
		if got := s.get("v1", "ConfigMap", "a").Object["data"].(map[string]any)[gone]; got != nil {
			t.Errorf("%s is still there", gone)
		}
	}
	wipe()
	s.rests(rest{children: wantConfigMap})
	s.web("data: {text: one, more: x}")
	check("most")
	s.operator.Stop(t)
	wipe()
	s.start()
	s.rests(rest{children: wantConfigMap})
	s.web("data: {text: one}")
	check("more")
}

// TestRecreateStripped: an object whose label somebody took off is still the
// resource's, by its controller reference, and so may be recreated.
func TestRecreateStripped(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": fmt.Sprintf(immutable, "\n  annotations:\n    jacquard.dev/on-immutable: recreate")})
	s.web("key: text, text: one")
	s.rests(rest{children: wantConfigMap})
	s.patch(s.apiVersion(), "Web", "a", "somebody", `{"metadata":{"annotations":{"jacquard.dev/paused":"true"}}}`)
	s.is("Paused", "True", "")
	s.patch("v1", "ConfigMap", "a", "somebody", fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, api.LabelOwnerUID))
	s.web("key: text, text: two")
	s.patch(s.apiVersion(), "Web", "a", "somebody", `{"metadata":{"annotations":{"jacquard.dev/paused":null}}}`)
	s.rests(rest{children: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: two}}"})
}
