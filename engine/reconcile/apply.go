package reconcile

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// apply carries out the steps of a plan.
func (t *reconciliation) apply(ctx context.Context, p *plan.Plan) {
	if p == nil {
		return
	}
	release, err := t.recordKinds(ctx, p)
	if err != nil {
		t.refusal(err)
		t.found.incomplete = true
		t.notRecorded(err)
		return
	}
	defer release()
	t.execute(ctx, p)
}

// A write is one step that is being carried out.
type stepExecutor struct {
	run      *reconciliation
	step     *plan.Step
	mu       *sync.Mutex
	now      time.Time
	resource live.Resource
	to       *apply.Writer
	// content identifies what is written: see contentOf.
	content string
	// answer is the object as the last write was answered, over the object that
	// was updated; or nil.
	answer *unstructured.Unstructured
	over   metav1.Object
	// predecessor is the object, as it was read, that is to be created again and whose
	// values the next one takes over; or nil.
	predecessor *unstructured.Unstructured
}

func (w *stepExecutor) child() string { return childName(w.step) }

// key tells failed writes of a child apart: creating it, making it again because it
// failed, which must back off whichever object it is, and changing this object.
func (w *stepExecutor) key() string {
	switch {
	case w.step.Action == plan.Recreate:
		return w.failedKey()
	case w.step.Live != nil:
		return w.child() + "/" + string(w.step.Live.Meta.GetUID())
	}
	return w.child()
}

// contentOf identifies what a step writes. A CRD that changed may accept what it refused,
// so that the same document counts as other content.
func (t *reconciliation) contentOf(s *plan.Step) string {
	served, found := t.r.cluster.Served().Resource(s.Document.GroupVersionKind())
	if !found {
		return s.Hash
	}
	return s.Hash + " " + schemaOf(t.r.cluster.CRD(served.GVR.GroupResource().String()))
}

// schemaOf identifies what a CRD says of its objects; "" of a kind without CRD.
func schemaOf(crd metav1.Object) string {
	if crd == nil {
		return ""
	}
	return fmt.Sprintf("%s/%d", crd.GetUID(), crd.GetGeneration())
}

func (w *stepExecutor) failedKey() string { return w.child() + "/failed" }

// settled reports whether a step needs no request now, and reports why not.
func (w *stepExecutor) settled() bool {
	key := w.key()
	switch w.step.Action {
	case plan.Keep, plan.Done:
		delete(w.run.known.failures.failedWrites, key)
		w.reportFieldConflict()
		w.run.releaseRepeat(w.child())
		w.run.reportOscillation(w.child(), w.named(), w.step.Child.Doc.Place().String())
		return true
	case plan.Block:
		w.problem(status.Waiting, api.ReasonChildWaiting, "waiting to apply %s: %s", w.step.Why)
		return true
	case plan.Refuse:
		w.problem(status.Stalled, api.ReasonNotOurs, "%s is there already and is left alone: %s", w.step.Why)
		w.run.found.again(backOff(0, longestGap, longestGap))
		return true
	}
	if s := w.run.known.failures.due(key, w.content, w.now); s != nil && !w.approved(s) && !w.isWayChanged(s) {
		w.report(s.problem)
		if !s.until.IsZero() {
			w.run.found.again(s.until.Sub(w.now))
		}
		return true
	}
	return w.inFieldConflict() || w.oscillates()
}

// named is how people call the child.
func (w *stepExecutor) named() string {
	return w.step.Document.GetKind() + " " + place(w.step.Document)
}

func (w *stepExecutor) problem(s status.Severity, reason, format, why string) {
	w.report(status.Problem{Severity: s, Reason: reason, Message: fmt.Sprintf(format, w.named(), why)})
}

func (w *stepExecutor) report(p status.Problem) {
	if p.File == "" {
		p.File = w.step.Child.Doc.Place().String()
	}
	w.run.found.incomplete = true
	w.run.found.add(p)
}

// send sends what the step needs and takes up the answer.
func (w *stepExecutor) send(ctx context.Context) {
	err := w.write(ctx)
	if panics.In(err) != nil {
		NotePanic(w.run.r.name, err)
		err = seldom(status.Retry, outcomes[apply.TryAgain].Reason, err.Error())
	}
	w.locked(func() { w.conclude(err) })
}

// write sends what the step needs. Steps are written beside each other, where nobody else
// catches a panic: it would end the process that serves all other resources.
func (w *stepExecutor) write(ctx context.Context) (err error) {
	defer panics.Catch(&err, "applying it")
	if err := w.prepare(); err != nil {
		return err
	}
	switch w.step.Action {
	case plan.Create:
		return w.create(ctx)
	case plan.Update:
		return w.update(ctx, w.step.Live.Meta)
	case plan.Recreate:
		return w.recreate(ctx, w.step.Live.Meta, "it is recreated: "+w.step.Why)
	case plan.Patch:
		return w.patch(ctx)
	}
	return nil
}

