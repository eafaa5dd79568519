package admin

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// farAway makes children where the garbage collector does not reach them.
func farAway(namespace string) map[string]string {
	child := func(kind, name, more string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata:\n  name: {{ .metadata.name }}-%s\n  namespace: %s\n%s", kind, name, namespace,
			more)
	}
	return map[string]string{
		"kind.yaml": fmt.Sprintf("apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [%s]}\n- {apiVersion: v1, kind: Secret, namespaces: [%[1]s]}\n", namespace),
		"map.yaml":  child("ConfigMap", "map", ""), "kept.yaml": child("ConfigMap", "kept", "  annotations:\n    jacquard.dev/on-delete: keep\n"),
		"plain.yaml": child("Secret", "plain", ""),
		"drawn.yaml": child("Secret", "drawn", "stringData:\n  password: {{ stable \"drawn\" \"password\" 24 }}\n"),
	}
}

// TestSweep: children whose resource went without them are told of, and go only
// when somebody names them; what would be lost or is meant to stay never does.
func TestSweep(t *testing.T) {
	t.Parallel()
	far := cluster.Namespace(t)
	s := lay(t, farAway(far))
	s.web("a", "text: one")
	s.web("b", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	s.is("b", "Ready", "True", "")
	cluster.Apply(t, far,
		fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: copy, labels: {jacquard.dev/owner-uid: gone}, annotations: {jacquard.dev/owner: %s/%s/a}}}", s.name(), s.namespace))
	s.operator.Stop(t)
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "a")
	resource, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Patch(t.Context(), resource,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	s.start(nil)
	s.becomes("how many children lost their resource", func(_ *health.Health, k *health.Kind) bool { return k.Orphans == 4 })
	if a := s.as("admin", "status", "--installation", s.home+"/jacquard"); !strings.Contains(a.stdout,
		"children whose resource is gone: 4; jacquard sweep "+s.name()) {
		t.Error(a.all())
	}
	if a := s.as("admin", "sweep", s.name()); a.code != 0 || strings.Count(a.stdout, "\n") != 4 ||
		!strings.Contains(a.stdout, "configmaps/"+far+"/a-map  of "+s.namespace+"/a\n") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--yes", 2, "name what is to be deleted"},
		{"configmaps/FAR/b-map --yes", 1, "no child of that name has lost its resource"},
		{"configmaps/FAR/copy --yes", 1, "no child of that name has lost its resource"},
		{"configmaps/FAR/a-map configmaps/FAR/a-kept --yes", 1, "says keep"},
		{"secrets/FAR/a-plain --yes", 1, "without the folder"},
		{"secrets/FAR/a-drawn --yes --root ROOT", 1, "drew for it would be lost"},
		{"configmaps/FAR/a-map", 0, "would be deleted"},
	} {
		args := strings.Fields(strings.NewReplacer("FAR", far, "ROOT", s.root).Replace("sweep " + s.name() + " " + c.args))
		if a := s.as("admin", args...); a.code != c.code || !strings.Contains(a.all(), c.says) {
			t.Errorf("%s: exit %d: %s", c.args, a.code, a.all())
		}
	}
	s.alive(far, "ConfigMap/a-map", "ConfigMap/a-kept", "ConfigMap/b-map", "Secret/a-plain", "Secret/a-drawn")
	if a := s.as("admin", "sweep", s.name(), "configmaps/"+far+"/a-map", "secrets/"+far+"/a-plain", "--yes", "--root", s.root); a.code != 0 {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	kit.Eventually(t, "the ConfigMap is gone", func() error { return cluster.Gone("v1", "ConfigMap", far, "a-map") })
	kit.Eventually(t, "the Secret is gone", func() error { return cluster.Gone("v1", "Secret", far, "a-plain") })
	s.alive(far, "ConfigMap/a-kept", "ConfigMap/b-map", "Secret/a-drawn")
}

// alive wants objects to be there, as Kind/name.
func (s *site) alive(namespace string, all ...string) {
	s.Helper()
	for _, one := range all {
		kind, name, _ := strings.Cut(one, "/")
		if o, err := cluster.Get("v1", kind, namespace, name); err != nil || o.GetDeletionTimestamp() != nil {
			s.Errorf("%s: %v", one, err)
		}
	}
}
