package faults

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestScope: a namespaced resource cannot make what is cluster-scoped or lies in
// another namespace; nothing of the render is applied. All that is refused is in
// package render's tests.
func TestScope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, because string }{
		"cluster-scoped": {"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: jacquard-fault\nrules: []\n",
			"ClusterRole is cluster-scoped"},
		"value": {"apiVersion: v1\nkind: Secret\nmetadata:\n  name: jacquard-fault\n  namespace: {{ .spec.where }}\n",
			"child.yaml:5:17: Secret is in another namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, map[string]string{"child.yaml": c.document, "map.yaml": configMap})
			s.web("text: one, where: default")
			s.is("Stalled", "True", c.because)
			s.rests(rest{because: c.because})
			for _, there := range [][3]string{{"v1", "Secret", "default"}, {"rbac.authorization.k8s.io/v1", "ClusterRole", ""}} {
				if err := cluster.Gone(there[0], there[1], there[2], "jacquard-fault"); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestScopeAtRunTime: only the cluster knows that a CRD of others is
// cluster-scoped, so a folder that does not declare that is refused there. When
// it is replaced by a namespaced one, the folder is taken up.
func TestScopeAtRunTime(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap})
	gadgets := "gadgets." + s.group
	definition := func(scope string) string {
		d := strings.NewReplacer("webs.GROUP", gadgets, "GROUP", gadgets, "kind: Web", "kind: Gadget", "plural: webs", "plural: gadgets",
			"singular: web", "singular: gadget", "scope: Namespaced", "scope: "+scope).Replace(kit.WebCRD)
		return strings.Replace(d, "name: "+gadgets, "name: gadgets."+gadgets, 1)
	}
	cluster.Apply(t, "", definition("Cluster"))
	cluster.Served(t, gadgets+"/v1", "Gadget")
	s.web("text: one")
	s.rests(rest{children: wantConfigMap})
	s.write(map[string]string{"gadget.yaml": "apiVersion: " + gadgets + "/v1\nkind: Gadget\nmetadata:\n  name: a\nspec:\n  x: 1\n"})
	kit.Eventually(t, "the changed folder is refused", func() error {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion("events.k8s.io/v1")
		all.SetKind("EventList")
		if err := cluster.Client.List(context.Background(), all); err != nil {
			return err
		}
		for _, e := range all.Items {
			note, _ := e.Object["note"].(string)
			if e.Object["reason"] == "FolderInvalid" && strings.Contains(note, s.group) &&
				strings.Contains(note, "Gadget is cluster-scoped and must be declared") {
				return nil
			}
		}
		return errors.New("no event tells of it")
	})
	s.rests(rest{children: wantConfigMap})
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(gadgets + "/v1")
	list.SetKind("GadgetList")
	if err := cluster.Client.List(context.Background(), list); err != nil || len(list.Items) > 0 {
		t.Errorf("%d gadgets: %v", len(list.Items), err)
	}
	cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gadgets."+gadgets)
	kit.Eventually(t, "the CRD is gone", func() error {
		return cluster.Gone("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gadgets."+gadgets)
	})
	cluster.Apply(t, "", definition("Namespaced"))
	kit.Eventually(t, "the child is made", func() error {
		anew, err := client.New(cluster.Config, client.Options{}) // the old one remembers the scope
		if err != nil {
			return err
		}
		return anew.Get(context.Background(), types.NamespacedName{Namespace: s.namespace, Name: "a"}, ref(gadgets+"/v1", "Gadget", "", ""))
	})
}
