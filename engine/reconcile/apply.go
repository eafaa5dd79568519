package reconcile

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// abreast is how many children of one resource are written at the same time.
const abreast = 8

// apply carries out the steps of a plan.
func (t *turn) apply(ctx context.Context, p *plan.Plan) {
	if p == nil {
		return
	}
	if err := t.recordKinds(ctx, p); err != nil {
		t.refusal(err)
		t.found.incomplete = true
		t.notRecorded(err)
		return
	}
	t.carryOut(ctx, p)
}

// carryOut carries out the steps of a plan whose kinds are on record.
func (t *turn) carryOut(ctx context.Context, p *plan.Plan) {
	var mu sync.Mutex // guards memory and findings
	var all sync.WaitGroup
	slots := make(chan struct{}, abreast)
	var open []*write
	current := map[string]bool{}
	for i := range p.Steps {
		s := &write{turn: t, Step: &p.Steps[i], mu: &mu, now: time.Now()}
		current[s.key()], current[s.failedKey()] = true, true
		if !s.settled() {
			open = append(open, s)
		}
	}
	t.skipped(p)
	maps.DeleteFunc(t.memory.setbacks, func(key string, _ *setback) bool { return !current[key] })
	for _, s := range open {
		slots <- struct{}{}
		all.Go(func() {
			s.send(ctx)
			<-slots
		})
	}
	all.Wait()
}

// A write is one step that is being carried out.
type write struct {
	*turn
	*plan.Step
	mu       *sync.Mutex
	now      time.Time
	resource observe.Resource
	to       *apply.Writer
	// answer is the object as the last write was answered, over the object that
	// was updated; or nil.
	answer *unstructured.Unstructured
	over   metav1.Object
}

func (w *write) child() string { return childName(w.Step) }

// key tells setbacks of a child apart: creating it, making it anew because it
// failed, which must back off whichever object it is, and changing this object.
func (w *write) key() string {
	switch {
	case w.Action == plan.Recreate:
		return w.failedKey()
	case w.Live != nil:
		return w.child() + "/" + string(w.Live.Meta.GetUID())
	}
	return w.child()
}

func (w *write) failedKey() string { return w.child() + "/failed" }

// settled says whether a step needs no request now, and reports why not.
func (w *write) settled() bool {
	key := w.key()
	switch w.Action {
	case plan.Keep, plan.Done:
		delete(w.memory.setbacks, key)
		w.quiet()
		return true
	case plan.Hold:
		w.problem(status.Waiting, "ChildWaiting", "waiting to apply %s: %s", w.Why)
		return true
	case plan.Refuse:
		w.problem(status.Stalled, NotOurs, "%s is there already and is left alone: %s", w.Why)
		w.found.again(backOff(0, longestGap, longestGap))
		return true
	}
	if s := w.memory.due(key, w.Hash, w.now); s != nil && !w.approved(s) {
		w.report(s.problem)
		if !s.until.IsZero() {
			w.found.again(s.until.Sub(w.now))
		}
		return true
	}
	return w.contested()
}

// named is how people call the child.
func (w *write) named() string { return w.Document.GetKind() + " " + place(w.Document) }

func (w *write) problem(s status.Severity, reason, format, why string) {
	w.report(status.Problem{Severity: s, Reason: reason, Message: fmt.Sprintf(format, w.named(), why)})
}

func (w *write) report(p status.Problem) {
	if p.File == "" {
		p.File = w.Child.Doc.Place().String()
	}
	w.found.incomplete = true
	w.found.add(p)
}

// send sends what the step needs and takes up the answer.
func (w *write) send(ctx context.Context) {
	err := w.prepare()
	if err == nil {
		switch w.Action {
		case plan.Create:
			err = w.create(ctx)
		case plan.Update:
			err = w.update(ctx, w.Live.Meta)
		case plan.Recreate:
			err = w.recreate(ctx, w.Live.Meta, "it is made anew: "+w.Why)
		case plan.Patch:
			err = w.patch(ctx)
		}
	}
	w.locked(func() { w.conclude(err) })
}

// prepare finds out where and as whom to write.
func (w *write) prepare() error {
	served, found := w.cluster.Served().Resource(w.Document.GroupVersionKind())
	if !found {
		return soon("the cluster does not have this kind any more")
	}
	if served.Namespaced != (w.Document.GetNamespace() != "") {
		return seldom(status.Stalled, "NotAllowed", "it is "+map[bool]string{true: "namespaced", false: "cluster-scoped"}[served.Namespaced]+
			" in this cluster, which its file and kind.yaml do not say")
	}
	var err error
	w.resource = served
	w.to, err = w.writer()
	return err
}

