package kinds

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/test/kit"
)

func testFoo(s *site) {
	s.apply("Foo", "f", "deploymentName: one")
	s.ready("Foo", "f")
	old := s.has("Deployment", "one", "spec.replicas", 1, "metadata.labels.app", "nginx", "metadata.labels.controller", "f",
		"spec.selector.matchLabels", map[string]any{"app": "nginx", "controller": "f"},
		"spec.template.spec.containers.0.name", "nginx", "spec.template.spec.containers.0.image", "nginx:latest")
	s.apply("Foo", "f", "deploymentName: one, replicas: 3")
	s.has("Foo", "f", "status.availableReplicas", 3)
	s.ready("Foo", "f")
	if now := s.has("Deployment", "one", "spec.replicas", 3); now.GetUID() != old.GetUID() {
		s.Error("the Deployment was recreated")
	}
	s.apply("Foo", "f", "deploymentName: two, replicas: 2")
	s.gone("Deployment", "one")
	s.has("Deployment", "two", "spec.replicas", 2)
	s.ready("Foo", "f")
	s.has("Foo", "f", "status.availableReplicas", 2)
	s.rests(s.get("Deployment", "two"), s.get("Foo", "f"))
	cluster.Delete(s, versions["Foo"], "Foo", s.ns, "f")
	s.gone("Deployment", "two")
}

// testFooForeign: a Deployment that is somebody else's is left as it is, and
// the Foo says so by condition and event.
func testFooForeign(s *site) {
	cluster.Apply(s, s.ns, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: theirs}, spec: {selector: {matchLabels: {app: theirs}},
  template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: theirs, image: theirs}]}}}}`)
	s.has("Deployment", "theirs", "status.availableReplicas", 1)
	s.rests()
	var before = s.get("Deployment", "theirs")
	s.apply("Foo", "f", "deploymentName: theirs, replicas: 5")
	s.says("Foo", "f", "Ready", "False", "OwnedByOthers", "Deployment "+s.ns+"/theirs", "left alone")
	s.says("Foo", "f", "Stalled", "True", "Deployment "+s.ns+"/theirs")
	s.has("Foo", "f", "status.availableReplicas", 0)
	kit.Eventually(s, "a Warning names the Deployment", func() error {
		var notes []any
		for _, e := range s.list("Event") {
			note, _ := at(&e, "note").(string)
			if at(&e, "regarding.kind") == "Foo" && at(&e, "type") == "Warning" && strings.Contains(note, "Deployment "+s.ns+"/theirs") {
				return nil
			}
			notes = append(notes, note)
		}
		return fmt.Errorf("there are %q", notes)
	})
	cluster.Delete(s, versions["Foo"], "Foo", s.ns, "f")
	s.gone("Foo", "f")
	s.rests()
	if diff := cmp.Diff(before, s.get("Deployment", "theirs")); diff != "" {
		s.Errorf("the foreign Deployment changed: %s", diff)
	}
}
