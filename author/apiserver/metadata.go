package apiserver

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// withName returns obj, or a copy with a name where the server is to draw it:
// by the time that it validates, it has.
func withName(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	prefix, _ := meta["generateName"].(string)
	if name, _ := meta["name"].(string); name != "" || prefix == "" {
		return obj
	}
	obj, meta = maps.Clone(obj), maps.Clone(meta)
	obj["metadata"], meta["name"] = meta, prefix[:min(len(prefix), 58)]+"xxxxx"
	return obj
}

// validateMetadata checks metadata as at a creation.
func validateMetadata(v *schema.Version, obj map[string]any) field.ErrorList {
	path := field.NewPath("metadata")
	meta, found, err := objectmeta.GetObjectMeta(obj, false)
	if err != nil {
		return field.ErrorList{field.TypeInvalid(path, nil, MetadataDetail(err.Error()))}
	}
	if !found || meta == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	return metavalidation.ValidateObjectMetaDeclaratively(context.Background(), operation.Create, meta, nil, v.Namespaced,
		metavalidation.NameIsDNSSubdomain, path, true)
}

// MetadataDetail says what is wrong with metadata without the values that an
// error of decoding may quote.
func MetadataDetail(text string) string {
	if strings.Contains(text, "parsing time") {
		return "a timestamp must be in RFC 3339 form"
	}
	_, place, found := strings.Cut(text, "Go struct field ObjectMeta.")
	if !found {
		return "must be an object with the fields of ObjectMeta"
	}
	name, want, _ := strings.Cut(place, " of type ")
	if want == "string" && (name == "labels" || name == "annotations") {
		return name + " must hold strings: quote numbers, true and false"
	}
	return fmt.Sprintf("%s must be %s", name, TypePhrase(want))
}

// validateScale checks the paths of the scale subresource, except where an
// earlier check has complained already.
func validateScale(v *schema.Version, obj map[string]any, found field.ErrorList) field.ErrorList {
	if v.Scale == nil {
		return nil
	}
	var errs field.ErrorList
	for _, path := range []string{v.Scale.SpecReplicasPath, v.Scale.StatusReplicasPath} {
		path = strings.TrimPrefix(path, ".")
		if slices.ContainsFunc(found, func(err *field.Error) bool { return err.Field == path }) {
			continue
		}
		value, set, err := unstructured.NestedFieldNoCopy(obj, strings.Split(path, ".")...)
		if err != nil || !set {
			continue // a parent of another type is the schema's to refuse
		}
		errs = append(errs, validateReplicas(field.NewPath(path), value)...)
	}
	return errs
}

// validateReplicas checks one replica count.
func validateReplicas(path *field.Path, value any) field.ErrorList {
	count, ok := value.(int64)
	switch {
	case !ok:
		return field.ErrorList{field.TypeInvalid(path, "", "must be of type integer")}
	case count < 0:
		return field.ErrorList{field.Invalid(path, count, "must be ≥ 0")}
	case count > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be ≤ %d", math.MaxInt32))}
	}
	return nil
}

// TypePhrase names a Go or JSON type as a person would.
func TypePhrase(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"), name == "array":
		return "a list"
	case strings.HasPrefix(name, "int"):
		return "a whole number"
	case strings.HasPrefix(name, "float"), name == "number":
		return "a number"
	case name == "bool":
		return "true or false"
	case name == "string":
		return "a string"
	}
	return "a map"
}
