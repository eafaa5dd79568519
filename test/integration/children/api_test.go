package children

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const crdKind = "CustomResourceDefinition"

// dropCRD deletes the kind's CRD and waits until it is gone.
func dropCRD(t *testing.T, name string) {
	t.Helper()
	cluster.Delete(t, "apiextensions.k8s.io/v1", crdKind, "", name)
	kit.Eventually(t, "CRD "+name+" is gone", func() error {
		return cluster.Gone("apiextensions.k8s.io/v1", crdKind, "", name)
	})
}

// TestCRDComesAndGoes: a kind starts when its CRD appears and stops when it
// goes; children of the old resources are collected, and nothing is leaked.
func TestCRDComesAndGoes(t *testing.T) {
	t.Parallel()
	k := newThing(t, "crdgoes", plain())
	op := cluster.Run(t, nil, k.root)
	kit.Eventually(t, "the operator is ready without the CRD", op.Ready)
	for i := range 4 {
		cluster.Apply(t, "", k.crd())
		cluster.Served(t, k.apiVersion(), "Thing")
		name := fmt.Sprint("round", i)
		k.apply(t, name, "text: "+name)
		k.ready(t, name)
		k.data(t, name, name)
		k.atRest(t, name, "ConfigMap/"+name)
		dropCRD(t, k.name())
	}
	// The garbage collector has to know the kind to see that its resources are
	// gone, and it may not have met the earlier CRDs at all.
	cluster.Apply(t, "", k.crd())
	for i := range 4 {
		k.data(t, fmt.Sprint("round", i), "")
	}
}

// TestNoLeak: kinds that start and stop leave no goroutines behind.
func TestNoLeak(t *testing.T) {
	t.Parallel()
	k := newThing(t, "leak", plain())
	op := cluster.Run(t, nil, k.root)
	round := func(name string) {
		cluster.Apply(t, "", k.crd())
		cluster.Served(t, k.apiVersion(), "Thing")
		k.apply(t, name, "")
		k.ready(t, name)
		running, _ := op.Goroutines(t)
		dropCRD(t, k.name())
		fewer(t, op, running-1) // the kind has stopped
	}
	round("first")
	before := least(t, op)
	for i := range 3 {
		round(fmt.Sprint("again", i))
	}
	fewer(t, op, before+2)
}

// fewer waits until an operator has no more goroutines than most: one may take its time
// to end.
func fewer(t *testing.T, op *kit.Operator, most int) {
	t.Helper()
	kit.Eventually(t, "goroutines end", func() error {
		if n, stacks := op.Goroutines(t); n > most {
			return fmt.Errorf("%d goroutines, want at most %d\n%s", n, most, stacks)
		}
		return nil
	})
}

// least is the number of an operator's goroutines once no more of them end.
func least(t *testing.T, op *kit.Operator) int {
	t.Helper()
	n, _ := op.Goroutines(t)
	cluster.AwaitQuiet(t, func() (string, error) {
		now, _ := op.Goroutines(t)
		n = min(n, now)
		return fmt.Sprint(n), nil
	})
	return n
}

// TestSchemaChangesLive: a field that is added to the live CRD can be used by
// the templates at once.
func TestSchemaChangesLive(t *testing.T) {
	t.Parallel()
	k := newThing(t, "schema", plain())
	op := k.run(t)
	k.apply(t, "a", "")
	k.ready(t, "a")
	k.write(t, map[string]string{"map.yaml": config("", "{{ .spec.added }}")})
	told(t, "", k.name(), "FolderInvalid", "spec.added")
	k.data(t, "a", "hello")
	k.fields = "added: {type: string, default: new}"
	cluster.Apply(t, "", k.crd())
	k.data(t, "a", "new")
	k.apply(t, "a", "added: mine")
	k.data(t, "a", "mine")
	k.ready(t, "a")
	if err := op.Ready(); err != nil {
		t.Error(err)
	}
	k.atRest(t, "a", "ConfigMap/a")
}

// gadget is a CRD that a folder makes children of.
func gadget(group, scope string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.%[1]s}
spec:
  group: %[1]s
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: %[2]s
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, group, scope)
}

