package rbac

import (
	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// extension are the kinds by which a cluster gets more kinds. Every API server
// has them, and no client's list.
var extension = map[apischema.GroupKind]string{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: "customresourcedefinitions",
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             "apiservices",
}

// BuiltInPlural is the name by which the API serves a kind of Kubernetes itself, such
// as ingresses; "" for kinds that it does not know: their definition says it.
// That the rule of English holds for all of them is tested with a real API
// server.
func BuiltInPlural(gvk apischema.GroupVersionKind) string {
	if plural, found := extension[gvk.GroupKind()]; found {
		return plural
	}
	if !crdschema.BuiltIn(gvk) {
		return ""
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return plural.Resource
}
