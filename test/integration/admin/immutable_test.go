package admin

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/engine/api"
)

// TestImmutable: where the API server refuses to change a field, diff shows what
// it would change, and says what would help.
func TestImmutable(t *testing.T) {
	s := build(t, map[string]string{
		"configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}}
immutable: true
data: {text: {{ .spec.text }}}
`,
		"secret.yaml": `apiVersion: v1
kind: Secret
metadata: {name: {{ .metadata.name }}}
immutable: true
stringData: {token: {{ .spec.token }}}
`,
		"statefulset.yaml": `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: {{ .metadata.name }}}
spec:
  replicas: {{ .spec.replicas }}
  serviceName: {{ .spec.text }}
  selector: {matchLabels: {web: {{ .metadata.name }}}}
  template:
    metadata: {labels: {web: {{ .metadata.name }}}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
`,
	})
	s.apply(s.web(spec))
	s.run()
	file := s.file(s.web("text: two, size: 1, replicas: 1, token: tok-secret-two"))
	for name, verb := range s.verbs(2, file) {
		if verb != diff.Refused {
			t.Errorf("%s is %s, want refused", name, verb)
		}
	}
	said := s.diff(2, file)
	for _, part := range []string{"-  text: one\n", "+  text: two\n", "-  serviceName: one\n", "+  serviceName: two\n", "statefulset.yaml:6",
		api.AnnotationOnImmutable + ": recreate"} {
		if !strings.Contains(said.stdout, part) {
			t.Errorf("it does not say %q:\n%s", part, said.all())
		}
	}
	if strings.Contains(said.stdout, "Policy:") {
		t.Errorf("a default of the server is shown as different:\n%s", said.all())
	}
	s.unseen(said, "a", "tok-secret-one", "tok-secret-two")
}
