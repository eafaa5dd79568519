package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// gadgets is a kind of child that is ready once its controller, the test, has
// observed it.
const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {text: {type: string}}}
          status: {type: object, properties: {observedGeneration: {type: integer}}}
`

// observed waits until a Gadget has this text, and observes it.
func (s *site) observed(name, text string) {
	s.Helper()
	kit.Eventually(s, "Gadget "+name+" is observed", func() error {
		o, err := cluster.Get(s.group+"/v1", "Gadget", s.namespace, name)
		if err != nil {
			return err
		}
		if said := fmt.Sprint(o.Object["spec"]); said != "map[text:"+text+"]" {
			return fmt.Errorf("it says %s", said)
		}
		patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, o.GetGeneration())
		return cluster.Client.Status().Patch(context.Background(), o, client.RawPatch(types.MergePatchType, patch))
	})
}

// TestServerKilledInRollout: a rollout waits for a child of its wave while the
// API server is killed, in the first wave and in a later one. When it is back the
// rollout still waits, then goes on, and each child is changed once.
func TestServerKilledInRollout(t *testing.T) {
	kit.Nightly(t, "chaos")
	group := "rollout.example.com"
	cluster.Apply(t, "", strings.ReplaceAll(gadgets, "GROUP", group))
	cluster.Served(t, group+"/v1", "Gadget")
	folder := func(text string) map[string]string {
		return map[string]string{
			"kind.yaml":   "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"1\", \"3\"]}\n",
			"gadget.yaml": "apiVersion: " + group + "/v1\nkind: Gadget\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  text: " + text + "\n",
		}
	}
	s := serve(t, group, folder("one"))
	said, uids := map[string]string{}, map[string]types.UID{}
	names := []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"}
	for _, name := range names {
		s.web(name, "x")
		s.observed(name, "one")
		said[name] = "one"
	}
	s.ready(names...)
	for _, name := range names {
		o, err := cluster.Get(group+"/v1", "Gadget", s.namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		uids[name] = o.GetUID()
	}
	says := func(text string, names ...string) {
		t.Helper()
		for _, name := range names {
			said[name] = text
		}
		s.say(group+"/v1", "Gadget", "spec", said)
	}
	mark := cluster.Mark(t)
	s.write(folder("two"))
	for i, wave := range [][]string{names[:1], names[1:4]} {
		says("two", wave...)
		kill(t, "apiserver")
		made := fmt.Sprint("made-", i) // while the rollout runs: with the new version
		s.web(made, "x")
		s.observed(made, "two")
		s.ready(made)
		time.Sleep(stretch) // waves are looked at meanwhile
		says("two", made)
		for _, name := range wave {
			s.observed(name, "two")
		}
	}
	says("two", names[4:]...)
	for _, name := range names[4:] {
		s.observed(name, "two")
	}
	s.ready(names...)
	kit.Eventually(t, "the rollout is complete", func() error {
		o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "webs."+group)
		if err != nil {
			return err
		}
		if r := rollout.ParseRecord(o.GetAnnotations()["jacquard.dev/rollout"]); r.State != rollout.Complete {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
	s.rests()
	for _, name := range names {
		if o, err := cluster.Get(group+"/v1", "Gadget", s.namespace, name); err != nil || o.GetUID() != uids[name] || o.GetGeneration() != 2 {
			t.Errorf("Gadget %s was not changed once, in place: %v, generation %d", name, err, o.GetGeneration())
		}
	}
	for _, r := range cluster.Requests(t, mark) {
		if r.Verb == "delete" {
			t.Errorf("a deletion: %v", r)
		}
	}
}
