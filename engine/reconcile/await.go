package reconcile

import (
	"fmt"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// overtaken finds files that were awaited and found ready, but render something
// else now than what is ready: whoever awaits them has to wait, and is to be
// rendered again. It reports whether there are any.
func (w *snapshot) overtaken(result *render.Result) bool {
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
func (w *snapshot) changing(file string, result *render.Result) string {
	if slices.ContainsFunc(result.Waiting, func(x render.Waiting) bool { return x.File == file }) {
		return "it waits itself"
	}
	made := false
	for _, c := range result.Children {
		if c.File != file || c.Policy.Patch {
			continue
		}
		made = true
		current := w.liveOf(c)
		_, hash, err := plan.Document(w.subject.owner(), c, current)
		switch {
		case err != nil:
		case current != nil && current.Meta.GetAnnotations()[api.AnnotationDesired] == hash:
		case current == nil && c.Policy.Once && w.subject.succeeded()[c.Object.GetName()] == hash:
		default:
			return fmt.Sprintf("what changed of %s %s is not applied yet", c.Object.GetKind(), c.Object.GetName())
		}
	}
	if !made {
		return "it makes nothing now"
	}
	return ""
}

// liveOf is the live object of a rendered child, or nil.
func (w *snapshot) liveOf(c render.Child) *live.Object {
	key := childKey(c.Object.GroupVersionKind(), c.Object)
	for i := range w.live {
		if childKey(w.live[i].GVK, w.live[i].Meta) == key {
			return &w.live[i]
		}
	}
	return nil
}