func (w *write) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *write) create(ctx context.Context) error {
	if w.again() {
		if err := w.lives(ctx); err != nil {
			return err
		}
	}
	answer, err := w.to.Create(ctx, w.resource, w.Document)
	if err == nil {
		w.did(metrics.Create)
		return w.take(ctx, answer)
	}
	if apply.Understand(err, w.Document.Object).Cause != apply.Exists {
		return err
	}
	there, err := w.to.Whose(ctx, w.resource, w.Document.GetNamespace(), w.Document.GetName())
	if err != nil {
		return err
	}
	return w.takeOver(ctx, there)
}

// takeOver decides about an object that is there although it was not seen.
func (w *write) takeOver(ctx context.Context, there *metav1.PartialObjectMetadata) error {
	if there.GetDeletionTimestamp() != nil {
		return soon("an object of this name is being deleted")
	}
	var made bool
	w.locked(func() { _, made = w.memory.applied[there.GetUID()] })
	ok, whose := plan.TakeOver(w.owner(), there, made, w.Child.Policy.Adopt)
	if ok {
		return w.takeAsItIs(ctx, there)
	}
	if old, _ := api.ParseOwner(there.GetAnnotations()[api.AnnotationOwner]); old == w.owner().Owner {
		return soon("it belongs to an earlier resource of this name and will be collected")
	}
	return seldom(status.Stalled, NotOurs, "an object of this name is there already and is left alone: "+whose)
}

// takeAsItIs takes an object over. What was drawn for a new Secret never
// replaces what is in one; what is only set initially keeps its live value.
func (w *write) takeAsItIs(ctx context.Context, there metav1.Object) error {
	if w.drawn() {
		w.locked(w.drawnInVain)
		return soon("the Secret is there already, and what was drawn for it is in it")
	}
	if len(w.Child.Policy.Initial) > 0 {
		live, err := w.to.Read(ctx, w.resource, there.GetNamespace(), there.GetName())
		if err != nil {
			return err
		}
		seen := &observe.Live{GVK: w.Document.GroupVersionKind(), Meta: live, Body: live.Object}
		if w.Document, w.Hash, err = plan.Document(w.owner(), w.Child, seen); err != nil {
			return err
		}
		there = live
	}
	return w.update(ctx, there)
}

// A held is a write that was not made, why, and when to look again.
type held struct {
	severity        status.Severity
	reason, message string
	when            retry
}

func (h *held) Error() string { return h.message }

// soon holds a write until the present object is gone, which nobody may tell.
func soon(message string) error {
	return &held{status.Waiting, "ChildWaiting", message, retry{most: 10 * time.Second}}
}

// seldom holds a write for long.
func seldom(s status.Severity, reason, message string) error {
	return &held{s, reason, message, retry{atLeast: 5 * time.Second, most: longestGap}}
}

func (w *write) update(ctx context.Context, o metav1.Object) error {
	doc := w.Document
	w.over = o
	if len(w.Child.Policy.Initial) > 0 { // live values are sent: they must be the present ones
		doc = doc.DeepCopy()
		doc.SetResourceVersion(o.GetResourceVersion())
	}
	answer, err := w.to.Update(ctx, w.resource, doc, o.GetUID())
	if err == nil {
		w.did(metrics.Update)
		w.corrected()
		return w.take(ctx, answer)
	}
	refusal := apply.Understand(err, w.Document.Object)
	if refusal.Cause != apply.Invalid || !w.Child.Policy.RecreateOnImmutable || !plan.Ours(w.owner(), o) {
		return err
	}
	if _, probed := w.to.Probe(ctx, w.resource, w.Document); probed != nil {
		return err // the content itself is refused, not the change
	}
	if err := w.mayReplace(); err != nil {
		return unapproved(err)
	}
	return w.recreate(ctx, o, "it is made anew, since the API refuses to change it: "+refusal.Error())
}

// recreate deletes an object; its deletion wakes us, and it is created again.
func (w *write) recreate(ctx context.Context, o metav1.Object, why string) error {
	how := metav1.DeletePropagationBackground
	if w.Child.Policy.KeepDependents {
		how = metav1.DeletePropagationOrphan
	}
	if err := w.to.Delete(ctx, w.resource, o, how); err != nil {
		return err
	}
	if w.rehearsal != nil { // else it is created once the deletion wakes us
		var err error
		if w.answer, err = w.to.Probe(ctx, w.resource, w.Document); err != nil {
			return err
		}
	}
	w.did(metrics.Recreate)
	return seldom(status.Waiting, Recreating, why)
}
