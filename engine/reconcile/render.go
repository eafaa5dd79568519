package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// render renders the children; nil means that nothing may be changed. It renders again
// until nothing is missing, at most once for each call of stable, whose arguments are
// literal.
func (t *reconciliation) render(ctx context.Context, w *snapshot) *render.Result {
	if t.frozen() {
		return nil
	}
	if t.subject.version.Kind == nil {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonFolderInvalid, Message: t.subject.version.Broken.Error()})
		return nil
	}
	w.forgetStored()
	result, err := t.renderOnce(ctx, w)
	for err == nil && len(w.undrawn) > 0 && t.mode != previews {
		t.draw(ctx, w, result)
		result, err = t.renderOnce(ctx, w)
	}
	if err != nil {
		NotePanic(t.r.name, err)
		t.found.add(renderProblem(err))
		t.stuckWith(result, w)
		return nil
	}
	for _, waiting := range result.Waiting {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonWaiting, Message: waiting.File + ": " + waiting.Message,
			File: waiting.File})
	}
	return result
}

func (t *reconciliation) renderOnce(ctx context.Context, w *snapshot) (result *render.Result, err error) {
	defer panics.Catch(&err, "rendering a "+t.r.gvk.Kind)
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	started := time.Now()
	result, err = render.Children(ctx, t.subject.version.Kind, t.subject.resource, w)
	metrics.Kind(t.r.name).Rendered(time.Since(started))
	return result, err
}

func renderProblem(err error) status.Problem {
	p := status.Problem{Severity: status.Stalled, Reason: api.ReasonRenderFailed, Message: err.Error()}
	var failure *template.Failure
	if errors.As(err, &failure) {
		p.Reason = api.ReasonRefused
	}
	var placed *template.Error
	if errors.As(err, &placed) {
		p.File = placed.Place.String()
	}
	return p
}

// plan decides everything before anything is done.
func (t *reconciliation) plan(rendered *render.Result, w *snapshot) *plan.Plan {
	if rendered == nil {
		return nil
	}
	in := t.input(rendered, w)
	p, err := t.planOf(in)
	if err != nil {
		NotePanic(t.r.name, err)
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonRenderFailed, Message: err.Error()})
		return nil
	}
	t.known.keep(p)
	t.keeps(p)
	if p.Empty {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonRenderedNothing,
			Message: "the templates render no children any more, so the present ones are kept; if that is meant, the folder says allowEmpty: true in kind.yaml"})
	}
	if t.subject.deleting() {
		w.unknown(&t.found)
		// What is not known may be first in order.
		t.found.incomplete = t.found.incomplete || t.found.unclear && len(in.DeleteOrder) > 0
	}
	return p
}

// input is what a plan is made from.
func (t *reconciliation) input(rendered *render.Result, w *snapshot) plan.Input {
	settings := t.subject.settings()
	in := plan.Input{
		Owner: t.subject.owner(), Result: rendered, Live: w.live, State: w.stateOfKind,
		Patched: w.patched, Object: w.object, Patchers: w.patchers, Rendered: w.inRendered, CanMake: w.canMake,
		Draws:       t.subject.draws,
		Recreations: t.knownRecreations(), MayDelete: t.mayDelete,
		Memory: t.known.children.applied, Replaced: t.known.children.replaced, Succeeded: t.subject.succeeded(),
		AllowPrune:  t.subject.allowances(),
		DeleteOrder: settings.DeleteOrder, AllowEmpty: settings.AllowEmpty, ReportedReady: t.subject.reportedReady(),
		IsReady: func(l live.Object) bool { return t.describeChild(w, l, nil).Ready },
	}
	if t.subject.deleting() {
		t.setDeletion(&in, w)
	}
	return in
}

// stuckWith plans for a resource of which single files could not be rendered: that
// of what is kept goes what the resource allows.
func (t *reconciliation) stuckWith(rendered *render.Result, w *snapshot) {
	if rendered == nil || len(rendered.Failed) == 0 {
		return
	}
	t.stuck = plan.Stuck(t.input(rendered, w))
	t.keeps(t.stuck)
}

// keeps tells of the children that stay for a file, each by the text that allows its
// deletion.
func (t *reconciliation) keeps(p *plan.Plan) {
	for _, r := range p.Retained {
		why := ""
		switch r.Why {
		case plan.FileWaits:
			why = "waits"
		case plan.FileFails:
			why, t.found.keptFailed = "cannot be rendered", true
		default:
			continue
		}
		t.found.kept = append(t.found.kept, fmt.Sprintf("%s is kept, since %s.yaml %s",
			plan.Allowance(r.Live.GVK.GroupKind(), r.Live.Meta), r.File, why))
	}
}
