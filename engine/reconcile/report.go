package reconcile

import (
	"context"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/own"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// report writes the status if it says something new, tells of it by event and
// log, and decides when to look again.
func (t *turn) report(ctx context.Context, p *plan.Plan) (reconcile.Result, error) {
	if t.outdated { // nothing that this turn found is worth telling
		t.pending = true
		return reconcile.Result{RequeueAfter: firstWait}, nil
	}
	w := t.look() // as it is after applying
	live, _ := t.resource.Object["status"].(map[string]any)
	own := t.own(ctx, w)
	t.cluster.Reads.Record(t.owner().Owner, t.asked)
	if w.pending { // what status.yaml reads is on its way, and wakes us
		t.pending = true
		return reconcile.Result{RequeueAfter: t.found.requeue}, nil
	}
	in := status.Input{
		Generation: t.resource.GetGeneration(), Live: t.ours(live), Now: metav1.Now(),
		Children: t.children(p, w), Own: own, Problems: t.found.problems,
		Paused: t.paused() && !t.leaving(),
	}
	out, err := status.Make(in)
	if err == nil {
		err = t.write(ctx, out, live)
	}
	if why := invalid(err); why != "" && in.Own != nil { // say so in a status without the kind's own fields
		in.Own = nil
		in.Problems = append(in.Problems, status.Problem{Severity: status.Stalled, Reason: "StatusInvalid", Message: why})
		if out, err = status.Make(in); err == nil {
			err = t.write(ctx, out, live)
		}
	}
	t.stands(out)
	switch {
	case err != nil:
		t.failed = true
		t.refusal(err)
		t.memory.tries++
		t.found.again(backOff(t.memory.tries, 0, longWait))
		log.FromContext(ctx).Error(err, "status not written")
	case len(t.found.problems) == 0:
		t.memory.tries = 0
	}
	t.tellServed(out.Ready)
	return reconcile.Result{RequeueAfter: t.found.requeue}, nil
}

// invalid says what is wrong with a status that was refused for its content,
// here or by the API server; "" for all other errors.
func invalid(err error) string {
	var refusal *apply.Refusal
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &refusal):
		return "status.yaml: " + err.Error()
	case refusal.Cause == apply.Invalid:
		return "status.yaml: " + refusal.Error()
	}
	return ""
}

// ours is the live status as far as our own entry in managedFields covers it.
func (t *turn) ours(live map[string]any) map[string]any {
	entry, ok, err := own.OursAt(t.resource.GetManagedFields(), api.FieldManager, "status")
	if err != nil || !ok {
		return nil
	}
	kept := map[string]any{}
	for field, v := range live {
		if entry.Reaches("status", field) {
			kept[field] = v
		}
	}
	return kept
}

// own renders status.yaml; nil if it cannot be rendered.
func (t *turn) own(ctx context.Context, w *view) map[string]any {
	if t.version.Kind == nil || t.choice.Hold || t.leaving() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	fields, err := render.Status(ctx, t.version.Kind, t.resource, w)
	var wait *template.Wait
	if errors.As(err, &wait) {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: "Waiting", Message: "status: " + wait.Message})
		return nil
	}
	if err != nil {
		p := renderProblem(err)
		p.Reason = "StatusFailed"
		t.found.add(p)
		return nil
	}
	fields, _ = t.version.Kind.Version.PruneStatus(fields)
	if fields == nil {
		fields = map[string]any{}
	}
	return t.withOverridden(fields)
}

// write applies the status unless the live one says the same. The same status
// is not sent twice for the same resourceVersion, whatever became of it.
func (t *turn) write(ctx context.Context, out status.Output, live map[string]any) error {
	if !t.version.hasStatus() {
		t.tell(ctx, out)
		return nil
	}
	desired, _ := t.pruned(out.Status)
	if t.says(desired, live) {
		return nil
	}
	served, found := t.cluster.Resource(t.gvk)
	if !found {
		return nil
	}
	hash, err := own.Hash(desired)
	if err != nil {
		return err
	}
	sent := hash + "@" + t.resource.GetResourceVersion()
	if t.memory.sent == sent {
		return nil
	}
	answer, err := t.cluster.Writer.Status(ctx, served, t.resource, desired)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another one by now: an event tells
	}
	if err != nil {
		return apply.Understand(err, map[string]any{"status": desired})
	}
	t.did(metrics.Status)
	t.memory.answered(answer)
	t.memory.sent = hash + "@" + answer.GetResourceVersion()
	t.tell(ctx, out)
	return nil
}

func (v *Version) hasStatus() bool { return v.Schema == nil || v.Schema.Status }

func (t *turn) pruned(desired map[string]any) (map[string]any, []string) {
	if t.version.Schema == nil {
		return desired, nil
	}
	return t.version.Schema.PruneStatus(desired)
}

// says says whether the live status is what is desired, with nothing of ours
// left over.
func (t *turn) says(desired, live map[string]any) bool {
	if !status.Same(desired, live) {
		return false
	}
	entry, ok, err := own.OursAt(t.resource.GetManagedFields(), api.FieldManager, "status")
	if err != nil || !ok {
		return err == nil
	}
	return len(entry.Extra(map[string]any{"status": desired})) == 0
}

// tell records an event and a line of log when a condition changed.
func (t *turn) tell(ctx context.Context, out status.Output) {
	told := out.Reason + ": " + out.Message
	if len(out.Changed) == 0 || (!t.version.hasStatus() && t.memory.told == told) {
		return
	}
	t.memory.told = told
	severity := corev1.EventTypeNormal
	for _, p := range t.found.problems {
		if p.Severity != status.Waiting {
			severity = corev1.EventTypeWarning
		}
	}
	note := strings.Join(out.Changed, "; ")
	if len(note) > 1000 {
		note = strings.ToValidUTF8(note[:1000], "") + "…"
	}
	t.cluster.Events.Eventf(t.resource, nil, severity, out.Reason, "Reconcile", "%s", note)
	about := []any{"ready", out.Ready, "reason", out.Reason, "message", out.Message}
	if file := t.found.file(out.Reason); file != "" {
		about = append(about, "file", file)
	}
	log.FromContext(ctx).Info("status changed", about...)
}

// LookAgain is how often the children of a kind are listed without an event.
func (v *Version) LookAgain() time.Duration {
	if v.Kind == nil {
		return kind.DefaultLookAgain
	}
	return v.Kind.Settings.LookAgain.Duration
}
