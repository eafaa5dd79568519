package faults

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const secret = `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}
  labels:
    tier: web
stringData:
  text: {{ .spec.text }}
`

const service = `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
  labels:
    tier: web
spec:
  selector:
    app: {{ .metadata.name }}
  ports:
  - port: 80
`

const (
	wantConfigMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: one}}"
	wantSecret     = "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {tier: web}}, data: {text: b25l}}"
	wantService    = "{apiVersion: v1, kind: Service, metadata: {name: a, labels: {tier: web}}, spec: {selector: {app: a}, ports: [{port: 80, protocol: TCP}]}}"
	wantDeployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: web, image: nginx}]}}}}"
	parting        = "\n---\n"
)

// TestDrift: whatever others do to our fields is undone, and what is theirs
// stays.
func TestDrift(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret, "service.yaml": service, "deployment.yaml": deployment})
	s.web("text: one, replicas: 1")
	want := rest{children: strings.Join([]string{wantConfigMap, wantSecret, wantService, wantDeployment}, parting)}
	s.rests(want)
	for _, d := range []struct {
		name string
		do   func()
		// stays is what others keep.
		stays string
	}{
		{"edit", func() {
			s.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"data":{"text":"theirs","more":"theirs"},"metadata":{"labels":{"theirs":"x"}}}`)
			s.patch("apps/v1", "Deployment", "a", "kubectl-edit", `{"spec":{"replicas":7,"minReadySeconds":3}}`)
		}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {theirs: x}}, data: {more: theirs}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1, minReadySeconds: 3}}"},
		{"a field deleted", func() {
			s.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"data":{"text":null}}`)
			s.patch("v1", "Service", "a", "kubectl-edit", `{"metadata":{"labels":null}}`)
			s.patch("v1", "Secret", "a", "kubectl-edit", `[{"op":"remove","path":"/data"}]`)
		}, ""},
		{"client-side apply", func() {
			s.patch("v1", "Secret", "a", "kubectl-client-side-apply",
				`{"stringData":{"text":"theirs","more":"theirs"},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`)
			s.patch("v1", "Service", "a", "kubectl-client-side-apply",
				`{"spec":{"selector":{"app":"theirs"}},"metadata":{"annotations":{"theirs":"x"}}}`)
		}, "{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: \"{}\"}}, data: {more: dGhlaXJz}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {theirs: x}}}"},
		{"another field manager with force", func() {
			s.apply("gitops",
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {gitops: x}}, data: {text: theirs, git: theirs}}\n---\n"+
					"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {text: dGhlaXJz}}\n---\n"+
					"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: {gitops: x}}, spec: {replicas: 4, template: {spec: {containers: [{name: web, image: theirs, tty: true}]}}}}")
		}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {gitops: x}}, data: {git: theirs}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: {gitops: x}}, spec: {template: {spec: {containers: [{tty: true}]}}}}"},
		{"our name with other values", func() {
			s.apply("jacquard", s.document("v1", "ConfigMap", func(o map[string]any) { o["data"].(map[string]any)["text"] = "theirs" }))
		}, ""},
		{"our name with fewer fields", func() {
			s.apply("jacquard", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
			s.apply("jacquard", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}")
		}, ""},
		{"our name with more fields", func() {
			s.apply("jacquard", s.document("v1", "ConfigMap", func(o map[string]any) { o["data"].(map[string]any)["extra"] = "theirs" }))
		}, ""},
		{"an update by our name", func() {
			s.patch("v1", "ConfigMap", "a", "jacquard", `{"data":{"text":"theirs","extra":"theirs"}}`)
		}, ""},
	} {
		d.do()
		undone := func() error { return s.withoutExtra(d.name != "an update by our name") }
		kit.Eventually(t, d.name+" is undone", undone)
		s.says(d.stays)
		s.rests(want)
		s.says(d.stays)
		if err := undone(); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		if t.Failed() {
			t.Fatalf("that was after: %s", d.name)
		}
	}
}

// withoutExtra is an error if there is a field that was applied in our name, if
// it is to go.
func (s *site) withoutExtra(goes bool) error {
	s.Helper()
	if _, found, _ := unstructured.NestedString(s.get("v1", "ConfigMap", "a").Object, "data", "extra"); found && goes {
		return errors.New("a field that was applied in our name stays")
	}
	return nil
}

// document is what the operator applies, as of the live object: with other
// content, as an imposter would apply it.
func (s *site) document(apiVersion, kind string, change func(map[string]any)) string {
	s.Helper()
	o := s.get(apiVersion, kind, "a")
	o.SetManagedFields(nil)
	o.SetResourceVersion("")
	o.SetUID("")
	delete(o.Object["metadata"].(map[string]any), "creationTimestamp")
	change(o.Object)
	text, err := o.MarshalJSON()
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// TestOthersOwnReplicas: a field that is not rendered belongs to whoever
// writes it, as an autoscaler does.
func TestOthersOwnReplicas(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"deployment.yaml": strings.Replace(deployment, "  replicas: {{ .spec.replicas }}\n", "", 1)})
	s.web("")
	s.ready()
	s.apply("autoscaler", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3}}")
	s.rests(rest{children: strings.Replace(wantDeployment, "spec: {", "spec: {replicas: 3, ", 1)})
	s.patch("apps/v1", "Deployment", "a", "hpa", `{"spec":{"replicas":2}}`, "scale")
	s.rests(rest{children: strings.Replace(wantDeployment, "spec: {", "spec: {replicas: 2, ", 1)})
	s.web("more: change")
	s.rests(rest{children: strings.Replace(wantDeployment, "spec: {", "spec: {replicas: 2, ", 1)})
}
