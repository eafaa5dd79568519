package reconcile

import (
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// learnResults records the results of a plan: in the memory of the resource, in the caches, in
// metrics, and as problems for the status.
func (t learner) learnResults(p *plan.Plan, results []plan.Result) {
	isApplied := p.IsComplete()
	for i := range results {
		r := &results[i]
		for _, w := range r.Writes {
			t.countWrite(w)
		}
		switch {
		case r.Step != nil:
			t.learnStep(r.Step, r)
			if r.Skipped {
				p.WithdrawStep(r.Step)
			}
			isApplied = isApplied && r.Succeeded()
		case r.Skipped:
		case r.Metadata != nil:
			t.learnMetadata(p, r)
			isApplied = isApplied && (r.Err == nil || r.Metadata == &p.After)
		case r.Object != nil:
			t.learnDelete(r)
		default:
			t.learnRelease(r)
		}
	}
	if isApplied {
		t.reportPrunes(p)
	}
}

// learnMetadata records that the resource itself was changed, or why not. One that is gone, and
// was to lose our finalizer, has lost it.
func (t learner) learnMetadata(p *plan.Plan, r *plan.Result) {
	if r.Metadata.Finalizer == plan.RemoveFinalizer && apierrors.IsNotFound(r.Err) {
		r.Err = nil
	}
	t.isReleased = r.Metadata.Finalizer == plan.RemoveFinalizer && r.Err == nil
	if recordBusy(t.memory.attempts, plan.OpMetadata, r.Err, t.r.now()); r.Err != nil {
		NotePanic(t.r.name, r.Err)
		t.countRefusal(r.Err)
		t.notRecorded(r.Err)
		return
	}
	if r.Answer != nil {
		t.countRequest(metrics.Metadata)
		t.memory.recordResource(r.Answer, t.r.now())
		t.subject.Resource = r.Answer
	}
	if r.Metadata.Annotations[api.AnnotationOrphaned] != "" {
		t.reportInferred(p)
	}
}

// notRecorded takes up that the resource itself could not be changed, or that nothing can act as
// the account of its folder. A conflict is no trouble to tell of: the next reconciliation sees the
// resource as it is now.
func (t *pass) notRecorded(err error) {
	if apierrors.IsConflict(err) {
		t.outdated = true
		return
	}
	t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonRecordFailed, Message: err.Error()})
	t.retryLater()
}

// learnStep records what became of a step.
func (t learner) learnStep(s *plan.Step, r *plan.Result) {
	switch {
	case r.Skipped && r.Lacks != "":
		t.reportStep(s, status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting,
			Message: fmt.Sprintf("waiting to apply %s: %s is not there yet, and what is drawn for it is in this", s.Name(), r.Lacks)})
		return
	case r.Skipped:
		return
	}
	t.expectAnswer(s, r)
	switch {
	case r.Recreation != nil:
		t.recordRecreation(s, *r.Recreation)
		return
	case r.IsDeleted:
		t.learnRecreate(s, r)
		return
	case r.Err == nil:
		t.learnWrite(s, r)
	default:
		t.learnFailure(s, r)
	}
	t.recordUnanswered(s, r.Err)
}

// reportStep reports a problem of a step, by default at the place of its template.
func (t *pass) reportStep(s *plan.Step, p status.Problem) {
	if p.File == "" {
		p.File = s.Place()
	}
	t.found.add(p)
}

// expectAnswer overlays the caches with the answer to a write, until the watches deliver it.
// Templates may read a child too, by another watch.
func (t learner) expectAnswer(s *plan.Step, r *plan.Result) {
	if r.Answer == nil || t.isDry() {
		return
	}
	if s.Action != plan.Patch {
		t.r.cluster.Children.RecordWrite(r.Answer.GroupVersionKind(), r.Answer)
	}
	t.r.cluster.Reads.RecordWrite(r.Answer.GroupVersionKind(), r.Answer)
}

// learnWrite records that a child was written, or an object patched.
func (t learner) learnWrite(s *plan.Step, r *plan.Result) {
	delete(t.memory.attempts, s.Key())
	if len(s.Taken) > 0 {
		t.countCorrected(s.Takers)
	}
	if s.Action == plan.Create {
		t.memory.attempts.ForgetRepeats()
		delete(t.memory.replaced, s.Ref())
	}
	if s.GeneratesText {
		t.forgetGenerated(s)
	}
	if r.Answer == nil { // a dry run that only shows what a new object would be
		return
	}
	uid, managed := r.Answer.GetUID(), r.Answer.GetManagedFields()
	if s.Action == plan.Patch {
		sub := s.Child.Policy.Subresource
		entry, _, _ := ownership.OursAt(managed, api.PatchManager(t.subject.Owner().UID), sub)
		t.memory.applied[plan.PatchKey(uid, sub)] = plan.Applied{Hash: s.Hash, Digest: entry.Digest, Time: entry.Time}
		delete(t.memory.attempts, plan.Key{Operation: plan.OpRelease, Ref: s.Ref(), UID: uid})
	} else {
		mark, _ := ownership.MarkAt(managed, api.FieldManager, "")
		t.memory.recordApplied(s.Ref(), uid, plan.Applied{Hash: s.Hash, Digest: mark.Digest, Time: mark.Time})
	}
	t.recordOverridden(s, ownership.Differences(r.Sent.Object, r.Answer.Object))
}

