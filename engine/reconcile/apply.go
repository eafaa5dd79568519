package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/own"
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
		t.found.incomplete = true
		t.found.add(status.Problem{Severity: status.Retry, Reason: "NotRecorded", Message: err.Error()})
		t.found.again(backOff(t.memory.tries, 0, longWait))
		return
	}
	var mu sync.Mutex // guards memory and findings
	var all sync.WaitGroup
	slots := make(chan struct{}, abreast)
	for i := range p.Steps {
		s := &write{turn: t, Step: &p.Steps[i], mu: &mu, now: time.Now()}
		if s.settled() {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			s.carryOut(ctx)
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
}

// key tells setbacks of a child apart: creating it, and changing this object.
func (w *write) key() string {
	o := w.Document
	key := o.GetKind() + "/" + o.GroupVersionKind().Group + "/" + o.GetNamespace() + "/" + o.GetName()
	if w.Live != nil {
		key += "/" + string(w.Live.Meta.GetUID())
	}
	return key
}

// settled says whether a step needs no request now, and reports why not.
func (w *write) settled() bool {
	key := w.key()
	switch w.Action {
	case plan.Keep:
		delete(w.memory.setbacks, key)
		return true
	case plan.Hold:
		w.problem(status.Waiting, "ChildWaiting", "waiting to apply %s: %s", w.Why)
		return true
	case plan.Refuse:
		w.problem(status.Stalled, "NotOurs", "%s is there already and is left alone: %s", w.Why)
		return true
	}
	if s := w.memory.due(key, w.Hash, w.now); s != nil {
		w.report(s.problem)
		if !s.until.IsZero() {
			w.found.again(s.until.Sub(w.now))
		}
		return true
	}
	return false
}

// named is how people call the child.
func (w *write) named() string {
	return w.Document.GetKind() + " " + w.Document.GetNamespace() + "/" + w.Document.GetName()
}

func (w *write) problem(s status.Severity, reason, format, why string) {
	w.report(status.Problem{Severity: s, Reason: reason, Message: fmt.Sprintf(format, w.named(), why)})
}

func (w *write) report(p status.Problem) {
	w.found.incomplete = true
	w.found.add(p)
}

// carryOut sends what the step needs and takes up the answer.
func (w *write) carryOut(ctx context.Context) {
	gvk := w.Document.GroupVersionKind()
	served, found := w.cluster.Served().Resource(gvk)
	if !found || !served.Namespaced {
		w.locked(func() {
			w.problem(status.Stalled, "NotAllowed", "%s cannot be a child: %s", "it is cluster-scoped in this cluster")
		})
		return
	}
	w.resource = served
	var err error
	switch w.Action {
	case plan.Create:
		err = w.create(ctx)
	case plan.Update:
		err = w.update(ctx, w.Live.Meta.GetUID())
	case plan.Recreate:
		err = w.recreate(ctx, "recreating it: "+w.Why)
	}
	w.locked(func() { w.conclude(err) })
}

func (w *write) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *write) create(ctx context.Context) error {
	answer, err := w.cluster.Writer.Create(ctx, w.resource, w.Document)
	if err == nil {
		applies.WithLabelValues(w.name, "create").Inc()
		return w.take(ctx, answer)
	}
	if apply.Understand(err, w.Document.Object).Cause != apply.Exists {
		return err
	}
	there, err := w.cluster.Writer.Whose(ctx, w.resource, w.Document.GetNamespace(), w.Document.GetName())
	if err != nil {
		return err
	}
	return w.takeOver(ctx, there)
}

// takeOver decides about an object that is there although it was not seen.
func (w *write) takeOver(ctx context.Context, there *metav1.PartialObjectMetadata) error {
	if there.GetDeletionTimestamp() != nil {
		return &held{status.Waiting, "ChildWaiting", "an object of this name is being deleted"}
	}
	ok, whose := plan.TakeOver(w.owner(), there)
	if ok {
		return w.update(ctx, there.GetUID())
	}
	if old, _ := api.ParseOwner(there.GetAnnotations()[api.AnnotationOwner]); old == w.owner().Owner {
		return &held{status.Waiting, "ChildWaiting", "it belongs to an earlier resource of this name and will be collected"}
	}
	return &held{status.Stalled, "NotOurs", "an object of this name is there already and is left alone: " + whose}
}

// A held is a write that was not made, and why.
type held struct {
	severity        status.Severity
	reason, message string
}

func (h *held) Error() string { return h.message }

func (w *write) update(ctx context.Context, uid types.UID) error {
	answer, err := w.cluster.Writer.Update(ctx, w.resource, w.Document, uid)
	if err == nil {
		applies.WithLabelValues(w.name, "update").Inc()
		return w.take(ctx, answer)
	}
	refusal := apply.Understand(err, w.Document.Object)
	if refusal.Cause != apply.Invalid || !w.Child.Policy.RecreateOnImmutable {
		return err
	}
	if probed := w.cluster.Writer.Probe(ctx, w.resource, w.Document); probed != nil {
		return err // the content itself is refused, not the change
	}
	return w.recreate(ctx, "it is made anew, since the API refuses to change it: "+refusal.Error())
}

// recreate deletes the live object; its deletion wakes us, and it is created
// again.
func (w *write) recreate(ctx context.Context, why string) error {
	if w.Live == nil {
		return &held{status.Waiting, "Recreating", why}
	}
	if err := w.cluster.Writer.Delete(ctx, w.resource, w.Live.Meta); err != nil {
		return err
	}
	applies.WithLabelValues(w.name, "recreate").Inc()
	return &held{status.Waiting, "Recreating", why}
}

// take takes up what the server made of the document.
func (w *write) take(ctx context.Context, answer *unstructured.Unstructured) error {
	differ := own.Differences(w.Document.Object, answer.Object)
	if i := own.CoOwner(answer.GetManagedFields(), api.FieldManager); i >= 0 {
		dropped, err := w.cluster.Writer.DropEntry(ctx, w.resource, answer, i)
		if err != nil {
			return err
		}
		answer = dropped
	}
	entry, _, err := own.Ours(answer.GetManagedFields(), api.FieldManager)
	if err != nil {
		return fmt.Errorf("reading managedFields of %s: %w", w.named(), err)
	}
	w.cluster.Children.Note(answer.GroupVersionKind(), answer)
	w.locked(func() {
		w.memory.applied[answer.GetUID()] = plan.Memory{Hash: w.Hash, Digest: entry.Digest, Time: entry.Time}
		delete(w.memory.changed, answer.GetUID())
		for _, d := range differ {
			if !d.Normalised {
				w.memory.changed[answer.GetUID()] = append(w.memory.changed[answer.GetUID()], d.Path)
			}
		}
	})
	return nil
}

// conclude turns the outcome of a write into findings and memory.
func (w *write) conclude(err error) {
	key := w.key()
	if err == nil {
		delete(w.memory.setbacks, key)
		return
	}
	var h *held
	p, when := status.Problem{}, retry{now: w.now}
	if errors.As(err, &h) {
		p = status.Problem{Severity: h.severity, Reason: h.reason, Message: w.named() + ": " + h.message}
		when.atLeast, when.most = 5*time.Second, longestGap
	} else {
		p, when = w.refused(err)
	}
	w.memory.fail(key, w.Hash, p, when)
	w.report(p)
	if s := w.memory.setbacks[key]; !s.until.IsZero() {
		w.found.again(s.until.Sub(w.now))
	}
}
