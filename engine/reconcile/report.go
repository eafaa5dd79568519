package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// statusFile is the template of the status.
const statusFile = "status.yaml"

// publishStatus writes the status if it says something new, tells of it by event and
// log, and decides when to look again.
func (t publisher) publishStatus(ctx context.Context, p *plan.Plan) (reconcile.Result, error) {
	if len(t.pruned) > 0 {
		t.recordEvent(corev1.EventTypeNormal, api.ReasonPruned, "not rendered any more, and deleted: "+strings.Join(t.pruned, ", "))
	}
	if t.outdated { // nothing that this reconciliation found is worth telling
		t.pending = true
		return reconcile.Result{RequeueAfter: firstWait}, nil
	}
	view := t.view
	if !p.IsRendered && !t.subject.IsDeleting() || !p.Same() { // as it is after applying
		view = observe.Take(t.subject, t.texts, t.judgeChild)
		view.Asked = slices.Clone(t.view.Asked) // what the plan read counts too
	}
	t.reportReferences(view)
	live := t.subject.ReadStatus()
	own, children := t.ownStatus(ctx, view), t.describeChildren(p, view)
	t.r.cluster.Reads.Record(t.subject.Owner().Owner, view.Asked)
	if view.Pending { // what the status depends on is on its way, and wakes us
		t.pending = true
		return reconcile.Result{RequeueAfter: t.found.requeue}, nil
	}
	t.memory.dateProblems(t.found.problems)
	in := status.Input{
		Generation: t.subject.Resource.GetGeneration(), Live: live.OwnFields(), Now: metav1.Now(),
		Children: t.withPodReasons(ctx, children, view), Own: own, Problems: t.found.problems,
		Kept: t.found.kept, KeptFailed: t.found.keptFailed, Ignored: view.IgnoredAnnotations(),
		Refused: t.choice.Refused, Paused: t.subject.IsPaused() && !t.subject.IsDeleting(),
		OtherVersions: plan.OtherVersions(t.subject.Owner(), view.Live),
	}
	out, err := status.Make(in)
	if err == nil {
		err = t.writeUnlessRefused(in, func() error { return t.writeStatus(ctx, out, live) })
	}
	if why := describeInvalid(err); why != "" && in.Own != nil { // say so in a status without the kind's own fields
		in.Own = nil
		in.Problems = append(in.Problems, status.Problem{Severity: status.Stalled, Reason: api.ReasonStatusInvalid, Message: why})
		if out, err = status.Make(in); err == nil {
			err = t.writeStatus(ctx, out, live)
		}
	}
	t.countStanding(out)
	switch {
	case err != nil:
		t.failed = true
		t.countRefusal(err)
		t.retryLater()
		log.FromContext(ctx).Error(err, "status not written")
	case len(t.found.problems) == 0:
		delete(t.memory.attempts, plan.Key{Operation: plan.OpPrepare})
	}
	t.recordServed(out.Ready, out.Problems)
	return reconcile.Result{RequeueAfter: t.found.requeue}, nil
}

// writeUnlessRefused writes a status unless its own fields, at this generation of the resource
// and of its CRD, were refused just now, whatever else the status says. It then returns that
// error.
func (t publisher) writeUnlessRefused(in status.Input, write func() error) error {
	hash, err := ownership.Hash(in.Own)
	if err != nil {
		return fmt.Errorf("comparing the status with the last: %w", err)
	}
	hash = fmt.Sprint(hash, " ", in.Generation, " ", schemaOf(t.subject.CRD()))
	attempts, k := t.memory.attempts, plan.Key{Operation: plan.OpStatusFields}
	if at := attempts.Blocking(k, hash, t.r.now()); at != nil {
		return at.Err
	}
	err = write()
	if describeInvalid(err) != "" {
		attempts.Fail(k, hash, plan.Retry{Min: longWait, Max: longWait}, t.r.now()).Err = err
	}
	return err
}

