package reconcile

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// render renders the children; nil means that nothing may be changed.
func (t *turn) render(ctx context.Context, w *view) *render.Result {
	if t.held() {
		return nil
	}
	if t.version.Kind == nil {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: "FolderInvalid", Message: t.version.Broken.Error()})
		return nil
	}
	result, err := t.renderOnce(ctx, w)
	for err == nil {
		if len(w.undrawn) > 0 && (!t.trial || t.rehearsal != nil) {
			t.draw(ctx, w, result)
		} else if !w.overtaken(result) {
			break
		}
		result, err = t.renderOnce(ctx, w)
	}
	if err != nil {
		t.found.add(renderProblem(err))
		return nil
	}
	for _, waiting := range result.Waiting {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: "Waiting", Message: waiting.File + ": " + waiting.Message, File: waiting.File})
	}
	return result
}

func (t *turn) renderOnce(ctx context.Context, w *view) (*render.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	started := time.Now()
	result, err := render.Children(ctx, t.version.Kind, t.resource, w)
	metrics.Kind(t.name).Rendered(time.Since(started))
	return result, err
}

func renderProblem(err error) status.Problem {
	p := status.Problem{Severity: status.Stalled, Reason: "RenderFailed", Message: err.Error()}
	var failure *template.Failure
	if errors.As(err, &failure) {
		p.Reason = "Refused"
	}
	var placed *template.Error
	if errors.As(err, &placed) {
		p.File = placed.Place.String()
	}
	return p
}

// plan decides everything before anything is done.
func (t *turn) plan(rendered *render.Result, w *view) *plan.Plan {
	if rendered == nil {
		return nil
	}
	settings := t.settings()
	p, err := plan.Make(plan.Input{
		Owner: t.owner(), Result: rendered, Live: w.live, State: w.known,
		Patched: w.patched, Object: w.object, Patchers: w.patchers, Rendered: w.inRendered,
		Memory: t.memory.applied, Succeeded: t.succeeded(), AllowPrune: t.allowed(),
		DeleteOrder: settings.DeleteOrder, AllowEmpty: settings.AllowEmpty, Leaving: t.leaving(), Orphan: t.orphans(),
	})
	if err != nil {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: "RenderFailed", Message: err.Error()})
		return nil
	}
	t.memory.keep(p)
	if p.Empty {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: "RenderedNothing",
			Message: "the templates render no children any more, so the present ones are kept; if that is meant, the folder says allowEmpty: true in kind.yaml"})
	}
	if t.leaving() {
		w.unknown(&t.found)
		// What is not known may be first in order.
		t.found.incomplete = t.found.incomplete || t.found.unclear && len(settings.DeleteOrder) > 0
	}
	return p
}

// allowed are the precious children that the resource allows to prune.
func (t *turn) allowed() []string {
	names := strings.Split(t.resource.GetAnnotations()[api.AnnotationAllowPrune], ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}
