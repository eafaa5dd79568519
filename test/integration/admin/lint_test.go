package admin

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestLintCluster: lint compares a CRD with that of the cluster, and counts the
// resources that it would refuse.
func TestLintCluster(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .metadata.name }}}\n"})
	const open = "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}"
	was := "spec: {type: object, properties: {replicas: {type: integer}, image: {type: string}}}"
	s.apply(strings.Replace(kit.WebCRD, open, was, 1))
	s.apply(strings.Replace(kit.WebCRD, open, strings.Replace(was, "integer", "integer, minimum: 0", 1), 1))
	for name, replicas := range map[string]string{"a": "0", "b": "1", "c": "2", "d": "3"} {
		s.web(name, "replicas: "+replicas+", image: hunter2")
	}
	is := strings.Replace(was, "integer}, image", "integer, minimum: 2}, images", 1)
	file := "crds/" + s.name() + ".yaml"
	kit.Write(t, s.root, map[string]string{file: s.fill(strings.Replace(kit.WebCRD, open, is, 1))})
	got := s.as(looker, "lint", "--root", s.root, "--against", "cluster")
	if got.code != 1 {
		t.Errorf("the exit code is %d", got.code)
	}
	for _, want := range []string{
		"v1 spec.image: this field is gone", "did you mean to rename it to images?", "v1 spec.replicas: the minimum was 0 and is 2",
		"2 of 4 resources in the cluster would be refused: " + s.namespace + "/a: spec.replicas: must be ≥ 2 (is 0); " +
			s.namespace + "/b: spec.replicas: must be ≥ 2 (is 1)", "4 resources of the cluster tried",
	} {
		if !strings.Contains(got.all(), want) {
			t.Errorf("lint does not say %q:\n%s", want, got.all())
		}
	}
	kit.Write(t, s.root, map[string]string{file: s.fill(strings.Replace(kit.WebCRD, open, strings.Replace(was, "integer", "integer, minimum: -1", 1), 1))})
	if got := s.as(looker, "lint", "--root", s.root, "--against", "cluster").all(); strings.Contains(got, "breaking-crd") {
		t.Errorf("lint finds in a looser CRD:\n%s", got)
	}
	if got := s.as(viewer, "lint", "--root", s.root, "--against", "cluster"); got.code == 0 || !strings.Contains(got.stderr, "reading CRD "+s.name()) {
		t.Errorf("lint of a user who may not read CRDs says:\n%s", got.all())
	}
}
