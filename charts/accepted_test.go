package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAccepted: the API server takes every object of every combination, with no
// field that it does not know, and the Pods where Pod Security restricted is
// enforced. It runs before the tests that run side by side, since one of these makes
// what it tries.
func TestAccepted(t *testing.T) {
	cluster.Apply(t, "", string(read(t, "testdata/prometheus-operator.yaml")))
	for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
		cluster.Served(t, "monitoring.coreos.com/v1", kind)
	}
	for _, name := range []string{"team-a", "team-b"} {
		ensure(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	ensure(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc"})
	for name, values := range combinations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := restricted(t)
			objects, err := render(release{name: "tried", namespace: namespace, values: values})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				try(t, o)
			}
			pod(t, objects, namespace)
		})
	}
}

// ensure makes an object if it is not there.
func ensure(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Create(context.Background(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// restricted makes a namespace in which Pod Security restricted is enforced.
func restricted(t *testing.T) string {
	t.Helper()
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+
		", labels: {pod-security.kubernetes.io/enforce: restricted}}}")
	return namespace
}

// try has the API server answer as if an object were made.
func try(t *testing.T, o client.Object) {
	t.Helper()
	strict := client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict)
	if err := strict.Create(context.Background(), o.DeepCopyObject().(client.Object), client.DryRunAll); err != nil {
		t.Errorf("%s %s: %v", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
}

// pod tries the Pod that the Deployment would make, under its account.
func pod(t *testing.T, objects []*unstructured.Unstructured, namespace string) {
	t.Helper()
	o := ofKind(objects, "Deployment")[0]
	template, _, err := unstructured.NestedMap(o.Object, "spec", "template")
	if err != nil {
		t.Fatal(err)
	}
	p := &unstructured.Unstructured{Object: template}
	p.SetAPIVersion("v1")
	p.SetKind("Pod")
	p.SetName("tried")
	p.SetNamespace(namespace)
	account, _, _ := unstructured.NestedString(template, "spec", "serviceAccountName")
	ensure(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account, Namespace: namespace}})
	try(t, p)
}

// TestPodSecurityIsEnforced: where TestAccepted tries Pods, one that may do
// more is refused.
func TestPodSecurityIsEnforced(t *testing.T) {
	t.Parallel()
	objects, err := render(release{name: "tried", namespace: restricted(t),
		values: values(t, "securityContext: {allowPrivilegeEscalation: true}")})
	if err != nil {
		t.Fatal(err)
	}
	template, _, _ := unstructured.NestedMap(ofKind(objects, "Deployment")[0].Object, "spec", "template")
	p := &unstructured.Unstructured{Object: template}
	p.SetAPIVersion("v1")
	p.SetKind("Pod")
	p.SetName("tried")
	p.SetNamespace(ofKind(objects, "Deployment")[0].GetNamespace())
	if err := unstructured.SetNestedField(p.Object, "default", "spec", "serviceAccountName"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Create(context.Background(), p, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want a refusal by Pod Security", err)
	}
}
