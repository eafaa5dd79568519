package kind

import (
	"errors"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/typecheck"
)

// check finds the fields of the resource that templates read and its schema
// does not declare. What else can be said of templates without running them is
// no reason to refuse a folder: a cluster may have newer types than we know.
func (k *Kind) check() error {
	in := k.FlowInput()
	in.Quick = true
	in.Live = schema.BuiltInType // the more is known, the fewer ways there are
	var errs []error
	followed := typecheck.Follow(in)
	if followed.Heavy != (template.Place{}) {
		return &template.Error{Place: followed.Heavy,
			Err: fmt.Errorf("this folder takes too much work to be understood, from this file on: make values of fewer others, or part it into several kinds: %w", template.ErrBudget)}
	}
	for _, f := range followed.Findings {
		if f.Class == typecheck.UnknownField && f.Read == "" && f.Path != "" {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// FlowInput is what package flow follows of the kind's templates; what they
// read of the cluster may be anything.
func (k *Kind) FlowInput() typecheck.Input {
	files := k.Files
	if k.HasStatus {
		files = append(files[:len(files):len(files)], statusFile)
	}
	return typecheck.Input{
		Set: k.Templates, Files: files, Root: schema.Root(k.Version), Name: fmt.Sprintf("%s %s", k.GVK.Kind, k.GVK.Version),
		Own: k.GVK.GroupKind(), Makes: k.Makes, Config: k.Config, ClusterScoped: !k.CRD.Namespaced,
	}
}
