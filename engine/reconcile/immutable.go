package reconcile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// immutable is how the API server says that a field may not be changed.
var immutable = regexp.MustCompile(`immutable|may not change once set|updates to .* are forbidden`)

// immutableHint says how such a change can be made all the same; "" where the
// file says so already.
func (w *stepExecutor) immutableHint() string {
	if w.step.Child.Policy.RecreateOnImmutable || w.step.Child.Policy.Patch {
		return ""
	}
	return "; to delete and recreate it instead, annotate it in the template with " + api.AnnotationOnImmutable + ": recreate"
}

// changed are the paths that a refused field is about. Where the API server
// refuses a change and names just the whole, as it does of a StatefulSet's spec,
// these are what differs below it, but for what it says may be changed.
func (w *stepExecutor) changed(f apply.Field) [][]any {
	whole, simple := fieldName(f.Path)
	if w.step.Live == nil || w.step.Live.Body == nil || !simple || !immutable.MatchString(f.Text) {
		return [][]any{f.Path}
	}
	var below [][]any
	for _, d := range ownership.Differences(w.step.Document.Object, w.step.Live.Body) {
		rest, found := strings.CutPrefix(d.Path, whole+".")
		name, _, _ := strings.Cut(rest, ".")
		name, _, _ = strings.Cut(name, "[")
		if found && !d.Normalised && !strings.Contains(f.Text, "'"+name+"'") {
			below = append(below, append(slices.Clone(f.Path), name))
		}
	}
	below = slices.CompactFunc(below, slices.Equal)
	if len(below) == 0 {
		return [][]any{f.Path}
	}
	return below
}

// fieldName is a path of names alone, as ownership.Differences writes it.
func fieldName(path []any) (name string, simple bool) {
	var names []string
	for _, step := range path {
		text, is := step.(string)
		if !is {
			return "", false
		}
		names = append(names, text)
	}
	return strings.Join(names, "."), len(names) > 0
}
