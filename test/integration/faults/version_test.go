package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// gadgets is a kind of child as it was first, and newer what its next version
// adds: a field with a default, which the version before does not know.
const (
	gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: OLD, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
`
	newer = `  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}, mode: {type: string, default: fast}}}}}}}
`
	gadget = "apiVersion: GROUP/VERSION\nkind: Gadget\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  text: {{ .spec.text }}\n"
)

// TestChildOfOlderVersion: a child whose managedFields are in an older version of
// its API, which lacks a field that has a default by now, is changed as before.
func TestChildOfOlderVersion(t *testing.T) {
	t.Parallel()
	group := "older.example.com"
	in := func(text string, more ...string) string {
		return strings.NewReplacer(append(more, "GROUP", group)...).Replace(text)
	}
	cluster.Apply(t, "", in(gadgets, "OLD", "true"))
	cluster.Served(t, group+"/v1alpha1", "Gadget")
	s := build(t, map[string]string{"gadget.yaml": in(gadget, "VERSION", "v1alpha1"), "map.yaml": configMap})
	s.web("text: one")
	s.ready()
	cluster.Apply(t, "", in(gadgets, "OLD", "false")+in(newer))
	cluster.Served(t, group+"/v1", "Gadget")
	s.rewritten(group+"/v1", "Gadget", "spec: {mode: fast}")
	s.write(map[string]string{"gadget.yaml": in(gadget, "VERSION", "v1")})
	s.restart()
	s.web("text: two")
	s.says(in("{apiVersion: GROUP/v1, kind: Gadget, metadata: {name: a}, spec: {text: two, mode: fast}}"))
	s.ready()
	for _, entry := range s.get(group+"/v1", "Gadget", "a").GetManagedFields() {
		if entry.Manager == api.FieldManager && entry.APIVersion != group+"/v1" {
			t.Errorf("the child was applied as %s: this test tries nothing", entry.APIVersion)
		}
	}
}

// TestResourceOfOlderVersion: so is the status of a resource of which the folder
// is shown a newer version.
func TestResourceOfOlderVersion(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap})
	s.web("text: one")
	s.ready()
	head, v1, _ := strings.Cut(strings.ReplaceAll(kit.WebCRD, "GROUP", s.group), "  - name: v1\n")
	v2 := strings.Replace(v1, "            properties:\n", "            properties:\n              mode: {type: string, default: fast}\n", 1)
	crd := head + "  - name: v1\n" + strings.Replace(v1, "storage: true", "storage: false", 1) + "  - name: v2\n" + v2
	kit.Write(t, s.root, map[string]string{"crds/webs." + s.group + ".yaml": crd})
	cluster.Apply(t, "", crd)
	cluster.Served(t, s.group+"/v2", "Web")
	s.rewritten(s.group+"/v2", "Web", "status: {mode: fast}")
	s.write(map[string]string{"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nversion: v2\n"})
	s.restart()
	s.web("text: two")
	s.ready()
}

// rewritten has its controller apply an annotation to "a", so that the server
// stores it in that version, with the default that this shows.
func (s *site) rewritten(apiVersion, kind, shows string) {
	s.Helper()
	want := kit.Parse(s, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: a}, %s}", apiVersion, kind, shows))[0]
	kit.Eventually(s, kind+" shows the default", func() error {
		seen := kit.Parse(s, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: a, namespace: %s, annotations: {seen: %q}}}", apiVersion,
			kind, s.namespace, uuid.NewUUID()))[0]
		err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(seen), client.FieldOwner("its-controller"))
		return errors.Join(within(want.Object, s.get(apiVersion, kind, "a").Object, ""), err)
	})
}