// learnFailure records that a step failed, and reports why.
func (t learner) learnFailure(s *plan.Step, r *plan.Result) {
	refusal := refusals.Classify(r.Err)
	switch refusal.Cause {
	case refusals.Gone, refusals.Exists, refusals.Waits: // the object is another one by now
		delete(t.memory.recreations, s.Ref())
	}
	if refusal.Kind == refusals.TextExists {
		t.forgetGenerated(s)
	}
	p, retry := t.describeFailure(s, r.Err)
	t.countRefusal(r.Err)
	at := t.recordAttempt(s, p, retry)
	if s.Live != nil && (refusal.Kind == refusals.ForeignEntry || refusal.Kind == refusals.LeftOver) {
		at.Obstacle = plan.Obstacle(*s.Live)
	}
}

// learnRecreate records that a child was deleted to be created again. That backs off, so that
// one which always has to be recreated is no busy loop.
func (t learner) learnRecreate(s *plan.Step, r *plan.Result) {
	delete(t.memory.recreations, s.Ref())
	t.memory.attempts.ForgetRepeats()
	if r.Predecessor != nil {
		t.memory.replaced[s.Ref()] = initialOf(r.Predecessor.Object, s.Child.Policy.Initial)
	}
	text := "it is recreated: " + s.Why
	if s.Recreation != nil {
		text = "it is recreated, since the API refuses to change it: " + s.Recreation.Why
	}
	t.recordAttempt(s, status.Problem{Severity: status.Waiting, Reason: api.ReasonRecreating, Message: s.Name() + ": " + text},
		plan.Retry{Min: rareRetry, Max: longestGap})
}

// recordAttempt records that a step has to be tried again, and reports why.
func (t *pass) recordAttempt(s *plan.Step, p status.Problem, retry plan.Retry) *plan.Attempt {
	now := t.r.now() // waits begin with the answer
	at := t.memory.attempts.Fail(s.Key(), s.AttemptHash(), retry, now)
	at.Problem, at.Obstacle = p, ""
	t.reportStep(s, p)
	t.found.requeueAfter(at.Next.Sub(now))
	return at
}

// recordRecreation remembers that a child has to be recreated. The next plan decides
// whether it may.
func (t learner) recordRecreation(s *plan.Step, r plan.Recreation) {
	delete(t.memory.attempts, s.Key())
	gvk := s.Document.GroupVersionKind()
	t.memory.recreations[s.Ref()] = recreation{
		Recreation: r, gvk: gvk, schema: t.schemaOfKind(gvk), until: t.r.now().Add(t.subject.Version.ResyncInterval()),
	}
	t.replans = true
}

// knownRecreations returns the children that the API server refuses to change, as far as that is
// still known: a CRD that has changed since may accept the change, and so may a webhook.
func (t *reconciliation) knownRecreations() map[plan.Ref]plan.Recreation {
	all := map[plan.Ref]plan.Recreation{}
	for child, r := range t.memory.recreations {
		if t.r.now().Before(r.until) && r.schema == t.schemaOfKind(r.gvk) {
			all[child] = r.Recreation
		}
	}
	return all
}

// recordUnanswered remembers a write without a response, until one comes.
func (t learner) recordUnanswered(s *plan.Step, err error) {
	gvk := s.Document.GroupVersionKind()
	if err == nil {
		delete(t.memory.unanswered, s.Ref())
	} else if refusals.Classify(err).Cause == refusals.TryAgain && !errors.Is(err, transport.ErrNotSent) {
		list := plan.List{GroupVersionKind: gvk, IsPatched: s.Action == plan.Patch}
		t.memory.unanswered[s.Ref()] = unansweredWrite{list, t.r.ticks.Add(1)}
		t.r.inFlight.recordUnanswered(gvk.GroupKind(), t.r.now())
	}
}

// forgetGenerated forgets the texts that were generated for the file of a Secret: they are in
// it now, or the next reconciliation asks the API server which ones are.
func (t learner) forgetGenerated(s *plan.Step) {
	maps.DeleteFunc(t.texts.Kept, func(at observe.SecretKey, _ string) bool { return at.File == s.Child.File })
}

// initialOf returns the fields of an object that are only set initially.
func initialOf(body map[string]any, paths [][]string) map[string]any {
	out := map[string]any{}
	for _, path := range paths {
		if v, found, err := unstructured.NestedFieldCopy(body, path...); found && err == nil {
			_ = unstructured.SetNestedField(out, v, path...) // the way there is made of maps
		}
	}
	return out
}
