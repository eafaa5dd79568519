package faults

import "testing"

// TestImmutableField: a change that the API refuses for a field that never
// changes names the line that wrote this field, also where the API server names
// only the whole spec, and the annotation that would allow it.
func TestImmutableField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, place string }{
		"of a StatefulSet": {`apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: a
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  serviceName: {{ .spec.text }}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: i}]}
`, "child.yaml:8:"},
		"of a Deployment": {`apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
spec:
  replicas: 0
  selector: {matchLabels: {app: {{ .spec.text }}}}
  template:
    metadata: {labels: {app: {{ .spec.text }}}}
    spec: {containers: [{name: a, image: i}]}
`, "child.yaml:7:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, map[string]string{"child.yaml": c.document})
			s.web("text: one")
			s.ready()
			s.web("text: two")
			s.is("Stalled", "True", c.place)
			t.Log(s.message())
			s.is("Stalled", "True", "jacquard.dev/on-immutable: recreate")
		})
	}
}
