package typecheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// statusFile is the name of the tree of status.yaml.
const statusFile = "status"

// Check is for kind.CompileWith. It returns an error for each field of the resource that
// templates read, by whatever way, and the schema does not declare. Its other findings are
// no reason to refuse a folder: a cluster may have newer types than we know.
func Check(k *kind.Kind) error {
	in := InputOf(k)
	in.Quick = true
	in.Live = schema.BuiltInType // the more is known, the fewer ways there are
	flow := Follow(in)
	if flow.Heavy != (template.Place{}) {
		return &template.Error{Place: flow.Heavy,
			Err: fmt.Errorf("this folder takes too much work to be understood, from this file on: make values of fewer others, or part it into several kinds: %w", template.ErrBudget)}
	}
	var errs []error
	for _, f := range flow.Findings {
		if f.Class == UnknownField && f.Read == "" && f.Path != "" {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// InputOf returns what is to be followed of a kind. What its templates read of the cluster
// may be anything.
func InputOf(k *kind.Kind) Input {
	files := k.Files
	if k.HasStatus {
		files = append(slices.Clip(files), statusFile)
	}
	return Input{
		Set: k.Templates, Files: files, Root: schema.Root(k.Version), Name: k.GVK.Kind + " " + k.GVK.Version,
		Own: k.GVK.GroupKind(), Makes: k.Makes, Config: k.Config, ClusterScoped: !k.CRD.Namespaced,
	}
}
