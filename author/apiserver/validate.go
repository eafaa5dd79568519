package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Validate returns all that the API server would refuse when obj is created,
// sorted by field ("" for the object as a whole): apiVersion and kind,
// metadata, the schema (required fields, types, enums, patterns, bounds),
// duplicate list keys, the scale subresource and CEL rules (transition rules do
// not apply). Call Default before, as the API server does. A namespaced resource
// must name its namespace, and one of the cluster must not. CEL rules run only
// on an object of sound types; a note, the last error, says when they did not.
func Validate(v *schema.Version, obj map[string]any) field.ErrorList {
	if errs := validateType(v, obj); len(errs) > 0 {
		return sortErrors(errs)
	}
	compiled := validatorsOf(v)
	if compiled.err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("compiling the schema of %s: %w", v.GVK.Kind, compiled.err))}
	}
	obj = withName(obj)
	errs := validateMetadata(v, obj)
	if compiled.schema != nil {
		errs = append(errs, validation.ValidateCustomResource(nil, obj, compiled.schema)...)
	}
	errs = append(errs, validateScale(v, obj, errs)...)
	if v.Structural != nil {
		ctx := context.Background()
		errs = append(errs, objectmeta.Validate(ctx, nil, obj, v.Structural, false)...)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.Structural, obj)...)
		errs = append(errs, validateRules(v, obj, errs)...)
	}
	return sortErrors(errs)
}

// validateRules runs the CEL rules unless found, the errors so far, say that
// types are unsound: rules rely on them.
func validateRules(v *schema.Version, obj map[string]any, found field.ErrorList) field.ErrorList {
	rules := validatorsOf(v).rules
	if rules == nil {
		return nil
	}
	for _, err := range found {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil, rulesSkipped)}
		}
	}
	errs, _ := rules.Validate(context.Background(), nil, v.Structural, obj, nil, celconfig.RuntimeCELCostBudget)
	return errs
}

const rulesSkipped = "validation rules were not checked because the object is invalid; correct the other errors first"

// validateType compares apiVersion and kind with the version's own.
func validateType(v *schema.Version, obj map[string]any) field.ErrorList {
	var errs field.ErrorList
	if kind := obj["kind"]; kind != v.GVK.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+v.GVK.Kind))
	}
	want := v.GVK.GroupVersion().String()
	if got := obj["apiVersion"]; got != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), got, "must be "+want))
	}
	return errs
}

// sortErrors orders errors by field, then by text, and drops repetitions.
func sortErrors(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if err.Field == "<nil>" { // the text of a nil path
			err.Field = ""
		}
	}
	// The note about rules comes after what it speaks of.
	last := func(err *field.Error) int { return strings.Count(err.Detail, rulesSkipped) }
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Detail, b.Detail))
	})
	return slices.CompactFunc(errs, func(a, b *field.Error) bool {
		return a.Field == b.Field && a.Type == b.Type && a.Detail == b.Detail
	})
}

// ValidateStatus returns what the API server would refuse in a status of this
// version by its schema, sorted, with paths from the root of the resource.
// Required fields do not count, for a status may be partly another's.
func ValidateStatus(v *schema.Version, status map[string]any) field.ErrorList {
	compiled := validatorsOf(v)
	if compiled.schema == nil || len(status) == 0 {
		return nil
	}
	var errs field.ErrorList
	for _, err := range validation.ValidateCustomResource(nil, map[string]any{"status": status}, compiled.schema) {
		if strings.HasPrefix(err.Field, "status") && err.Type != field.ErrorTypeRequired {
			errs = append(errs, err)
		}
	}
	return sortErrors(errs)
}
