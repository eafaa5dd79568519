package children

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// forge applies, as a tenant who may write ConfigMaps and nothing else, one that looks like
// a child of the resource without an owner reference.
func (s *site) forge() {
	s.Helper()
	tenant := "tenant-of-" + s.namespace
	cluster.Apply(s, s.namespace, fmt.Sprintf(`{apiVersion: %[1]s, kind: Role, metadata: {name: tenant}, rules: [{apiGroups: [""], resources: [configmaps], verbs: ["*"]}]}
---
{apiVersion: %[1]s, kind: RoleBinding, metadata: {name: tenant}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant},
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[2]s}]}`, rbac, tenant))
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: tenant}
	limited, err := client.New(config, client.Options{Mapper: cluster.Client.RESTMapper()})
	if err != nil {
		s.Fatal(err)
	}
	forged := kit.Parse(s, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: forged, namespace: %s, labels: {jacquard.dev/owner-uid: %q},
		annotations: {jacquard.dev/owner: %s, jacquard.dev/file: map}}}`, s.namespace, s.owner().GetUID(), s.ours("things.example.com/NAMESPACE/a")))[0]
	kit.Eventually(s, "the tenant may write ConfigMaps", func() error {
		return limited.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(forged.DeepCopy()), client.FieldOwner("jacquard"))
	})
}

// TestForgedChild: an object that a tenant forged does not keep the children alive that the
// tenant may not write, however their resource is deleted.
func TestForgedChild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings    string
		propagation metav1.DeletionPropagation
	}{
		"plain":              {"", metav1.DeletePropagationBackground},
		"with deletionOrder": {"deletionOrder: [map]\n", metav1.DeletePropagationBackground},
		"in the foreground":  {"", metav1.DeletePropagationForeground},
	} {
		t.Run(name, func(t *testing.T) {
			s := ordered(t, map[string]string{"kind.yaml": clusterRoles + c.settings, "far.yaml": fmt.Sprintf(far, "far"), "map.yaml": configMap})
			s.apply("")
			s.rests("", append(s.far("far"), "ConfigMap/a")...)
			s.forge()
			if err := cluster.Client.Delete(t.Context(), s.owner(), client.PropagationPolicy(c.propagation)); err != nil {
				t.Fatal(err)
			}
			s.gone()
			s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
			s.away("v1", "ConfigMap", s.namespace, "a")
			s.get("v1", "ConfigMap", "forged")
		})
	}
}
