package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

const (
	// pollInterval is the time between two observations.
	pollInterval = 300 * time.Millisecond
	// restingObservations is how many equal observations in a row show that a resource at
	// rest stays as it is.
	restingObservations = 15
)

var namespaces = live.Resource{GVR: apischema.GroupVersionResource{Version: "v1", Resource: "namespaces"}}

// An UnfitError says why a case cannot run on this cluster, or on any.
type UnfitError struct{ error }

// newUnfitError returns an UnfitError with a formatted message.
func newUnfitError(format string, args ...any) error { return UnfitError{fmt.Errorf(format, args...)} }

// A Trial is one golden case on a cluster.
type Trial struct {
	// Sight is the kind, as the cluster has it, and its folder.
	Sight diff.Sight
	// Writer writes, and Limit is how long each change may take.
	Writer *apply.Writer
	Limit  time.Duration

	namespace *unstructured.Unstructured
	// placed is the namespace that the case is written for.
	placed   string
	resource *object
	// wanted are the children that the last step wants, pending those whose status the
	// case gives and that are not there yet.
	wanted, pending []*object
	// children are what was rendered in the cluster at the last observation.
	children []render.Child
}

// An object is one of a case and how the cluster serves it.
type object struct {
	*unstructured.Unstructured
	served live.Resource
}

func (o *object) String() string { return o.GetKind() + " " + o.GetName() }

// isPatch reports whether the object is somebody else's.
func (o *object) isPatch() bool { return o.GetAnnotations()[api.AnnotationOwnership] == "patch" }

// Begin creates the namespace.
func (t *Trial) Begin(ctx context.Context) (err error) {
	doc := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "jacquard-test-" + rand.String(8)}}}
	t.namespace, err = apply.Person{Writer: t.Writer}.Stage(ctx, namespaces, doc)
	if err != nil {
		return fmt.Errorf("creating the namespace of the case: %w", err)
	}
	return nil
}

// End deletes the namespace and waits until it is gone.
func (t *Trial) End(ctx context.Context) error {
	if t.namespace == nil {
		return nil
	}
	if err := t.Writer.Delete(ctx, namespaces, t.namespace, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("deleting the namespace %s of the case: %w", t.namespace.GetName(), err)
	}
	patient := &Trial{Limit: max(t.Limit, time.Minute)}
	return patient.retryUntil(ctx, func() error { return t.checkGone(ctx, &object{t.namespace, namespaces}) })
}

// Step applies what a step has, and observes the resource until it is as the step wants
// it, or stays otherwise. It fails with an UnfitError if the step cannot run.
func (t *Trial) Step(ctx context.Context, one *catalog.Case) error {
	refused, err := t.stageStep(ctx, one)
	if refused || err != nil {
		return err
	}
	w := wantedOf(one)
	return t.observeUntil(ctx, func(o *observation) (progress, error) { return o.judgeProgress(w) })
}

// observeUntil observes the resource until judge reports that it passed, or that nothing
// changes any more.
func (t *Trial) observeUntil(ctx context.Context, judge func(*observation) (progress, error)) error {
	var r rest
	return t.retryUntil(ctx, func() error {
		seen, err := t.observeOnce(ctx)
		if err != nil {
			return err
		}
		state, problem := judge(seen)
		return r.recordProgress(seen.version, state, problem)
	})
}

// A rest counts equal observations in a row.
type rest struct {
	last  string
	equal int
}

// recordProgress returns nil if the resource passed, a finalError if it failed for good, and
// otherwise the problem with it.
func (r *rest) recordProgress(version string, state progress, problem error) error {
	if now := fmt.Sprint(version, state, problem); now != r.last {
		r.last, r.equal = now, 0
	}
	r.equal++
	isResting := r.equal >= restingObservations
	switch {
	case state == passed, state == passesAtRest && isResting:
		return nil
	case state == failsAtRest && isResting:
		return finalError{problem}
	}
	return problem
}

// A finalError is one that more time does not mend.
type finalError struct{ error }

// retryUntil calls try until it succeeds, or fails for good.
func (t *Trial) retryUntil(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	var last error
	for {
		err := try()
		var final finalError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return final.error
		case ctx.Err() == nil || last == nil: // not that the time ran out within a request
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", t.Limit, last)
		case <-time.After(pollInterval):
		}
	}
}

// checkGone is an error as long as an object is there.
func (t *Trial) checkGone(ctx context.Context, o *object) error {
	now, err := t.Writer.Find(ctx, o.served, o.GetNamespace(), o.GetName())
	switch {
	case err != nil:
		return err
	case now != nil && now.GetUID() == o.GetUID():
		return fmt.Errorf("%s is still there", o)
	}
	return nil
}
