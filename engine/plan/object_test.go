package plan

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

var (
	claims       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	roleBindings = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}
)

// object returns a live child of the owner. The key is NAME, or NAMESPACE/NAME.
func object(gvk schema.GroupVersionKind, key string, changes ...func(*unstructured.Unstructured)) live.Object {
	namespace, name, found := strings.Cut(key, "/")
	if !found {
		namespace, name = "ns", key
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetUID(types.UID("uid-" + name))
	o.SetLabels(map[string]string{api.LabelOwnerUID: string(owner.UID)})
	o.SetAnnotations(map[string]string{api.AnnotationOwner: owner.String()})
	if namespace == owner.Namespace {
		o.SetOwnerReferences([]metav1.OwnerReference{{UID: owner.UID, Controller: ptr.To(true)}})
	}
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: api.FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned)}})
	for _, change := range changes {
		change(o)
	}
	return live.Object{GVK: gvk, Meta: o, Body: o.Object}
}
