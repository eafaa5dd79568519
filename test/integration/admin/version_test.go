package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// gadgets is a kind in its first version and, behind a line of dashes, what the
// next one adds: a field with a default, which the first does not know.
const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.older.example.com}
spec:
  group: older.example.com
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: OLD, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
-----
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}, mode: {type: string, default: fast}}}}}}}
`

// TestPatchedOfOlderVersion: an object of somebody else's whose managedFields are
// in an older version of its API is patched as any other, though there is no right
// to get it; diff says why it cannot show that.
func TestPatchedOfOlderVersion(t *testing.T) {
	s := build(t, map[string]string{"patch.yaml": `apiVersion: older.example.com/v1
kind: Gadget
metadata:
  name: theirs
  annotations:
    jacquard.dev/ownership: patch
spec:
  mode: {{ .spec.mode }}
`})
	first, next, _ := strings.Cut(gadgets, "-----\n")
	cluster.Apply(t, "", strings.Replace(first, "OLD", "true", 1))
	cluster.Served(t, "older.example.com/v1alpha1", "Gadget")
	s.apply("{apiVersion: older.example.com/v1alpha1, kind: Gadget, metadata: {name: theirs}, spec: {text: one}}")
	cluster.Apply(t, "", strings.Replace(first, "OLD", "false", 1)+next)
	cluster.Served(t, "older.example.com/v1", "Gadget")
	s.mode("fast", true)
	s.apply(s.web("mode: slow"))
	if got := s.as(looker, "diff", "--root", s.root, "webs."+s.group+"/a").all(); !strings.Contains(got, "Gadget "+s.namespace+"/theirs") ||
		!strings.Contains(got, "in another version of the API") {
		t.Errorf("diff says:\n%s", got)
	}
	s.run()
	s.mode("slow", false)
	s.start()
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	kit.Eventually(t, "the resource is gone", func() error { return cluster.Gone(s.apiVersion(), "Web", s.namespace, "a") })
	s.mode("fast", false)
}

// mode waits until the Gadget shows a mode; stored: its controller writes it in
// version v1 until it does.
func (s *toolSite) mode(want string, stored bool) {
	s.Helper()
	kit.Eventually(s, "its mode is "+want, func() error {
		if stored {
			seen := kit.Parse(s,
				fmt.Sprintf("{apiVersion: older.example.com/v1, kind: Gadget, metadata: {name: theirs, namespace: %s, annotations: {seen: %q}}}",
					s.namespace, uuid.NewUUID()))[0]
			if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(seen),
				client.FieldOwner("its-controller")); err != nil {
				return err
			}
		}
		o, err := cluster.Get("older.example.com/v1", "Gadget", s.namespace, "theirs")
		if got, _, _ := unstructured.NestedString(o.Object, "spec", "mode"); err == nil && got != want {
			return fmt.Errorf("it is %s", got)
		}
		return err
	})
}