// prepare finds out where and as whom to write.
func (w *stepExecutor) prepare() error {
	served, found := w.run.r.cluster.Served().Resource(w.step.Document.GroupVersionKind())
	if !found {
		return soon("the cluster does not have this kind any more")
	}
	if served.Namespaced != (w.step.Document.GetNamespace() != "") {
		return seldom(status.Stalled, api.ReasonNotAllowed,
			"it is "+map[bool]string{true: "namespaced", false: "cluster-scoped"}[served.Namespaced]+
				" in this cluster, which its file and kind.yaml do not say")
	}
	var err error
	w.resource = served
	w.to, err = w.run.subject.writer()
	return err
}

func (w *stepExecutor) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *stepExecutor) create(ctx context.Context) error {
	if w.again() {
		if err := w.run.confirmedAlive(ctx); err != nil {
			return err
		}
	}
	answer, err := w.to.Create(ctx, w.resource, w.step.Document)
	if err == nil {
		w.run.executor.wrote(metrics.Create)
		w.locked(func() {
			w.run.known.failures.progressed()
			delete(w.run.known.children.replaced, plan.Identity(w.step.Document))
		})
		return w.recordAnswer(ctx, answer)
	}
	if apply.Classify(err).Cause != apply.Exists || w.step.IfExists != plan.Adopt {
		return err
	}
	there, err := w.to.GetMetadata(ctx, w.resource, w.step.Document.GetNamespace(), w.step.Document.GetName())
	if err != nil {
		return err
	}
	return w.takeOver(ctx, there)
}

// takeOver decides about an object that is there although it was not seen.
func (w *stepExecutor) takeOver(ctx context.Context, there *metav1.PartialObjectMetadata) error {
	if there.GetDeletionTimestamp() != nil {
		return soon("an object of this name is being deleted")
	}
	var made bool
	w.locked(func() { _, made = w.run.known.children.applied[there.GetUID()] })
	ok, whose := plan.TakeOver(w.run.subject.owner(), there, made, w.step.Child.Policy.Adopt)
	if ok {
		return w.adoptUnchanged(ctx, there)
	}
	if old, _ := api.ParseOwner(there.GetAnnotations()[api.AnnotationOwner]); old == w.run.subject.owner().Owner {
		return soon("it belongs to an earlier resource of this name and will be collected")
	}
	return seldom(status.Stalled, api.ReasonNotOurs, "an object of this name is there already and is left alone: "+whose)
}

// adoptUnchanged takes an object over. What was drawn for a new Secret never
// replaces what is in one; what is only set initially keeps its live value.
func (w *stepExecutor) adoptUnchanged(ctx context.Context, there metav1.Object) error {
	if w.drawn() {
		w.locked(w.forgetDrawn)
		return soon("the Secret is there already, and what was drawn for it is in it")
	}
	_, applied := ownership.MarkAt(there.GetManagedFields(), api.FieldManager, "")
	w.step.ReadsFirst = !applied || len(w.step.Child.Policy.Initial) > 0
	return w.update(ctx, there)
}

// A deferred is a write that was not made, why, and when to look again.
type deferred struct {
	severity        status.Severity
	reason, message string
	when            retry
}

func (h *deferred) Error() string { return h.message }

// soon holds a write until the present object is gone, which nobody may tell.
func soon(message string) error {
	return &deferred{status.Waiting, api.ReasonChildWaiting, message, retry{most: 10 * time.Second}}
}

// seldom holds a write for long.
func seldom(s status.Severity, reason, message string) error {
	return &deferred{s, reason, message, retry{atLeast: 5 * time.Second, most: longestGap}}
}

func (w *stepExecutor) update(ctx context.Context, o metav1.Object) error {
	w.over = o
	if w.step.ReadsFirst {
		read, done, err := w.restore(ctx, o, nil)
		if done || err != nil {
			return w.orReplace(ctx, o, err)
		}
		o = read
	}
	err := w.applyTo(ctx, o)
	if refusal := apply.Classify(err); err != nil && mayRestore(refusal) {
		if _, done, restored := w.restore(ctx, o, refusal); done {
			err = restored
		}
	}
	return w.orReplace(ctx, o, err)
}

// orReplace makes an object again if its change was refused, where its file allows that.
func (w *stepExecutor) orReplace(ctx context.Context, o metav1.Object, err error) error {
	if err == nil {
		return nil
	}
	return w.replace(ctx, o, err)
}

// applyTo applies the document to the object.
func (w *stepExecutor) applyTo(ctx context.Context, o metav1.Object) error {
	doc := w.step.Document
	if len(w.step.Child.Policy.Initial) > 0 { // live values are sent: they must be the present ones
		doc = doc.DeepCopy()
		doc.SetResourceVersion(o.GetResourceVersion())
	}
	answer, err := w.to.Update(ctx, w.resource, doc, o.GetUID())
	if err == nil {
		w.run.executor.wrote(metrics.Update)
		w.corrected()
		return w.recordAnswer(ctx, answer)
	}
	return err
}
