package reconcile

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// learnResults records the results of a plan: in the memory of the resource, in the caches, in
// metrics, and as problems for the status.
func (t *reconciliation) learnResults(results []plan.Result) {
	for i := range results {
		r := &results[i]
		for _, w := range r.Writes {
			t.countWrite(w)
		}
		switch {
		case r.Step != nil:
			t.learnStep(t.newPlannedStep(r.Step), r)
		case r.Skipped:
		case r.Object != nil:
			t.learnDelete(r)
		default:
			t.learnRelease(r)
		}
	}
}

// learnStep records what became of a step.
func (t *reconciliation) learnStep(s *plannedStep, r *plan.Result) {
	if r.Skipped {
		s.reportProblem(status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting,
			Message: fmt.Sprintf("waiting to apply %s: %s is not there yet, and what is drawn for it is in this", s.Name(), r.Lacks)})
		return
	}
	s.expectAnswer(r)
	switch {
	case r.Recreation != nil:
		t.recordRecreation(s, *r.Recreation)
		return
	case r.Err == nil:
		t.learnWrite(s, r)
	default:
		t.learnFailure(s, r)
	}
	s.recordUnconfirmed(r.Err)
}

// expectAnswer overlays the caches with the answer to a write, until the watches deliver it.
// Templates may read a child too, by another watch.
func (s *plannedStep) expectAnswer(r *plan.Result) {
	if r.Answer == nil || s.run.isDry() {
		return
	}
	if s.Action != plan.Patch {
		s.run.r.cluster.Children.RecordWrite(r.Answer.GroupVersionKind(), r.Answer)
	}
	s.run.r.cluster.Reads.RecordWrite(r.Answer.GroupVersionKind(), r.Answer)
}

// learnWrite records that a child was written, or an object patched.
func (t *reconciliation) learnWrite(s *plannedStep, r *plan.Result) {
	delete(t.known.failures.attempts, s.Key())
	if len(s.Taken) > 0 {
		t.countCorrected(s.Takers)
	}
	if s.Action == plan.Create {
		t.known.failures.attempts.ForgetRepeats()
		delete(t.known.children.replaced, plan.Identity(s.Document))
	}
	if s.GeneratesText {
		s.forgetGenerated()
	}
	if r.Answer == nil { // a dry run that only shows what a new object would be
		return
	}
	uid, managed := r.Answer.GetUID(), r.Answer.GetManagedFields()
	if s.Action == plan.Patch {
		sub := s.Child.Policy.Subresource
		entry, _, _ := ownership.OursAt(managed, api.PatchManager(t.subject.owner().UID), sub)
		t.known.children.applied[plan.PatchKey(uid, sub)] = plan.Memory{Hash: s.Hash, Digest: entry.Digest, Time: entry.Time}
		delete(t.known.failures.attempts, plan.Key{Operation: plan.OpRelease, Ref: s.Ref(), UID: uid})
	} else {
		mark, _ := ownership.MarkAt(managed, api.FieldManager, "")
		t.known.children.recordAnswer(s.childName(), uid, plan.Memory{Hash: s.Hash, Digest: mark.Digest, Time: mark.Time})
	}
	s.recordOverridden(ownership.Differences(r.Sent.Object, r.Answer.Object))
}

// learnFailure records that a step failed, and reports why.
func (t *reconciliation) learnFailure(s *plannedStep, r *plan.Result) {
	refusal := apply.Classify(r.Err)
	switch refusal.Cause {
	case apply.Recreating, apply.Gone, apply.Exists, apply.Waits: // the object is another one by now
		delete(t.known.failures.recreations, plan.Identity(s.Document))
	}
	if refusal.Cause == apply.Recreating {
		t.known.failures.attempts.ForgetRepeats()
		if r.Deleted != nil {
			t.known.children.replaced[plan.Identity(s.Document)] = initialOf(r.Deleted.Object, s.Child.Policy.Initial)
		}
	}
	if refusal.Kind == apply.TextExists {
		s.forgetGenerated()
	}
	p, retry := s.describeFailure(r.Err)
	t.countRefusal(r.Err)
	now := t.r.now() // waits begin with the answer
	at := t.known.failures.attempts.Fail(s.Key(), s.contentHash(), retry, now)
	at.Problem, at.Obstacle = p, s.othersInTheWay(r.Err)
	s.reportProblem(p)
	t.found.again(at.Next.Sub(now))
}

// recordRecreation remembers that a child has to be recreated. The next plan decides
// whether it may.
func (t *reconciliation) recordRecreation(s *plannedStep, r plan.Recreation) {
	delete(t.known.failures.attempts, s.Key())
	gvk := s.Document.GroupVersionKind()
	t.known.failures.recreations[plan.Identity(s.Document)] = recreation{
		Recreation: r, gvk: gvk, schema: t.schemaOfKind(gvk), until: t.r.now().Add(t.subject.version.ResyncInterval()),
	}
	t.found.incomplete, t.replans = true, true
}

// knownRecreations returns the children that the API server refuses to change, as far as that is
// still known: a CRD that has changed since may accept the change, and so may a webhook.
func (t *reconciliation) knownRecreations() map[string]plan.Recreation {
	all := map[string]plan.Recreation{}
	for identity, r := range t.known.failures.recreations {
		if t.r.now().Before(r.until) && r.schema == t.schemaOfKind(r.gvk) {
			all[identity] = r.Recreation
		}
	}
	return all
}

// recordUnconfirmed remembers a write whose answer did not come, until one did.
func (s *plannedStep) recordUnconfirmed(err error) {
	gvk := s.Document.GroupVersionKind()
	if err == nil {
		delete(s.run.known.children.unconfirmed, s.childName())
	} else if apply.Classify(err).Cause == apply.TryAgain && !apply.NotSent(err) {
		s.run.known.children.unconfirmed[s.childName()] = unconfirmedWrite{cluster.Scope{GroupVersionKind: gvk}, s.Action == plan.Patch}
		s.run.r.recorded.doubt(gvk.GroupKind())
	}
}

// forgetGenerated forgets the texts that were generated for the file of a Secret: they are in
// it now, or the next reconciliation asks the API server which ones are.
func (s *plannedStep) forgetGenerated() {
	maps.DeleteFunc(s.run.texts.kept, func(at secretKey, _ string) bool { return at.file == s.Child.File })
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
