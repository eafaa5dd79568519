package render

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Traced is a render that was followed: what it came to, and by which way.
type Traced struct {
	// Result and Err are those of Children, Status and StatusErr of Status; with an
	// Err there is no Result.
	Result    *Result
	Err       error
	Status    map[string]any
	StatusErr error
	// Runs are the executions of the files, in the order of their end; each
	// file has one, and so has status.yaml.
	Runs []*template.Run
}

// Trace renders the children and the status, and follows how.
func Trace(ctx context.Context, k *kind.Kind, resource *unstructured.Unstructured, world template.World) *Traced {
	t := &Traced{}
	files := k.Templates.For(Dot(resource), world).Traced()
	if t.Result, t.Err = children(ctx, k, resource, files); t.Err != nil {
		t.Result = nil
	}
	t.Status, t.StatusErr = statusOf(ctx, k, files)
	t.Runs = files.Runs()
	return t
}

// Run is the execution of a file, nil if there was none.
func (t *Traced) Run(file string) *template.Run {
	for _, r := range t.Runs {
		if r.File == file {
			return r
		}
	}
	return nil
}
