package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// prune deletes the children that were not rendered, but only after everything
// that was rendered is applied.
func (t *turn) prune(ctx context.Context, p *plan.Plan) {
	if p == nil || t.found.incomplete {
		return
	}
	// What was deleted may be seen for a while still.
	maps.DeleteFunc(t.memory.pruned, func(uid types.UID, _ bool) bool {
		return !slices.ContainsFunc(p.Prune, func(l observe.Live) bool { return l.Meta.GetUID() == uid })
	})
	for _, l := range p.Prune {
		if t.memory.pruned[l.Meta.GetUID()] {
			continue
		}
		if err := t.delete(ctx, l); err != nil {
			t.memory.tries++
			t.found.add(status.Problem{Severity: status.Retry, Reason: "PruneFailed", Message: err.Error()})
			t.found.again(backOff(t.memory.tries, 0, longWait))
		}
	}
}

func (t *turn) delete(ctx context.Context, l observe.Live) error {
	served, found := t.cluster.Served().Resource(l.GVK)
	if !found {
		return nil
	}
	err := t.cluster.Writer.Delete(ctx, served, l.Meta)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		applies.WithLabelValues(t.name, "prune").Inc()
		t.memory.pruned[l.Meta.GetUID()] = true
		delete(t.memory.applied, l.Meta.GetUID())
		delete(t.memory.changed, shortName(l.GVK.Kind, l.Meta.GetName()))
		return nil
	}
	return fmt.Errorf("pruning %s %s/%s: %w", l.GVK.Kind, l.Meta.GetNamespace(), l.Meta.GetName(), apply.Understand(err, nil))
}

// recordKinds makes sure that every kind which the plan creates is on record
// on the CRD, so that its children are found again after any crash.
func (t *turn) recordKinds(ctx context.Context, p *plan.Plan) error {
	crd := t.cluster.CRD(t.name)
	if crd == nil {
		return fmt.Errorf("the CRD %s is gone", t.name)
	}
	have := Recorded(crd.GetAnnotations()[api.AnnotationChildKinds])
	want := have
	for _, s := range p.Steps {
		gk := s.Document.GroupVersionKind().GroupKind()
		if s.Action == plan.Create && !slices.Contains(want, gk) {
			want = append(want, gk)
		}
	}
	if len(want) == len(have) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := t.cluster.Writer.RecordKinds(ctx, crd, record(want)); err != nil {
		return fmt.Errorf("recording child kinds on CRD %s: %w", t.name, apply.Understand(err, nil))
	}
	return nil
}

// Recorded reads the record of child kinds: "kind.group", comma-separated.
func Recorded(text string) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, item := range strings.Split(text, ",") {
		if item != "" {
			kinds = append(kinds, schema.ParseGroupKind(item))
		}
	}
	return kinds
}

func record(kinds []schema.GroupKind) string {
	texts := make([]string, len(kinds))
	for i, gk := range kinds {
		texts[i] = gk.String()
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}
