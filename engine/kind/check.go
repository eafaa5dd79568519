package kind

import (
	"errors"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// check finds the fields of the resource that templates read and its schema
// does not declare. What else can be said of templates without running them is
// no reason to refuse a folder: a cluster may have newer types than we know.
func (k *Kind) check() error {
	in := k.FlowInput()
	in.Quick = true
	in.Live = schema.BuiltInType // the more is known, the fewer ways there are
	var errs []error
	for _, f := range flow.Follow(in).Findings {
		if f.Class == flow.UnknownField && f.Read == "" && f.Path != "" {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// FlowInput is what package flow follows of the kind's templates; what they
// read of the cluster may be anything.
func (k *Kind) FlowInput() flow.Input {
	files := k.Files
	if k.HasStatus {
		files = append(files[:len(files):len(files)], statusFile)
	}
	return flow.Input{
		Set: k.Templates, Files: files, Root: schema.Root(k.Version), Name: fmt.Sprintf("%s %s", k.GVK.Kind, k.GVK.Version),
		Makes: k.Makes, Config: k.Config, ClusterScoped: !k.CRD.Namespaced,
	}
}
