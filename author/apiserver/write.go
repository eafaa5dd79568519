package apiserver

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Default does to obj, in place, what the API server does when it is written:
// nulls that the schema neither allows nor defaults are taken out, and the
// schema's defaults filled in. It says nothing about whether obj is valid.
func Default(v *schema.Version, obj map[string]any) {
	if v.Structural == nil || obj == nil {
		return
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, v.Structural)
	defaulting.Default(obj, v.Structural)
}

// FindUnknown returns the paths of obj that the schema does not declare, sorted: what
// kubectl's strict validation refuses. It leaves obj as it is.
func FindUnknown(v *schema.Version, obj map[string]any) []string {
	if obj == nil {
		return nil
	}
	return v.Prune(runtime.DeepCopyJSON(obj))
}
