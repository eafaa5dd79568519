package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// withGone adds to the live children of a resource that is paused or held those
// that its status tells of and that are not there: nothing is rendered for it, so
// the status alone knows them, and nothing makes them again now.
func (t *reconciliation) withGone(current []status.Child, w *snapshot) []status.Child {
	if t.subject.deleting() || !t.subject.paused() && !t.choice.Frozen {
		return current
	}
	known, _, _ := unstructured.NestedSlice(t.subject.resource.Object, "status", "children")
	for _, item := range known {
		told, _ := item.(map[string]any)
		text := func(key string) string { s, _ := told[key].(string); return s }
		c := status.Child{APIVersion: text("apiVersion"), Kind: text("kind"), Namespace: text("namespace"), Name: text("name")}
		if !slices.ContainsFunc(current, func(l status.Child) bool { return sameChild(l, c) }) {
			current = append(current, t.judgeGone(c, text("message"), w))
		}
	}
	return current
}

// judgeGone says what is to be said of a child that is not there, and of which
// was told before. A Job that is made once and has succeeded may go.
func (t *reconciliation) judgeGone(c status.Child, told string, w *snapshot) status.Child {
	_, succeeded := t.subject.succeeded()[c.Name]
	switch gk := groupKind(c); {
	case gk == job.GroupKind() && succeeded:
		c.Ready = true
	case w.phase(gk) == live.Unsynced:
		c.Message = notKnown
	case told == notThere:
		c.Message = notThere
	case t.subject.paused():
		c.Message = "it is gone, and not made again while paused"
	default:
		c.Message = "it is gone, and made again when the rollout of the changed folder reaches this resource"
	}
	return c
}

// phase says how much is known of the children of a kind, in whichever version.
func (w *snapshot) phase(gk schema.GroupKind) live.Phase {
	phase := live.Unsynced
	for gvk, state := range w.state {
		if gvk.GroupKind() == gk && (phase == live.Unsynced || state.Phase == live.Synced) {
			phase = state.Phase
		}
	}
	return phase
}

func groupKind(c status.Child) schema.GroupKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
}

func sameChild(a, b status.Child) bool {
	return groupKind(a) == groupKind(b) && a.Namespace == b.Namespace && a.Name == b.Name
}
