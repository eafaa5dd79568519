package adopt

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTool: Helm's, Flux's and Argo CD's notes on an object name what would delete it.
func TestTool(t *testing.T) {
	for want, o := range map[string]metav1.ObjectMeta{
		"": {Labels: map[string]string{"app.kubernetes.io/managed-by": "somebody"}},
		"Helm release shops/north": {Annotations: map[string]string{
			"meta.helm.sh/release-name": "north", "meta.helm.sh/release-namespace": "shops"}},
		"Kustomization flux-system/shops": {Labels: map[string]string{
			"kustomize.toolkit.fluxcd.io/name": "shops", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}},
		"HelmRelease flux-system/north": {
			Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "north", "helm.toolkit.fluxcd.io/namespace": "flux-system"},
			Annotations: map[string]string{
				"meta.helm.sh/release-name": "north", "meta.helm.sh/release-namespace": "shops"}},
		"Argo CD's Application shops": {Annotations: map[string]string{
			"argocd.argoproj.io/tracking-id": "shops:apps/Deployment:shops/north"}},
	} {
		if got := tool(&o); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLeft: other managers lose the fields that we own, and an entry without fields
// goes; entries of subresources stay.
func TestLeft(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource}
	}
	before := []metav1.ManagedFieldsEntry{
		entry("helm", "", `{"f:data":{"f:a":{},"f:b":{}}}`),
		entry("kubectl", "", `{"f:data":{"f:a":{}}}`),
		entry("controller", "status", `{"f:data":{"f:a":{}}}`),
	}
	applied := append([]metav1.ManagedFieldsEntry{entry("jacquard", "", `{"f:data":{"f:a":{}}}`)}, before...)
	got, err := left(before, applied)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, m := range got {
		text += m.Manager + " " + m.FieldsV1.GetRawString() + "\n"
	}
	if want := "helm {\"f:data\":{\"f:b\":{}}}\ncontroller {\"f:data\":{\"f:a\":{}}}\n"; text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	if got, err = left(before[1:2], applied[:1]); err != nil || len(got) != 1 || got[0].Manager != "" {
		t.Errorf("of all fields: %v, %v", got, err)
	}
}
