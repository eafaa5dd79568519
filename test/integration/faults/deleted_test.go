package faults

import (
	"errors"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var errNotYet = errors.New("not yet")

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text }}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: {{ .spec.replicas }}
  selector:
    matchLabels:
      app: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app: {{ .metadata.name }}
    spec:
      containers:
      - name: web
        image: nginx
        ports:
        - containerPort: 80
`

// TestDeletedByHand: a child is deleted 40 times, 10 a second.
func TestDeletedByHand(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "deployment.yaml": deployment})
	s.web("text: one, replicas: 1")
	s.ready()
	bystander := s.get("apps/v1", "Deployment", "a")
	for range 40 {
		cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a")
		time.Sleep(100 * time.Millisecond)
	}
	s.rests(rest{children: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: one}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}"})
	if now := s.get("apps/v1", "Deployment", "a"); now.GetUID() != bystander.GetUID() || now.GetGeneration() != bystander.GetGeneration() {
		t.Error("the Deployment beside it was written too")
	}
}

// TestDeletedWithFinalizer: a child that is held by somebody's finalizer comes
// back once it is let go.
func TestDeletedWithFinalizer(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap})
	s.web("text: one")
	s.ready()
	s.patch("v1", "ConfigMap", "a", "other", `{"metadata":{"finalizers":["example.com/held"]}}`)
	old := s.get("v1", "ConfigMap", "a")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a")
	s.is("Ready", "False", "being deleted")
	s.settles(rest{because: "being deleted"})
	s.patch("v1", "ConfigMap", "a", "other", `{"metadata":{"finalizers":null}}`)
	kit.Eventually(t, "it is recreated", func() error {
		if o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a"); err != nil || o.GetUID() == old.GetUID() {
			return errNotYet
		}
		return nil
	})
	s.rests(rest{children: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: one}}"})
}
