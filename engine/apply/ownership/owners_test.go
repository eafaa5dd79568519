package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOwners(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{
		{Manager: "jacquard", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:example.com/app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{}}}}}`)},
		{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:words":{"v:\"geheim\"":{}}}}`)},
	}
	got, err := Owners(managed)
	want := []Owner{
		{Manager: "jacquard", Operation: "Apply", Paths: []string{`metadata.labels["example.com/app"]`, "spec.containers[name=web].image",
			"spec.containers[name=web].name"}},
		{Manager: "kubelet", Operation: "Update", Subresource: "status", Paths: []string{"status.words[]"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	managed[1].FieldsV1 = metav1.NewFieldsV1(`{`)
	if _, err := Owners(managed); err == nil {
		t.Error("an entry that cannot be read is no error")
	}
}
