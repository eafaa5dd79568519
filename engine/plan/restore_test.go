package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// service is a Service with this spec, as it is rendered or live.
func service(spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "s", "namespace": "ns", "annotations": map[string]any{api.AnnotationDesired: "of the document"}}}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

// holdsClusterIP is the entry of a manager that owns the address of a Service.
func holdsClusterIP(manager string, operation metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:clusterIP":{}}}`)}
}

// TestDetour: a Service that becomes headless, or stops to be, is an ExternalName for a
// moment, with no field that such a Service must not have.
func TestDetour(t *testing.T) {
	ours := holdsClusterIP(api.FieldManager, metav1.ManagedFieldsOperationApply)
	external := map[string]any{"type": "ExternalName", "externalName": "changing.invalid"}
	for name, c := range map[string]struct {
		doc, live map[string]any
		managed   []metav1.ManagedFieldsEntry
		want      map[string]any // the spec; nil: there is no detour
	}{
		"headless still":     {doc: map[string]any{"clusterIP": "None"}, live: map[string]any{"clusterIP": "None"}},
		"never headless":     {doc: map[string]any{}, live: map[string]any{"clusterIP": "10.0.0.1"}},
		"it becomes so":      {doc: map[string]any{"clusterIP": "None", "ipFamilyPolicy": "PreferDualStack"}, live: map[string]any{"clusterIP": "10.0.0.1"}, want: external},
		"of an ExternalName": {doc: map[string]any{"clusterIP": "None"}, live: map[string]any{"type": "ExternalName"}},
		"to a load balancer": {doc: map[string]any{"type": "LoadBalancer", "externalTrafficPolicy": "Local", "loadBalancerClass": "x",
			"ports": []any{map[string]any{"port": int64(80), "nodePort": int64(30080)}}},
			live: map[string]any{"type": "ClusterIP", "clusterIP": "None"}, managed: []metav1.ManagedFieldsEntry{ours}, want: external},
		"without a spec": {live: map[string]any{"clusterIP": "None"}, managed: []metav1.ManagedFieldsEntry{ours}, want: external},
		"others made it headless": {doc: map[string]any{}, live: map[string]any{"clusterIP": "None"},
			managed: []metav1.ManagedFieldsEntry{holdsClusterIP("kubectl", metav1.ManagedFieldsOperationUpdate)}},
		"others did, and an address is rendered": {doc: map[string]any{"clusterIP": "10.0.0.1"}, live: map[string]any{"clusterIP": "None"},
			managed: []metav1.ManagedFieldsEntry{holdsClusterIP("kubectl", metav1.ManagedFieldsOperationUpdate)}, want: external},
	} {
		t.Run(name, func(t *testing.T) {
			doc, live := service(c.doc), service(c.live)
			live.SetManagedFields(c.managed)
			detour := Detour(doc, live)
			if c.want == nil {
				if detour != nil {
					t.Errorf("it takes the detour %v", detour.Object)
				}
				return
			}
			if detour == nil {
				t.Fatal("there is no detour")
			}
			if diff := cmp.Diff(c.want, detour.Object["spec"]); diff != "" {
				t.Errorf("the spec: %s", diff)
			}
			if detour.GetAnnotations()[api.AnnotationDesired] == doc.GetAnnotations()[api.AnnotationDesired] {
				t.Error("it has the hash of the document")
			}
			if diff := cmp.Diff(service(c.doc).Object, doc.Object); diff != "" {
				t.Errorf("the document was changed: %s", diff)
			}
		})
	}
}
