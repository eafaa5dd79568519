package apiserver

import (
	"runtime"
	"sync"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// validators are the compiled checks of a version.
type validators struct {
	schema validation.SchemaValidator
	rules  *cel.Validator
	err    error
}

// inUse has the validators of each version that is still in use, by its weak.Pointer: a
// func() *validators that compiles them at the first call.
var inUse sync.Map

// validatorsOf returns the validators of a version, which are compiled once.
func validatorsOf(v *schema.Version) *validators {
	key := weak.Make(v)
	get, found := inUse.Load(key)
	if !found {
		definition, structural := v.Definition, v.Structural
		get, found = inUse.LoadOrStore(key, sync.OnceValue(func() *validators { return compileValidators(definition, structural) }))
		if !found {
			runtime.AddCleanup(v, func(key weak.Pointer[schema.Version]) { inUse.Delete(key) }, key)
		}
	}
	return get.(func() *validators)()
}

func compileValidators(definition *apiextensionsv1.CustomResourceValidation, structural *structuralschema.Structural) *validators {
	c := &validators{}
	props, err := schema.InternalProps(definition)
	if c.err = err; props != nil {
		c.schema, _, c.err = validation.NewSchemaValidator(props)
	}
	if structural != nil {
		c.rules = cel.NewValidator(structural, true, celconfig.PerCallLimit)
	}
	return c
}
