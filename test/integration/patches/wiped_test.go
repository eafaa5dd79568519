package patches

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// wipe takes all managedFields off a ConfigMap, as some tools do.
func (s *site) wipe(name string) {
	s.Helper()
	o := s.get("v1", "ConfigMap", name)
	if err := cluster.Client.Patch(context.Background(), o,
		client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`))); err != nil {
		s.Fatal(err)
	}
	if n := len(o.GetManagedFields()); n > 1 { // as the server answered: the operator may be at work by now
		s.Fatalf("%d entries are left", n)
	}
}

// ownedAgain waits until a manager has fields of a ConfigMap.
func (s *site) ownedAgain(name, manager string) {
	s.Helper()
	kit.Eventually(s, name+" has fields of "+manager, func() error {
		_, found, err := ownership.Ours(s.get("v1", "ConfigMap", name).GetManagedFields(), manager)
		if err == nil && !found {
			err = errors.New("it has none")
		}
		return err
	})
}

// TestWipedChild: a child is owned again, and a field that the template drops
// later goes.
func TestWipedChild(t *testing.T) {
	t.Parallel()
	s := build(t,
		map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata: {{ .spec.data }}\n"})
	for _, down := range []bool{false, true} {
		s.web("r", "data: {a: one, b: two}")
		s.ready("r")
		s.has("v1", "ConfigMap", "r", "data.b", "two")
		if down {
			s.operator.Stop(t)
		}
		s.wipe("r")
		if down {
			s.start()
		}
		s.ownedAgain("r", "jacquard")
		s.rests()
		s.web("r", "data: {a: one}")
		s.has("v1", "ConfigMap", "r", "data", map[string]any{"a": "one"})
		s.ready("r")
		s.rests()
	}
}

// TestWipedPatch: the same of a patched object.
func TestWipedPatch(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("person", theirs("m", "p: q"))
	s.web("r", "map: m, data: {a: one, b: two}")
	s.ready("r")
	s.wipe("m")
	s.has("v1", "ConfigMap", "m", "data.a", "one")
	s.ownedAgain("m", s.manager("r"))
	s.rests()
	s.web("r", "map: m, data: {a: three}")
	s.has("v1", "ConfigMap", "m", "data", map[string]any{"a": "three", "p": "q"})
	s.ready("r")
	s.rests()
	s.delete(s.apiVersion(), "Web", "r")
	s.gone(s.apiVersion(), "Web", "r")
	s.unpatched("v1", "ConfigMap", "m")
	s.has("v1", "ConfigMap", "m", "data", map[string]any{"p": "q"})
}
