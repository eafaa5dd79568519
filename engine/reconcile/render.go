package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// renderChildren renders the children. The result is nil if nothing may be changed, and names the files
// that cannot be rendered. It renders again until nothing is missing, at most once for each
// call of stable, whose arguments are literal.
func (t renderer) renderChildren(ctx context.Context, view *observe.Snapshot) *render.Result {
	if t.subject.IsDeleting() || t.isFrozen() {
		return nil
	}
	if t.subject.Version.Kind == nil {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonFolderInvalid, Message: t.subject.Version.Broken.Error()})
		return nil
	}
	observe.ForgetStored(view)
	result, err := t.renderOnce(ctx, view)
	for err == nil && len(view.Undrawn) > 0 && t.mode != previews {
		t.drawTexts(ctx, view, result)
		result, err = t.renderOnce(ctx, view)
	}
	if err != nil {
		NotePanic(t.r.name, err)
		t.found.add(renderProblem(err))
		if result == nil || len(result.Failed) == 0 {
			return nil
		}
		return result
	}
	for _, waiting := range result.Waiting {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonWaiting, Message: waiting.File + ": " + waiting.Message,
			File: waiting.File})
	}
	return result
}

func (t renderer) renderOnce(ctx context.Context, view *observe.Snapshot) (result *render.Result, err error) {
	defer panics.Catch(&err, "rendering a "+t.r.gvk.Kind)
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	started := time.Now()
	result, err = render.Children(ctx, t.subject.Version.Kind, t.subject.Resource, view.World())
	metrics.Kind(t.r.name).Rendered(time.Since(started))
	return result, err
}

func renderProblem(err error) status.Problem {
	p := status.Problem{Severity: status.Stalled, Reason: api.ReasonRenderFailed, Message: err.Error()}
	var failure *template.Failure
	if errors.As(err, &failure) {
		p.Reason = api.ReasonRejectedByTemplate
	}
	var placed *template.Error
	if errors.As(err, &placed) {
		p.File = placed.Place.String()
	}
	return p
}

// makePlan decides everything before anything is done. Without a rendered result, a plan changes the
// resource itself at most.
func (t *reconciliation) makePlan(rendered *render.Result, view *observe.Snapshot) *plan.Plan {
	in := t.planInput(rendered, view)
	p, err := t.planOf(in)
	if err != nil {
		NotePanic(t.r.name, err)
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonRenderFailed, Message: err.Error()})
		in.Result = nil
		if p, err = t.planOf(in); err != nil {
			p = &plan.Plan{Attempts: t.memory.attempts}
		}
	}
	if p.IsRendered {
		t.memory.forgetChildren(p)
	}
	t.noteKept(p)
	return p
}

// planInput gathers what a plan depends on.
func (t *reconciliation) planInput(rendered *render.Result, view *observe.Snapshot) plan.Input {
	settings, annotations := t.subject.Settings(), t.subject.Resource.GetAnnotations()
	in := plan.Input{
		Owner: t.subject.Owner(), Result: rendered, Live: view.Live, State: view.StateOf,
		Patched: view.Patched, Object: view.FindPatched, Patchers: view.ListPatchers, Rendered: view.IsInRendered, CanMake: view.CanMake,
		Draws: t.subject.Version.DrawsTexts, GeneratesText: func(file string) bool { return t.texts.Fresh[file] },
		Recreations: t.knownRecreations(), MayDelete: t.mayDelete, WasMade: t.wasMade,
		Applied: t.memory.applied, Replaced: t.memory.replaced, SchemaOf: t.schemaOfKind,
		Succeeded: annotations[api.AnnotationSucceeded], MakesOnce: t.subject.Version.MakesOnce,
		AllowPrune: t.subject.Allowances(), DeletionOrder: settings.DeletionOrder, AllowEmpty: settings.AllowEmpty,
		ReportedReady: t.subject.ReportedReady(), IsReady: func(l live.Object) bool { return t.describeChild(view, l, nil).Ready },
		Attempts: t.memory.attempts, LastWrite: t.memory.lastWrite, Cause: t.contentCause(), Now: t.r.now(),
		HasFinalizer: t.subject.HasFinalizer(), IsCurrent: t.memory.isCurrent,
	}
	if k := t.subject.Version.Kind; k != nil {
		in.GeneratedFrom = k.DrawsFrom
	}
	if in.HasFinalizer { // only its removal depends on what else there may be
		in.Unknown, in.Doubtful = view.DescribeUnknown(), t.doubtfulLists()
	}
	if t.subject.IsDeleting() {
		t.setDeletion(&in, view)
	}
	return in
}

// noteKept notes which children stay for a file, each with the text that allows its deletion.
func (t *reconciliation) noteKept(p *plan.Plan) {
	t.found.kept = nil
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

// contentCause identifies what changes content for other reasons than our own writes.
func (t *pass) contentCause() string {
	return fmt.Sprintf("%d@%s", t.subject.Resource.GetGeneration(), t.subject.Version.Digest)
}