// TestMissingChildKind: a child's kind that the cluster does not have is
// waited for; installed, deleted, recreated with another scope and back.
func TestMissingChildKind(t *testing.T) {
	t.Parallel()
	group := "gadgets.example.com"
	name := "gadgets." + group
	k := newThing(t, "waitsforgadget", with(plain(), map[string]string{
		"gadget.yaml": "apiVersion: " + group + "/v1\nkind: Gadget\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  text: {{ .spec.text }}\n",
	}))
	other := newThing(t, "gadgetless", plain())
	k.run(t, other)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", crdKind, "", name) })
	waits := func() {
		t.Helper()
		k.says(t, "a", "Ready", "False", "Gadget")
		k.says(t, "a", "Stalled", "")
		other.apply(t, "o", "text: "+fmt.Sprint("t", time.Now().UnixNano()))
		other.ready(t, "o")
		k.data(t, "a", "hello")
	}
	served := func() {
		t.Helper()
		cluster.Apply(t, "", gadget(group, "Namespaced"))
		k.ready(t, "a")
		if _, err := cluster.Get(group+"/v1", "Gadget", k.ns, "a"); err != nil {
			t.Error(err)
		}
	}
	k.apply(t, "a", "")
	waits()
	served()
	dropCRD(t, name)
	waits()
	k.atRest(t, "a", "ConfigMap/a")
	cluster.Apply(t, "", gadget(group, "Cluster"))
	k.says(t, "a", "Ready", "False", "Gadget", "cluster-scoped")
	k.data(t, "a", "hello")
	k.atRest(t, "a", "ConfigMap/a")
	if gadgets := list(t, group+"/v1", "Gadget", ""); len(gadgets) != 0 {
		t.Errorf("cluster-scoped children were made: %v", gadgets)
	}
	dropCRD(t, name)
	served()
	k.more = [2]string{group + "/v1", "Gadget"}
	k.atRest(t, "a", "ConfigMap/a", "Gadget/a")
	other.atRest(t, "o", "ConfigMap/o")
}

// TestHasAPI: a template that asks for an API is rendered again when the API
// comes and when it goes. Resources of a kind that does not ask are not even looked at.
func TestHasAPI(t *testing.T) {
	t.Parallel()
	group := "asked.example.com"
	k := newThing(t, "asks", map[string]string{
		"map.yaml": config("", "{{ if hasAPI \""+group+"/v1\" \"Gadget\" }}there{{ else }}absent{{ end }}"),
	})
	other := newThing(t, "asksnothing", plain())
	k.run(t, other)
	k.apply(t, "a", "")
	k.data(t, "a", "absent")
	other.apply(t, "o", "")
	other.ready(t, "o")
	other.atRest(t, "o", "ConfigMap/o")
	before := reconciliations(t, other.name())
	cluster.Apply(t, "", gadget(group, "Namespaced"))
	k.data(t, "a", "there")
	dropCRD(t, "gadgets."+group)
	k.data(t, "a", "absent")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
	if n := reconciliations(t, other.name()) - before; n > 0 {
		t.Errorf("a resource of a kind that does not ask is reconciled %v times", n)
	}
}

// TestUndeclaredStatus: fields of a status that the CRD does not declare are
// dropped, whether they are status.yaml's or the engine's.
func TestUndeclaredStatus(t *testing.T) {
	t.Parallel()
	k := newThing(t, "undeclared", with(plain(), map[string]string{"status.yaml": "seen: {{ .spec.text }}\nlost: {{ .spec.text }}\n"}))
	k.status = "seen: {type: string}"
	crd := strings.ReplaceAll(k.crd(), "childrenReady: {type: integer}", "other: {type: integer}")
	kit.Write(t, k.root, map[string]string{"crds/" + k.name() + ".yaml": crd})
	k.run(t)
	k.apply(t, "a", "")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
	o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "a")
	if err != nil {
		t.Fatal(err)
	}
	status := o.Object["status"].(map[string]any)
	if status["seen"] != "hello" || status["lost"] != nil || status["childrenReady"] != nil || status["childrenTotal"] != int64(1) {
		t.Errorf("the status is %v", status)
	}
}

// TestWithoutStatus: a CRD without status subresource gets events only.
func TestWithoutStatus(t *testing.T) {
	t.Parallel()
	k := &thing{group: "nostatus.example.com", root: t.TempDir(), ns: cluster.Namespace(t), noStatus: true}
	k.writeCRD(t)
	k.write(t, with(plain(), map[string]string{"zz.yaml": "{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}"}))
	k.run(t)
	k.apply(t, "a", "")
	k.data(t, "a", "hello")
	told(t, k.ns, "a", "Normal Ready")
	k.apply(t, "a", "text: bad")
	told(t, k.ns, "a", "Warning", "not so")
	k.apply(t, "a", "text: good")
	k.data(t, "a", "good")
	k.atRest(t, "a", "ConfigMap/a")
	o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "a")
	if err != nil || o.Object["status"] != nil {
		t.Errorf("status %v, %v", o.Object["status"], err)
	}
	for _, e := range events(t, k.ns, "a") {
		if n := strings.Count(e, "Ready is True"); n > 1 {
			t.Errorf("an event repeats itself: %s", e)
		}
	}
}
