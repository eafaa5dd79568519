package liveview

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// NewOwner returns the owner of the children of a custom resource. kind is the name of
// its CRD.
func NewOwner(kind string, resource *unstructured.Unstructured) plan.Owner {
	return plan.Owner{
		Owner: api.Owner{Kind: kind, Namespace: resource.GetNamespace(), Name: resource.GetName()},
		GVK:   resource.GroupVersionKind(), UID: resource.GetUID(), Keeps: plan.KeepsChildren(resource),
	}
}
