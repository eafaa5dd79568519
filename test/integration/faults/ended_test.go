package faults

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// versions is a kind of child that has had two versions, of which the first is
// served or not.
const versions = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - {name: v1beta1, served: SERVED, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
`

// TestServedVersionEnds: the version of a child's kind that the folder writes is
// not served any more, while the operator runs or while it is down. The child
// stays, and the resource says what it waits for. Once the folder writes the
// version that is served, the very same child is changed, and pruned where it is
// not rendered any more.
func TestServedVersionEnds(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"running": false, "down": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := name + ".ended.example.com"
			in := func(text string, more ...string) string {
				return strings.NewReplacer(append(more, "GROUP", group)...).Replace(text)
			}
			of := func(version string) map[string]string {
				return map[string]string{"gadget.yaml": "{{ if .spec.gadget }}\n" + in(gadget, "VERSION", version) + "{{ end }}\n"}
			}
			cluster.Apply(t, "", in(versions, "SERVED", "true"))
			cluster.Served(t, group+"/v1beta1", "Gadget")
			files := of("v1beta1")
			files["map.yaml"] = configMap
			s := build(t, files)
			s.web("text: one, gadget: true")
			s.ready()
			uid := s.get(group+"/v1", "Gadget", "a").GetUID()
			mark := cluster.Mark(t)
			if down {
				s.operator.Stop(t)
			}
			cluster.Apply(t, "", in(versions, "SERVED", "false"))
			kit.Eventually(t, "the version is not served any more", func() error {
				if _, err := cluster.Get(group+"/v1beta1", "Gadget", s.namespace, "a"); err != nil {
					return nil
				}
				return errNotYet
			})
			if down {
				s.start()
			}
			s.web("text: two, gadget: true")
			s.is("Ready", "False", "Gadget")
			t.Log(s.message())
			s.says(strings.Replace(wantConfigMap, "text: one", "text: two", 1))
			s.settles(rest{because: "Gadget"})
			s.write(of("v1"))
			s.says(in("{apiVersion: GROUP/v1, kind: Gadget, metadata: {name: a}, spec: {text: two}}"))
			s.ready()
			if got := s.get(group+"/v1", "Gadget", "a").GetUID(); got != uid {
				t.Error("the child was recreated")
			}
			if n := kit.Tally(s.sent(mark))["delete gadgets"]; n != 0 {
				t.Errorf("%d deletions", n)
			}
			s.web("text: two, gadget: false")
			kit.Eventually(t, "the child is pruned", func() error { return cluster.Gone(group+"/v1", "Gadget", s.namespace, "a") })
			s.ready()
		})
	}
}