// describeInvalid returns what is wrong with a status that was refused for its content,
// here or by the API server; "" for all other errors.
func describeInvalid(err error) string {
	var refusal *refusals.Refusal
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &refusal):
		return "status.yaml: " + err.Error()
	case refusal.Cause == refusals.Invalid:
		return "status.yaml: " + refusal.Error()
	}
	return ""
}

// ownStatus renders status.yaml; nil if it cannot be rendered.
func (t publisher) ownStatus(ctx context.Context, view *observe.Snapshot) map[string]any {
	if t.subject.Version.Kind == nil || t.choice.Frozen || t.subject.IsDeleting() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	fields, err := render.Status(ctx, t.subject.Version.Kind, t.subject.Resource, view.World())
	var wait *template.Wait
	if errors.As(err, &wait) {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonWaiting, Message: "status: " + wait.Message})
		return nil
	}
	if err != nil {
		p := renderProblem(err)
		p.Reason = api.ReasonStatusRenderFailed
		t.found.add(p)
		return nil
	}
	fields, _ = t.subject.Version.Kind.Version.PruneStatus(fields)
	if fields == nil {
		fields = map[string]any{}
	}
	return t.withOverridden(t.holdStatus(fields))
}

// writeStatus applies the status unless the live one says the same. The same status
// is not sent twice for the same resourceVersion, whatever became of it.
func (t publisher) writeStatus(ctx context.Context, out status.Output, live observe.LiveStatus) error {
	if !t.subject.Version.HasStatus() {
		t.announceStatus(ctx, out)
		return nil
	}
	desired, same := t.subject.DesiredStatus(out.Status, live)
	if same {
		t.memory.announcedProblem(out.Problems)
		return nil
	}
	served, found := t.r.cluster.Resource(t.r.gvk)
	if !found {
		return nil
	}
	hash, err := ownership.Hash(desired)
	if err != nil {
		return err
	}
	sent := hash + "@" + t.subject.Resource.GetResourceVersion()
	if t.memory.sent == sent {
		return nil
	}
	if wait := t.mayWait(out, desired, live.Fields); wait > 0 {
		t.found.requeueAfter(wait)
		return nil
	}
	if at := t.memory.attempts.Blocking(plan.Key{Operation: plan.OpStatus}, "", t.r.now()); at != nil {
		t.failed = true
		t.found.requeueAfter(at.Next.Sub(t.r.now()))
		return nil
	}
	answer, err := t.r.cluster.Writer.Status(ctx, served, t.subject.Resource, desired)
	recordBusy(t.memory.attempts, plan.OpStatus, err, t.r.now())
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another one by now: an event tells
	}
	if err != nil {
		return err
	}
	t.countRequest(metrics.Status)
	t.memory.recordResource(answer, t.r.now())
	t.memory.sent, t.memory.saidAt = hash+"@"+answer.GetResourceVersion(), t.r.now()
	t.announceStatus(ctx, out)
	return nil
}

// statusGap is how long after a status the next one waits that tells of progress
// alone.
const statusGap = 10 * time.Second

// mayWait is how long a status may wait, so that several become one: counts and
// what else changes on the way. Whether a condition holds, why, and which
// generation was observed is said at once.
func (t publisher) mayWait(out status.Output, desired, live map[string]any) time.Duration {
	if len(out.Changed) > 0 || !status.SameGeneration(desired, live) {
		return 0
	}
	return t.memory.saidAt.Add(statusGap).Sub(t.r.now())
}

// announceStatus records an event and a line of log when a condition changed, and events of
// the problems that are new and that this did not tell of. The way of every resource
// to Ready is no news where its status tells it.
func (t publisher) announceStatus(ctx context.Context, out status.Output) {
	told, changed := out.Reason+": "+out.Message, ""
	if len(out.Changed) > 0 && (t.subject.Version.HasStatus() || t.memory.announced != told) {
		t.memory.announced = told
		changed = t.announceChanged(ctx, out)
	}
	var reasons []string
	news := map[string]string{}
	for _, p := range t.memory.announcedProblem(out.Problems) {
		if strings.Contains(changed, p.Message) {
			continue
		}
		if news[p.Reason] == "" {
			reasons = append(reasons, p.Reason)
			news[p.Reason] = p.Message
			continue
		}
		news[p.Reason] += "; " + p.Message
	}
	for _, reason := range reasons {
		t.recordEvent(corev1.EventTypeWarning, reason, news[reason])
	}
}

