package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// succeeded are the hashes of the Jobs made once that have succeeded, by name,
// as the resource has them on record.
func (t *turn) succeeded() map[string]string {
	all := map[string]string{}
	for _, item := range strings.Split(t.resource.GetAnnotations()[api.AnnotationSucceeded], ",") {
		if name, hash, found := strings.Cut(item, "="); found {
			all[name] = hash
		}
	}
	return all
}

// noteSucceeded puts Jobs made once on record that have succeeded, before they
// go: whatever the resource renders now, also while it is paused.
func (t *turn) noteSucceeded(ctx context.Context, w *view) {
	have := t.succeeded()
	want := maps.Clone(have)
	for _, l := range w.live {
		if t.once(l) && complete(l.Body) {
			want[l.Meta.GetName()] = l.Meta.GetAnnotations()[api.AnnotationDesired]
		}
	}
	if t.leaving() || maps.Equal(have, want) {
		return
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		texts = append(texts, name+"="+want[name])
	}
	err := t.metadata(ctx, map[string]any{"annotations": map[string]any{api.AnnotationSucceeded: strings.Join(texts, ",")}})
	if err != nil {
		t.notRecorded(err)
	}
}

var job = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}

// once says whether a live object is a Job of ours that is made once.
func (t *turn) once(l observe.Live) bool {
	if t.version.Kind == nil || l.GVK != job || !plan.Ours(t.owner(), l.Meta) {
		return false
	}
	return t.makesOnce(l.Meta.GetAnnotations()[api.AnnotationFile])
}

// makesOnce says whether a file makes Jobs once.
func (t *turn) makesOnce(file string) bool {
	for _, d := range t.version.Kind.Documents {
		if d.File == file && d.Marks[api.AnnotationOnce] != "" {
			return true
		}
	}
	return false
}

// complete says whether a Job has succeeded.
func complete(body map[string]any) bool {
	status, _ := body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "Complete" && m["status"] == "True"
	})
}
