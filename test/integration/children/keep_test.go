package children

import (
	"fmt"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const adopting = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ childName .metadata.name "x" }}
  annotations:
    jacquard.dev/adopt: "true"
data:
  text: one
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: literal
  annotations:
    jacquard.dev/adopt: "true"
data:
  text: one
`

// TestAdopt: an object that nobody controls is taken over where the folder says
// so; one that somebody controls is left alone.
func TestAdopt(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": adopting})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-x}, data: {text: old, own: text}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: other}}")
	other := s.get("v1", "Secret", "other")
	cluster.Apply(t, s.namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: literal, ownerReferences: [
		{apiVersion: v1, kind: Secret, name: other, uid: %s, controller: true}]}, data: {text: old}}`, other.GetUID()))
	before := s.get("v1", "ConfigMap", "literal")
	adopted := s.get("v1", "ConfigMap", "a-x")
	s.apply("")
	s.rests("it belongs to Secret other", "ConfigMap/a-x")
	s.holds("a-x", "map[own:text text:one]")
	if now := s.get("v1", "ConfigMap", "a-x"); now.GetUID() != adopted.GetUID() {
		t.Error("it was recreated")
	}
	if now := s.get("v1", "ConfigMap", "literal"); now.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the object of somebody else is %v", now)
	}
	cluster.Delete(t, "v1", "Secret", s.namespace, "other") // and the garbage collector what it controls
	s.rests("", "ConfigMap/a-x", "ConfigMap/literal")
}

// TestRestored: children that come out of a backup, without owner references and
// with a uid of before, are taken over by the resource that they name.
func TestRestored(t *testing.T) {
	s := ordered(t, map[string]string{"kind.yaml": clusterRoles, "far.yaml": fmt.Sprintf(far, "far"), "map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data: {{ .spec.data }}
`})
	metadata := func(name, owner string) string {
		return s.ours(fmt.Sprintf("metadata: {name: %s, labels: {jacquard.dev/owner-uid: old}, annotations: {jacquard.dev/owner: things.example.com/NAMESPACE/%s, jacquard.dev/desired: old}}", name, owner))
	}
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, "+metadata("a", "a")+", data: {text: old, more: old}}")
	role := kit.Parse(t, "{apiVersion: "+rbac+", kind: ClusterRole, "+metadata(s.namespace+"-a-far", "a")+", rules: []}")[0]
	if err := cluster.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	restored := s.get("v1", "ConfigMap", "a")
	s.apply("data: {text: one, more: one}")
	s.rests("", append(s.far("far"), "ConfigMap/a")...)
	if s.get("v1", "ConfigMap", "a").GetUID() != restored.GetUID() || s.get(rbac, "ClusterRole", role.GetName()).GetUID() != role.GetUID() {
		t.Error("it was recreated")
	}
	s.apply("data: {text: one}")
	s.rests("", append(s.far("far"), "ConfigMap/a")...)
	s.holds("a", "map[text:one]")
	s.goes()
	s.away("v1", "ConfigMap", s.namespace, "a")
	s.away(rbac, "ClusterRole", "", role.GetName())
}

// keeping has two children, of which one is kept.
var keeping = map[string]string{"map.yaml": configMap, "kept.yaml": `{{- if .spec.kept }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: kept
  annotations:
    jacquard.dev/on-delete: keep
data:
  text: {{ .spec.kept }}
{{- end }}
`}

// TestKept: a kept child stays when it is not rendered any more and when the
// resource goes, and is the resource's own again afterwards.
func TestKept(t *testing.T) {
	s := ordered(t, keeping)
	s.apply("kept: one")
	s.rests("", "ConfigMap/a", "ConfigMap/kept")
	kept := s.get("v1", "ConfigMap", "kept")
	s.apply("text: one")
	s.rests("", "ConfigMap/a", "ConfigMap/kept")
	s.apply("kept: two")
	s.rests("", "ConfigMap/a", "ConfigMap/kept")
	s.holds("kept", "map[text:two]")
	s.goes()
	s.away("v1", "ConfigMap", s.namespace, "a")
	s.apply("kept: three")
	s.rests("", "ConfigMap/a", "ConfigMap/kept")
	s.holds("kept", "map[text:three]")
	if s.get("v1", "ConfigMap", "kept").GetUID() != kept.GetUID() {
		t.Error("it was recreated")
	}
}

// TestKeptFromNowOn: what a changed folder says of a child's end holds.
func TestKeptFromNowOn(t *testing.T) {
	document := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  annotations:\n    jacquard.dev/on-delete: %s\n"
	s := ordered(t, map[string]string{"one.yaml": fmt.Sprintf(document, "one", "delete"), "two.yaml": fmt.Sprintf(document, "two", "keep")})
	s.apply("")
	s.rests("", "ConfigMap/one", "ConfigMap/two")
	s.change(map[string]string{"one.yaml": fmt.Sprintf(document, "one", "keep"), "two.yaml": fmt.Sprintf(document, "two", "delete")})
	kit.Eventually(t, "the children say so", func() error {
		one, two := len(s.get("v1", "ConfigMap", "one").GetOwnerReferences()), len(s.get("v1", "ConfigMap", "two").GetOwnerReferences())
		if one != 0 || two != 1 {
			return fmt.Errorf("%d and %d owner references", one, two)
		}
		return nil
	})
	s.rests("", "ConfigMap/one", "ConfigMap/two")
	s.goes()
	s.away("v1", "ConfigMap", s.namespace, "two")
	s.operator.AwaitQuiet(t)
	s.get("v1", "ConfigMap", "one")
}

// TestKeptByResource: a resource whose annotation says so goes without its children, and
// one of the same name takes them over.
func TestKeptByResource(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"})
	references := func(want int) {
		t.Helper()
		kit.Eventually(t, fmt.Sprintf("the child has %d owner references", want), func() error {
			if all := s.get("v1", "ConfigMap", "a").GetOwnerReferences(); len(all) != want {
				return fmt.Errorf("it has %v", all)
			}
			return nil
		})
	}
	s.apply("")
	s.rests("", "ConfigMap/a")
	references(1)
	before := s.get("v1", "ConfigMap", "a").GetUID()
	s.annotate("jacquard.dev/on-delete", "keep")
	references(0)
	s.rests("", "ConfigMap/a")
	s.goes()
	s.operator.AwaitQuiet(t)
	references(0) // so nobody collects it
	s.apply("")
	references(1)
	s.rests("", "ConfigMap/a")
	if after := s.get("v1", "ConfigMap", "a").GetUID(); after != before {
		t.Errorf("its uid is %s, and was %s", after, before)
	}
}
