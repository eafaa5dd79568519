package explain

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/trace"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Traced is a render that was followed: what it came to, and by which way.
type Traced struct {
	// Result and Err are those of [render.Children], Status and StatusErr those of
	// [render.Status]. With an Err there is no Result.
	Result    *render.Result
	Err       error
	Status    map[string]any
	StatusErr error
	// Runs are the executions of the files, in the order of their end. Each file has
	// one, and so has status.yaml.
	Runs []*trace.Run
}

// TraceRender renders the children and the status, and records how.
func TraceRender(ctx context.Context, k *kind.Kind, resource *unstructured.Unstructured, world template.World) *Traced {
	t := &Traced{}
	recorder := trace.NewRecorder(k.Templates, trace.FilesOf(k))
	files := k.Templates.For(render.Dot(resource), world).Trace(recorder.Begin)
	if t.Result, t.Err = render.ExecuteChildren(ctx, k, resource, files); t.Err != nil {
		t.Result = nil
	}
	t.Status, t.StatusErr = render.ExecuteStatus(ctx, k, files)
	t.Runs = recorder.Runs
	return t
}

// FindRun returns the execution of a file, nil if there was none.
func (t *Traced) FindRun(file string) *trace.Run {
	for _, r := range t.Runs {
		if r.File == file {
			return r
		}
	}
	return nil
}
