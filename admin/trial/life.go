package trial

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// Drift deletes a child of the last step, and waits until it is back. A child that
// holds data, stays or is made once is none that comes back as it was.
func (t *Trial) Drift(ctx context.Context, last *catalog.Case) error {
	want := wantedOf(last)
	if want.fails || len(want.waits) > 0 {
		return nil
	}
	for _, c := range t.children {
		if !isDeletable(c) || c.Policy.Once || c.Object.GetKind() == "Secret" {
			continue
		}
		found, err := t.findLive(ctx, c)
		switch {
		case err != nil:
			return err
		case found == nil:
			return fmt.Errorf("%s %s is not there", c.Object.GetKind(), c.Object.GetName())
		}
		if err := t.Writer.Delete(ctx, found.served, found.Unstructured, metav1.DeletePropagationBackground); err != nil {
			return fmt.Errorf("deleting %s: %w", found, err)
		}
		if err := t.retryUntil(ctx, func() error { return t.checkGone(ctx, found) }); err != nil {
			return err
		}
		err = t.observeUntil(ctx, (*observation).judgeDrift)
		if err != nil {
			return fmt.Errorf("a child was deleted: %w", err)
		}
		return nil
	}
	return nil
}

// judgeDrift judges a resource one of whose children was deleted.
func (o *observation) judgeDrift() (progress, error) {
	switch {
	case !o.isCurrent:
		return changes, errors.New("no operator has reconciled the resource yet")
	case o.failure == "" && len(o.differences) == 0:
		return passed, nil
	}
	return failsAtRest, o.problemWith(o.failure)
}

// isDeletable reports whether a child goes with its resource.
func isDeletable(c render.Child) bool {
	return !c.Policy.Patch && c.Policy.OnDelete != "keep" && !kind.HoldsData(c.Object.GroupVersionKind().GroupKind())
}

// findLive returns the live object of a child; nil if there is none.
func (t *Trial) findLive(ctx context.Context, c render.Child) (*object, error) {
	gvk := c.Object.GroupVersionKind()
	served, _ := t.Sight.Served().Resource(gvk)
	found, err := t.Sight.Object(ctx, gvk, c.Object.GetNamespace(), c.Object.GetName())
	if err != nil || found == nil {
		return nil, err
	}
	return &object{found, served}, nil
}

// Leave deletes the resource, and waits until its children are gone.
func (t *Trial) Leave(ctx context.Context) error {
	if t.resource == nil {
		return nil
	}
	leaving := []*object{t.resource}
	for _, c := range t.children {
		if !isDeletable(c) {
			continue
		}
		found, err := t.findLive(ctx, c)
		if err != nil {
			return err
		}
		if found != nil {
			leaving = append(leaving, found)
		}
	}
	if err := t.Writer.Delete(ctx, t.resource.served, t.resource.Unstructured, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("deleting %s: %w", t.resource, err)
	}
	return t.retryUntil(ctx, func() error {
		for _, o := range leaving {
			if err := t.checkGone(ctx, o); err != nil {
				return fmt.Errorf("the resource was deleted: %w", err)
			}
		}
		return nil
	})
}
