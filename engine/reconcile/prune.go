package reconcile

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// An ending is a child that was to be deleted, or a patch that was to be given
// back, and that is seen still.
type ending struct {
	tries int
	// again is when to try again; zero: it was done.
	again   time.Time
	problem status.Problem
}

// prune deletes the children and gives back the patches that were not
// rendered, but only after everything that was rendered is applied.
func (t *turn) prune(ctx context.Context, p *plan.Plan) {
	if p == nil || t.found.incomplete {
		return
	}
	t.heldBack(p)
	open := map[string]bool{}
	for _, l := range p.Prune {
		key := string(l.Meta.GetUID())
		open[key] = true
		t.end(key, func() error { return t.delete(ctx, l) })
	}
	for _, r := range p.GiveBack {
		key := string(plan.PatchKey(r.Live.Meta.GetUID(), r.Subresource))
		open[key] = true
		t.end(key, func() error { _, err := t.giveBack(ctx, r); return err })
	}
	maps.DeleteFunc(t.memory.endings, func(key string, _ *ending) bool { return !open[key] })
}

// heldBack says of which children the resource must allow that they go.
func (t *turn) heldBack(p *plan.Plan) {
	for _, l := range p.Held {
		name := l.GVK.Kind + "/" + l.Meta.GetName()
		t.found.add(status.Problem{Severity: status.Stalled, Reason: "PruneHeld", Message: fmt.Sprintf(
			"%s is not rendered any more and is kept, since what is in it would be lost; to delete it, annotate this resource with %s=%s", name, api.AnnotationAllowPrune, name)})
	}
}

// end does one ending unless that was done or refused just now.
func (t *turn) end(key string, do func() error) {
	now := time.Now()
	e := t.memory.endings[key]
	if e == nil {
		e = &ending{}
		t.memory.endings[key] = e
	} else if e.again.IsZero() {
		return
	}
	if !now.Before(e.again) {
		err := do()
		if err == nil {
			e.again = time.Time{}
			return
		}
		t.refusal(err)
		e.problem = status.Problem{Severity: status.Retry, Reason: "PruneFailed", Message: err.Error()}
		e.again = now.Add(backOff(e.tries, 0, longWait))
		e.tries++
	}
	t.found.add(e.problem)
	t.found.again(e.again.Sub(now))
}

// gone says whether a refusal means that the very object is not there any more:
// a conflict must be about its uid.
func gone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && strings.Contains(strings.ToLower(err.Error()), "uid")
}

func (t *turn) delete(ctx context.Context, l observe.Live) error {
	served, found := t.cluster.Served().Resource(l.GVK)
	if !found {
		return fmt.Errorf("the API server does not tell of %s just now", l.GVK.Kind)
	}
	how := metav1.DeletePropagationBackground
	if t.leaving() { // what comes later in the order comes after the dependents too
		how = metav1.DeletePropagationForeground
	}
	w, err := t.writer()
	if err == nil {
		err = w.Delete(ctx, served, l.Meta, how)
	}
	if err == nil {
		t.did(metrics.Delete)
	}
	if err == nil || gone(err) {
		return nil
	}
	return fmt.Errorf("pruning %s %s: %w", l.GVK.Kind, place(l.Meta), apply.Understand(err, nil))
}

// giveBack gives back the fields of a patch and returns the object, nil if it
// is gone. What a subresource refuses to give back counts as given back.
func (t *turn) giveBack(ctx context.Context, r plan.Return) (*unstructured.Unstructured, error) {
	served, found := t.cluster.Served().Resource(r.Live.GVK)
	if !found {
		return nil, fmt.Errorf("the API server does not tell of %s just now", r.Live.GVK.Kind)
	}
	w, err := t.writer()
	if err != nil {
		return nil, err
	}
	answer, err := w.GiveBack(ctx, served, r.Live.Meta, apply.Patching{Object: r.Live.Meta.GetUID(), Owner: t.owner().UID, Subresource: r.Subresource})
	if err == nil {
		t.did(metrics.GiveBack)
		t.cluster.Reads.Note(r.Live.GVK, answer)
		return answer, nil
	}
	refusal := apply.Understand(err, nil)
	if gone(err) || r.Subresource != "" && refusal.Cause == apply.Invalid {
		return nil, nil
	}
	return nil, fmt.Errorf("giving back %s %s: %w", r.Live.GVK.Kind, place(r.Live.Meta), refusal)
}

// place is namespace/name, or the name of what has no namespace.
func place(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