// announceChanged tells of the conditions that changed, and returns what it said.
func (t publisher) announceChanged(ctx context.Context, out status.Output) (note string) {
	severity := corev1.EventTypeNormal
	if t.choice.Refused != "" {
		severity = corev1.EventTypeWarning
	}
	for _, p := range t.found.problems {
		if p.Severity != status.Waiting {
			severity = corev1.EventTypeWarning
		}
	}
	logger := log.FromContext(ctx)
	recovers := out.Ready && t.memory.wasNotReady
	if out.Ordinary && !recovers && t.subject.Version.HasStatus() && !t.r.cluster.AllEvents {
		logger = logger.V(1)
	} else {
		t.memory.wasNotReady = !out.Ready
		note = t.recordEvent(severity, out.Reason, strings.Join(out.Changed, "; "))
	}
	about := []any{"ready", out.Ready, "reason", out.Reason, "message", out.Message}
	if file := t.found.fileOf(out.Reason); file != "" {
		about = append(about, "file", file)
	}
	logger.Info("status changed", about...)
	return note
}

// recordEvent records an event about the resource, and returns as much of the note as
// it has room for. The API keeps one event of a reason for each state of the
// resource: what is of one reason must be told at once.
func (t *pass) recordEvent(severity, reason, note string) string {
	if len(note) > 1000 {
		note = strings.ToValidUTF8(note[:1000], "") + "…"
	}
	t.r.cluster.Events.Eventf(t.subject.Resource, nil, severity, reason, "Reconcile", "%s", note)
	return note
}

// announceReleased records, once, that a patch stays which could not be released.
func (t *pass) announceReleased(at *plan.Attempt) {
	if at.Refused.IsAnnounced {
		return
	}
	at.Refused.IsAnnounced = true
	ref := plan.RefOf(at.Refused.Release.Live)
	t.recordEvent(corev1.EventTypeWarning, api.ReasonReleaseFailed, fmt.Sprintf(
		"the fields of %s stay as they are: %s", ref, at.Problem.Message))
}

// isAtRest reports whether the reconciliation wrote nothing, and holds nothing back that our
// own writes may cause.
func (t publisher) isAtRest() bool {
	return !t.memory.attempts.HoldsRepeats() && t.memory.writes == t.written
}

// reportOscillation reports what oscillates, and looks at it again.
func (t *pass) reportOscillation(k plan.Key, what, file string) {
	if p, due := t.memory.attempts.Oscillation(k, what, func() string { return file }, t.r.now()); p != nil {
		t.found.add(*p)
		t.found.requeueAfter(due)
	}
}

// holdStatus returns what status.yaml is to say: what it said last, while our own writes seem
// to change that.
func (t publisher) holdStatus(fields map[string]any) map[string]any {
	if t.isDry() {
		return fields
	}
	attempts, k := t.memory.attempts, plan.StatusRepeatKey
	if hash, err := ownership.Hash(fields); err == nil {
		at := attempts[k]
		if at != nil && t.memory.saidAt.After(at.Repeat.Written) { // its write was delayed
			at.Repeat.Written = t.memory.saidAt
		}
		if at != nil && at.Repeat.Hash == hash {
			attempts.ReleaseRepeat(k)
		} else if delay := attempts.FollowRepeat(k, plan.Content{Hash: hash, Document: maps.Clone(fields), Cause: t.contentCause()},
			t.memory.lastWrite, t.r.now()); delay > 0 {
			t.found.requeueAfter(delay)
			fields = maps.Clone(attempts[k].Written)
		}
	}
	t.reportOscillation(k, "status", statusFile)
	return fields
}
