package observe

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Await returns the newest child that a file made, once all objects that it renders now
// are applied and ready; nil if there is none, since they were Jobs made once. Else it
// returns what is waited for.
func (w world) Await(file string, documents []*template.Document) (child any, waits string, err error) {
	made, err := w.Children(file)
	if err != nil {
		return nil, "", err
	}
	rendered, err := render.OfFile(w.Subject.Version.Kind, w.Subject.Resource, file, documents)
	if err != nil {
		return nil, "it cannot be rendered", nil // the file's own error says why
	}
	waits, err = render.Awaits(rendered, w.whyNotReady)
	if waits != "" || err != nil || len(made) == 0 {
		return nil, waits, err
	}
	return made[0], "", nil
}

// whyNotReady returns why a rendered child is still waited for; "" if it is not.
func (w world) whyNotReady(c render.Child) (string, error) {
	current, succeeded := w.LiveOf(c), w.Subject.Resource.GetAnnotations()[api.AnnotationSucceeded]
	_, hash, err := plan.Document(w.Subject.Owner(), c, current)
	switch {
	case err != nil:
		return "", err
	case current == nil && c.Policy.Once && plan.HasSucceeded(succeeded, w.Subject.Owner(), c.Object, hash):
		return "", nil
	case current == nil:
		return render.NotThere, nil
	case current.Meta.GetAnnotations()[api.AnnotationDesired] != hash:
		return render.NotApplied, nil
	}
	verdict, err := w.judge(w.Snapshot, *current)
	if err != nil {
		return "", fmt.Errorf("reading the status of %s %s: %w", current.GVK.Kind, current.Meta.GetName(), err)
	}
	if verdict.IsReady() {
		return "", nil
	}
	return "is not ready: " + verdict.Message, nil
}

// LiveOf is the live object of a rendered child, or nil.
func (w *Snapshot) LiveOf(c render.Child) *live.Object {
	ref := plan.RefOfObject(c.Object)
	for i := range w.Live {
		if plan.RefOf(w.Live[i]) == ref && plan.Ours(w.Subject.Owner(), w.Live[i].Meta) {
			return &w.Live[i]
		}
	}
	return nil
}
