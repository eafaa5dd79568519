package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// guard applies the policies of a release, and takes them away in the end.
func guard(t *testing.T, r release) {
	t.Helper()
	objects, err := render(r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range objects {
		if strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") {
			apply(t, o)
			t.Cleanup(func() { cluster.Client.Delete(context.Background(), o) }) //nolint:errcheck // the cluster goes too
			n++
		}
	}
	if n == 0 {
		t.Fatal("the chart has no guards")
	}
}

// TestGuardedNamespaces: whatever rights it has, the operator's account writes
// nothing in kube-*, but where the values say so.
func TestGuardedNamespaces(t *testing.T) {
	t.Parallel()
	guard(t, release{name: "guarded", namespace: "guarded", values: values(t, "guards: {allowedNamespaces: [kube-public]}")})
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:guarded:guarded-jacquard",
		Groups: []string{"system:masters"}}
	operator, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(by client.Client, namespace string) error {
		return by.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "guarded-", Namespace: namespace}},
			client.DryRunAll)
	}
	kit.Eventually(t, "the operator is refused in kube-system",
		func() error { return refusedBy(write(operator, "kube-system"), "writes nothing in kube-*") })
	for _, namespace := range []string{"default", "kube-public"} {
		if err := write(operator, namespace); err != nil {
			t.Errorf("the operator in %s: %v", namespace, err)
		}
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "guarded"}}
	if err := operator.Create(context.Background(), class, client.DryRunAll); err != nil {
		t.Errorf("the operator in no namespace: %v", err)
	}
	if err := write(cluster.Client, "kube-system"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

// TestGuardedCRDs: a CRD that an installation serves is deleted only if it says
// that it may be.
func TestGuardedCRDs(t *testing.T) {
	t.Parallel()
	guard(t, release{name: "guarded-crds", namespace: "guarded"})
	crd := named(t, rendered(t, samples(t)), "CustomResourceDefinition", "foos.samplecontroller.k8s.io").DeepCopy()
	unstructured.SetNestedField(crd.Object, "guardeds", "spec", "names", "plural")      //nolint:errcheck // it is a text
	unstructured.SetNestedField(crd.Object, "guarded", "spec", "names", "singular")     //nolint:errcheck // as above
	unstructured.SetNestedField(crd.Object, "Guarded", "spec", "names", "kind")         //nolint:errcheck // as above
	unstructured.SetNestedField(crd.Object, "GuardedList", "spec", "names", "listKind") //nolint:errcheck // as above
	unstructured.SetNestedField(crd.Object, "guarded.example.com", "spec", "group")     //nolint:errcheck // as above
	unstructured.RemoveNestedField(crd.Object, "spec", "names", "shortNames")
	crd.SetName("guardeds.guarded.example.com")
	remove := func() error { return cluster.Client.Delete(context.Background(), crd.DeepCopy(), client.DryRunAll) }
	for _, claim := range []string{"operator.jacquard.dev/guarded", "jacquard.dev/operator"} {
		crd.SetAnnotations(map[string]string{claim: "x"})
		apply(t, crd)
		kit.Eventually(t, "a CRD with "+claim+" is not deleted", func() error { return refusedBy(remove(), "jacquard.dev/allow-delete=true") })
	}
	note(crd, "jacquard.dev/allow-delete", "true")
	apply(t, crd)
	if err := remove(); err != nil {
		t.Errorf("a CRD that may be deleted: %v", err)
	}
	if left := ofKind(rendered(t, values(t, "{crds: {keep: false}, guards: {namespaces: false, protect: false}}")),
		"ValidatingAdmissionPolicy"); len(left) > 0 {
		t.Error("an uninstall that is to delete the CRDs would be refused")
	}
}

// TestProtected: what is annotated so is not deleted, alone or with others, until the
// annotation is off; everything else is.
func TestProtected(t *testing.T) {
	t.Parallel()
	guard(t, release{name: "protected", namespace: "guarded", values: values(t, "guards: {namespaces: false, crds: false}")})
	namespace := cluster.Namespace(t)
	object := func(name, protect string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Annotations: map[string]string{"jacquard.dev/protect": protect}}}
	}
	protected, other := object("protected", "true"), object("other", "false")
	for _, o := range []client.Object{protected, other} {
		if err := cluster.Client.Create(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	const says = "jacquard.dev/protect refuses"
	remove := func(o client.Object) error { return cluster.Client.Delete(context.Background(), o, client.DryRunAll) }
	kit.Eventually(t, "it is not deleted", func() error { return refusedBy(remove(protected), says) })
	all := cluster.Client.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, client.InNamespace(namespace), client.DryRunAll)
	if err := refusedBy(all, says); err != nil {
		t.Errorf("with all others: %v", err)
	}
	if err := remove(other); err != nil {
		t.Errorf("one that is not protected: %v", err)
	}
	delete(protected.Annotations, "jacquard.dev/protect")
	if err := cluster.Client.Update(context.Background(), protected); err != nil {
		t.Fatal(err)
	}
	if err := remove(protected); err != nil {
		t.Errorf("without the annotation: %v", err)
	}
}

// refusedBy says what is wrong with a refusal that should say this.
func refusedBy(err error, text string) error {
	if err == nil {
		return errors.New("it is not refused")
	}
	if !strings.Contains(err.Error(), text) {
		return err
	}
	return nil
}
