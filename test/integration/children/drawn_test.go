package children

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRefusedDrawsForNobody: while the Secret that a text is drawn for is
// refused, no other child gets that text: it would be another one later.
func TestRefusedDrawsForNobody(t *testing.T) {
	s := ordered(t, map[string]string{
		"map.yaml":    configMap,
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}-db\nstringData:\n  password: {{ stable \"secret\" \"password\" 24 }}\n",
		"url.yaml":    "{{- $all := fromYaml (rendered \"secret\") }}\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}-url\nstringData:\n  url: {{ $all.stringData.password }}@db\n",
	})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: a-db}, stringData: {own: text}}")
	s.apply("")
	s.is("Stalled", "True", "Secret "+s.namespace+"/a-db")
	s.rests("it was not made by this resource", "ConfigMap/a")
	cluster.Delete(t, "v1", "Secret", s.namespace, "a-db")
	s.annotate("jacquard.dev/reconcile-at", "now")
	s.rests("", "ConfigMap/a", "Secret/a-db", "Secret/a-url")
	if password, url := s.decoded("a-db", "password"), s.decoded("a-url", "url"); len(password) != 24 ||
		!bytes.Equal(url, append(password, "@db"...)) {
		t.Errorf("the password is %s, the URL %s", password, url)
	}
}

// TestDrawnIsNotDropped: a Secret with a drawn text stays when a changed folder
// draws for it no more, also for an operator that never saw the earlier one.
func TestDrawnIsNotDropped(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": configMap, "secret.yaml": drawnSecret})
	s.apply("secret: one")
	s.rests("", "ConfigMap/a", "Secret/a-one")
	one := s.get("v1", "Secret", "a-one")
	s.change(map[string]string{"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}-plain\nstringData:\n  user: {{ .spec.secret }}\n"})
	s.rests("allow-prune="+s.allowance("v1", "Secret", "a-one"), "ConfigMap/a", "Secret/a-one", "Secret/a-plain")
	s.again()
	s.rests("allow-prune="+s.allowance("v1", "Secret", "a-one"), "ConfigMap/a", "Secret/a-one", "Secret/a-plain")
	if now := s.get("v1", "Secret", "a-one"); now.GetUID() != one.GetUID() {
		t.Error("it was recreated")
	}
	s.annotate("jacquard.dev/allow-prune", s.allowance("v1", "Secret", "a-one"))
	s.away("v1", "Secret", s.namespace, "a-one")
}

// TestStringData: what somebody applies as stringData is undone, though the API server does
// not note that it changed data; what else that person applied stays theirs.
func TestStringData(t *testing.T) {
	s := ordered(t, map[string]string{"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}-db\nstringData:\n  user: ours\n"})
	s.apply("")
	s.rests("", "Secret/a-db")
	for _, text := range []string{"theirs", "again"} {
		mark := cluster.Mark(t)
		cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: a-db, labels: {by: person}}, stringData: {user: "+text+"}}")
		kit.Eventually(t, "it is undone", func() error {
			if user := s.decoded("a-db", "user"); string(user) != "ours" {
				return fmt.Errorf("the user is %s", user)
			}
			return nil
		})
		s.rests("", "Secret/a-db")
		if sent := kit.Writes(s.sent(mark)); len(sent) != 2 { // one of them changes managedFields
			t.Errorf("it was undone by %v", sent)
		}
	}
	o := s.get("v1", "Secret", "a-db")
	if o.GetLabels()["by"] != "person" {
		t.Errorf("its labels are %v", o.GetLabels())
	}
	if owners, err := ownership.Owners(o.GetManagedFields()); err != nil || !slices.ContainsFunc(owners, func(o ownership.Owner) bool { return o.Manager == "person" }) {
		t.Errorf("%v: person owns nothing: %v", err, owners)
	}
}

// decoded is a key of a Secret.
func (s *site) decoded(name, key string) []byte {
	s.Helper()
	encoded, _, _ := unstructured.NestedString(s.get("v1", "Secret", name).Object, "data", key)
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		s.Fatal(err)
	}
	return text
}
