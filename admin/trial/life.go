package trial

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Drift deletes a child of the last step, and waits until it is back. A child that
// holds data, stays or is made once is none that comes back as it was.
func (t *Trial) Drift(ctx context.Context, last *catalog.Case) error {
	_, fails := last.Wants[catalog.FileWantError]
	_, waits := last.Wants[catalog.FileWantWaits]
	if fails || waits {
		return nil
	}
	for _, o := range t.wanted {
		marks := o.GetAnnotations()
		if o.patched() || marks[api.AnnotationOnce] != "" || marks[api.AnnotationOnDelete] == "keep" ||
			kind.HoldsData(o.GroupVersionKind().GroupKind()) || o.GetKind() == "Secret" {
			continue
		}
		found, err := t.Writer.Read(ctx, o.served, o.GetNamespace(), o.GetName())
		if err != nil {
			return fmt.Errorf("reading %s: %w", o, err)
		}
		if err := t.Writer.Delete(ctx, o.served, found, metav1.DeletePropagationBackground); err != nil {
			return fmt.Errorf("deleting %s: %w", o, err)
		}
		return t.until(ctx, func() error {
			if err := t.gone(ctx, &object{found, o.served}); err != nil {
				return err
			}
			if err := t.compare(ctx); err != nil {
				return fmt.Errorf("a child was deleted: %w", err)
			}
			return nil
		})
	}
	return nil
}

// Leave deletes the resource, and waits until its children are gone.
func (t *Trial) Leave(ctx context.Context) error {
	if t.resource == nil {
		return nil
	}
	var children []*object
	for _, o := range t.wanted {
		marks := o.GetAnnotations()
		if o.patched() || marks[api.AnnotationOnDelete] == "keep" || kind.HoldsData(o.GroupVersionKind().GroupKind()) {
			continue
		}
		found, err := t.Survey.Object(ctx, o.GroupVersionKind(), o.GetNamespace(), o.GetName())
		if err != nil {
			return err
		}
		if found != nil {
			children = append(children, &object{found, o.served})
		}
	}
	if err := t.Writer.Delete(ctx, t.resource.served, t.resource, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("deleting %s: %w", t.resource, err)
	}
	return t.until(ctx, func() error {
		for _, o := range append(children, &object{t.resource.Unstructured, t.resource.served}) {
			if err := t.gone(ctx, o); err != nil {
				return fmt.Errorf("the resource was deleted: %w", err)
			}
		}
		return nil
	})
}
