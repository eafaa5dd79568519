package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// goneJob stands for the Job made once of a file that succeeded and is gone;
// nil if there is none.
func (w *view) goneJob(file string) any {
	for _, key := range slices.Sorted(maps.Keys(w.succeeded())) {
		if rest, of := strings.CutPrefix(key, file+"/Job/"); of {
			return map[string]any{
				"apiVersion": "batch/v1", "kind": "Job",
				"metadata": map[string]any{"name": rest, "namespace": w.resource.GetNamespace()},
			}
		}
	}
	return nil
}

// overtaken finds files that were awaited and found ready, but render something
// else now than what is ready: whoever awaits them has to wait, and is to be
// rendered again. It says whether there are any.
func (w *view) overtaken(result *render.Result) bool {
	found := false
	for file := range w.awaited {
		if why := w.changing(file, result); why != "" {
			w.stale[file] = why
			found = true
		}
	}
	clear(w.awaited)
	return found
}

// changing says why a file's live children are not what it renders.
func (w *view) changing(file string, result *render.Result) string {
	if slices.ContainsFunc(result.Waiting, func(x render.Waiting) bool { return x.File == file }) {
		return "it waits itself"
	}
	for _, c := range result.Children {
		if c.File != file || c.Policy.Patch {
			continue
		}
		live := w.liveOf(c)
		_, hash, err := plan.Document(w.owner(), c, live)
		switch {
		case err != nil:
		case live != nil && live.Meta.GetAnnotations()[api.AnnotationDesired] == hash:
		case live == nil && c.Policy.Once && w.succeeded()[plan.OnceKey(c)] == hash:
		default:
			return fmt.Sprintf("what changed of %s %s is not applied yet", c.Object.GetKind(), c.Object.GetName())
		}
	}
	return ""
}

// liveOf is the live object of a rendered child, or nil.
func (w *view) liveOf(c render.Child) *observe.Live {
	key := childKey(c.Object.GroupVersionKind(), c.Object)
	for i := range w.live {
		if childKey(w.live[i].GVK, w.live[i].Meta) == key {
			return &w.live[i]
		}
	}
	return nil
}
