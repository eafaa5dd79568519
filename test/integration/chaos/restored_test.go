package chaos

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestEtcdRestored: the control plane begins again with what etcd had some time
// ago, under an operator that goes on. What was made since is gone, what was
// deleted is back, and resource versions go back too. Everything is then as the
// restored resources say, with the very objects that were restored, nothing is
// deleted, and edits are served as ever.
func TestEtcdRestored(t *testing.T) {
	kit.Nightly(t, "chaos")
	s := serve(t, "restored.example.com", map[string]string{
		"kind.yaml":   "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nresyncInterval: 10s\nchildren:\n- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n",
		"map.yaml":    mapOf("map"),
		"secret.yaml": folders["vault"]["secret.yaml"],
		"role.yaml":   folders["outpost"]["role.yaml"],
	})
	for _, name := range []string{"changed", "deleted", "healed"} {
		s.web(name, "one")
	}
	s.ready("changed", "deleted", "healed")
	s.rests()
	before := s.everything()
	backup := keep(t)

	s.web("changed", "two")
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "deleted")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "healed-map")
	s.web("made", "one")
	s.say("v1", "ConfigMap", "data", map[string]string{"changed-map": "two", "healed-map": "one", "made-map": "one"})
	s.ready("changed", "healed", "made")
	s.ahead()
	s.rests()

	mark := cluster.Mark(t)
	restore(t, backup)
	kit.Eventually(t, "all is as it was", func() error {
		if now := s.everything(); !maps.Equal(now, before) {
			return fmt.Errorf("there are %v, not %v", now, before)
		}
		return nil
	})
	s.say("v1", "ConfigMap", "data", map[string]string{"changed-map": "one", "deleted-map": "one", "healed-map": "one"})
	s.web("changed", "three")
	s.web("deleted", "three")
	s.web("new", "three")
	s.say("v1", "ConfigMap", "data", map[string]string{"changed-map": "three", "deleted-map": "three", "healed-map": "one",
		"new-map": "three"})
	s.ready("changed", "deleted", "healed", "new")
	s.rests()
	for name, uid := range before {
		if now := s.everything()[name]; now != uid {
			t.Errorf("%s is another object", name)
		}
	}
	for _, r := range cluster.Requests(t, mark) {
		if r.Verb == "delete" {
			t.Errorf("a deletion: %v", r)
		}
	}
	for _, name := range []string{"changed", "deleted", "healed", "new"} {
		cluster.Delete(t, s.group+"/v1", "Web", s.namespace, name)
	}
	kit.Eventually(t, "nothing is left", func() error {
		if now := s.everything(); len(now) > 0 {
			return fmt.Errorf("there are %v", now)
		}
		return nil
	})
}

// everything is each child of the test's resources with its uid, and each Secret
// with its password.
func (s *site) everything() map[string]types.UID {
	s.Helper()
	all := map[string]types.UID{}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		children, err := s.children("v1", kind)
		if err != nil {
			return nil // the server is not back yet
		}
		for name, o := range children {
			password, _, _ := unstructured.NestedString(o.Object, "data", "password")
			all[kind+" "+name+" "+password] = o.GetUID()
		}
	}
	roles := &unstructured.UnstructuredList{}
	roles.SetAPIVersion("rbac.authorization.k8s.io/v1")
	roles.SetKind("ClusterRoleList")
	if err := cluster.Client.List(context.Background(), roles); err != nil {
		return nil
	}
	for _, o := range roles.Items {
		if strings.HasPrefix(o.GetName(), s.namespace+"-") {
			all["ClusterRole "+o.GetName()] = o.GetUID()
		}
	}
	return all
}

// ahead moves resource versions ahead, so far that the restored ones do not come
// there again.
func (s *site) ahead() {
	s.Helper()
	o := kit.Parse(s, "{apiVersion: v1, kind: ConfigMap, metadata: {name: counter}}")[0]
	o.SetNamespace(s.namespace)
	if err := cluster.Client.Create(context.Background(), o); err != nil {
		s.Fatal(err)
	}
	for i := range 2000 {
		patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, i)
		if err := cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, patch)); err != nil {
			s.Fatal(err)
		}
	}
}
