package children

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// movedMap is a ConfigMap of which a condition and the end of the name are to
// be filled in.
const movedMap = `{{- if %s }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}-%s
data:
  a: b
{{- end }}
`

const waitsForLater = `{{- if not (lookup "v1" "ConfigMap" "" "later") }}{{ wait "for later" }}{{ end }}
`

// TestMovedIntoWaiting: a child that moves from a file that stays into one that
// waits is kept while that waits, and said to be; what the waiting file cannot
// make is pruned meanwhile.
func TestMovedIntoWaiting(t *testing.T) {
	s := ordered(t, map[string]string{
		"app.yaml": fmt.Sprintf(movedMap, "true", "one") + fmt.Sprintf(movedMap, `eq .spec.in "app"`, "two"),
		"old.yaml": fmt.Sprintf(movedMap, `eq .spec.in "app"`, "old"),
		"two.yaml": waitsForLater + fmt.Sprintf(movedMap, `eq .spec.in "two"`, "two"),
	})
	s.apply("in: app")
	s.rests("for later", "ConfigMap/a-one", "ConfigMap/a-two", "ConfigMap/a-old")
	before := s.get("v1", "ConfigMap", "a-two")
	s.apply("in: two")
	s.away("v1", "ConfigMap", s.namespace, "a-old")
	s.is("ChildrenKept", "True", s.allowance("v1", "ConfigMap", "a-two")+" is kept, since two.yaml waits")
	s.rests("for later", "ConfigMap/a-one", "ConfigMap/a-two")
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: later}}")
	s.rests("", "ConfigMap/a-one", "ConfigMap/a-two")
	s.is("ChildrenKept", "", "")
	if now := s.get("v1", "ConfigMap", "a-two"); now.GetUID() != before.GetUID() {
		t.Errorf("it was recreated: its uid was %s and is %s", before.GetUID(), now.GetUID())
	}
}

// allowance is the text by which the resource allows the deletion of a child.
func (s *site) allowance(apiVersion, kind, name string) string {
	s.Helper()
	o := s.get(apiVersion, kind, name)
	return plan.Allowance(o.GroupVersionKind().GroupKind(), o)
}

// TestKeptIsReleased: what is kept for a waiting file goes once the resource
// allows it.
func TestKeptIsReleased(t *testing.T) {
	s := ordered(t, map[string]string{
		"app.yaml": fmt.Sprintf(movedMap, "true", "one") + fmt.Sprintf(movedMap, "not .spec.gone", "two"),
		"two.yaml": waitsForLater + fmt.Sprintf(movedMap, "true", "two"),
	})
	s.apply("")
	s.is("Ready", "False", "for later")
	s.get("v1", "ConfigMap", "a-two")
	s.apply("gone: true")
	s.is("ChildrenKept", "True", "a-two")
	s.annotate("jacquard.dev/allow-prune", s.allowance("v1", "ConfigMap", "a-two"))
	s.away("v1", "ConfigMap", s.namespace, "a-two")
	s.rests("for later", "ConfigMap/a-one")
}

// TestKeptForFailed: a child that a file may make which cannot be rendered is
// kept and said to be, and so is all else that is not rendered any more; it goes
// once the resource allows it.
func TestKeptForFailed(t *testing.T) {
	s := ordered(t, map[string]string{
		"app.yaml": fmt.Sprintf(movedMap, "true", "one") + fmt.Sprintf(movedMap, `eq .spec.in "app"`, "two") + fmt.Sprintf(movedMap, `eq .spec.in "app"`, "old"),
		"two.yaml": strings.Replace(fmt.Sprintf(movedMap, `ne .spec.in "app"`, "two"), "a: b",
			`a: b{{ if eq .spec.in "two" }}{{ index (list 1) 7 }}{{ end }}`, 1),
	})
	s.apply("in: app")
	s.ready()
	s.apply("in: two")
	s.is("ChildrenKept", "True",
		s.allowance("v1", "ConfigMap", "a-old")+" is kept, since two.yaml cannot be rendered; "+
			s.allowance("v1", "ConfigMap", "a-two")+" is kept, since two.yaml cannot be rendered")
	s.rests("two.yaml", "ConfigMap/a-one", "ConfigMap/a-two", "ConfigMap/a-old")
	s.annotate("jacquard.dev/allow-prune", s.allowance("v1", "ConfigMap", "a-two")+", "+s.allowance("v1", "ConfigMap", "a-one"))
	s.away("v1", "ConfigMap", s.namespace, "a-two")
	s.rests("two.yaml", "ConfigMap/a-one", "ConfigMap/a-old")
	s.apply("in: nowhere")
	s.rests("", "ConfigMap/a-one", "ConfigMap/a-two")
	s.is("ChildrenKept", "", "")
}

// drawnSecret is a Secret with a drawn text; the end of its name, and whether
// it is immutable, come from the resource.
const drawnSecret = `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}-{{ .spec.secret }}
  annotations:
    jacquard.dev/on-immutable: recreate
immutable: true
stringData:
  password: {{ stable "secret" "password" 24 }}
  user: {{ .spec.user | default "root" }}
`

// TestDrawnIsNotPruned: a Secret whose text stable reads stays when it is not
// rendered any more, until the resource allows that it goes.
func TestDrawnIsNotPruned(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": configMap, "secret.yaml": drawnSecret})
	s.apply("secret: one")
	s.rests("", "ConfigMap/a", "Secret/a-one")
	one := s.get("v1", "Secret", "a-one")
	s.apply("secret: two")
	s.rests("allow-prune="+s.allowance("v1", "Secret", "a-one"), "ConfigMap/a", "Secret/a-one", "Secret/a-two")
	if now := s.get("v1", "Secret", "a-one"); now.GetUID() != one.GetUID() {
		t.Error("it was recreated")
	}
	s.annotate("jacquard.dev/allow-prune", s.allowance("v1", "Secret", "a-one"))
	s.away("v1", "Secret", s.namespace, "a-one")
	s.rests("", "ConfigMap/a", "Secret/a-two")
}

// TestDrawnIsNotRecreated: nor is such a Secret recreated where the API refuses
// to change it.
func TestDrawnIsNotRecreated(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": configMap, "secret.yaml": drawnSecret})
	s.apply("secret: one")
	s.rests("", "ConfigMap/a", "Secret/a-one")
	one := s.get("v1", "Secret", "a-one")
	s.apply("secret: one, user: other")
	s.rests("allow-prune="+s.allowance("v1", "Secret", "a-one"), "ConfigMap/a", "Secret/a-one")
	if now := s.get("v1", "Secret", "a-one"); now.GetUID() != one.GetUID() {
		t.Error("it was recreated")
	}
	s.annotate("jacquard.dev/allow-prune", s.allowance("v1", "Secret", "a-one"))
	kit.Eventually(t, "it is recreated", func() error {
		now, err := cluster.Get("v1", "Secret", s.namespace, "a-one")
		if err == nil && now.GetUID() == one.GetUID() {
			err = fmt.Errorf("it is the same")
		}
		return err
	})
	s.rests("", "ConfigMap/a", "Secret/a-one")
}
