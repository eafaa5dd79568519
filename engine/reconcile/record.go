package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A record is what is on record on the kind's CRD: every kind of child that
// there may be, and every kind of object that may be patched.
type record struct {
	mu sync.Mutex
	// busy ends with the write that is under way; nil: there is none. The mutex is
	// not held meanwhile.
	busy chan struct{}
	// written is the CRD as our last write answered it: it stands in for the
	// cache until that has caught up.
	written metav1.Object
	// attempts say for how long nothing is written.
	attempts plan.Attempts
	// using counts the reconciliations that write objects of a kind just now.
	using map[schema.GroupKind]int
	// doubtful is when an answer to a write of a kind got lost: it may come true
	// later.
	doubtful map[schema.GroupKind]time.Time
	// forgetting are the kinds that are being taken off, by annotation: whoever
	// makes one waits, and puts it on record again.
	forgetting map[string][]schema.GroupKind
}

// recordKinds makes sure that every kind which the plan has children or
// patches of is on record, so that they are found again after any crash. It stays
// there until release is called. One worker at a time writes the record; the others wait, and
// come again if that takes long.
func (t recorder) recordKinds(ctx context.Context, p *plan.Plan) (release func(), err error) {
	for {
		crd, changed, busy, err := t.toRecord(p)
		if err != nil {
			return nil, err
		}
		release = func() { t.r.recorded.addUse(p, -1) }
		if len(changed) == 0 {
			return release, nil
		}
		if busy == nil {
			if err = t.writeRecord(ctx, crd, changed); err != nil {
				release()
			}
			return release, err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(firstWait):
			return nil, errRecording
		}
	}
}

// addUse counts a reconciliation that writes the kinds of a plan.
func (r *record) addUse(p *plan.Plan, turns int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countUse(p, turns)
}

// countUse does the same for a caller that holds the mutex.
func (r *record) countUse(p *plan.Plan, turns int) {
	if r.using == nil {
		r.using = map[schema.GroupKind]int{}
	}
	for _, gk := range append(withKinds(nil, p, false), withKinds(nil, p, true)...) {
		if r.using[gk] += turns; r.using[gk] == 0 {
			delete(r.using, gk)
		}
	}
}

// errRecording says that another worker writes the record, which takes long.
var errRecording = errors.New("recording child kinds: another resource's are being recorded")

// toRecord returns what is not recorded yet. If there is something, and no other worker writes,
// writeRecord must follow; otherwise, busy is closed with the write that is under way. Unless
// the caller has to wait for that, the reconciliation counts as one that writes.
func (t recorder) toRecord(p *plan.Plan) (crd metav1.Object, changed map[string]any, busy chan struct{}, err error) {
	t.r.recorded.mu.Lock()
	defer t.r.recorded.mu.Unlock()
	if crd = t.r.newestCRD(); crd == nil {
		return nil, nil, nil, fmt.Errorf("the CRD %s is gone", t.r.name)
	}
	changed = map[string]any{}
	for key, patches := range records {
		have := slices.DeleteFunc(observe.Recorded(crd.GetAnnotations()[key]),
			func(gk schema.GroupKind) bool { return slices.Contains(t.r.recorded.forgetting[key], gk) })
		if want := withKinds(have, p, patches); len(want) > len(have) {
			changed[key] = recordText(want)
		}
	}
	key := t.r.cluster.Shard.Key(api.AnnotationLeaving)
	if now := t.subject.FinalizationRecord(); now != "" && now != crd.GetAnnotations()[key] {
		changed[key] = now
	}
	if busy = t.r.recorded.busy; busy == nil && len(changed) > 0 {
		if err = busyError(t.r.recorded.attempts, plan.OpRecord, t.r.now()); err != nil {
			return nil, nil, nil, err
		}
		t.r.recorded.busy = make(chan struct{})
	}
	if busy == nil || len(changed) == 0 {
		t.r.recorded.countUse(p, 1)
	}
	return crd, changed, busy, nil
}

// newestCRD is the CRD as last seen or as our last write answered it, or nil. It
// needs the record's mutex.
func (r *Reconciler) newestCRD() metav1.Object {
	crd := r.cluster.CRD(r.name)
	if crd != nil && isNewer(r.recorded.written, crd) {
		return r.recorded.written
	}
	return crd
}

// writeRecord writes the record, and lets the next worker write.
func (t recorder) writeRecord(ctx context.Context, crd metav1.Object, changed map[string]any) error {
	var answer metav1.Object
	defer func() { t.r.recorded.endWrite(answer) }()
	written, err := apply.CRDsOf(t.r.cluster.Writer).Annotate(ctx, crd, changed)
	if err != nil {
		err = fmt.Errorf("recording child kinds on CRD %s: %w", t.r.name, err)
	}
	if t.r.recorded.recordSent(err, t.r.now()); err != nil {
		return err
	}
	t.countRequest(metrics.Record)
	answer = written
	return nil
}

// recordSent records the outcome of a write.
func (r *record) recordSent(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attempts == nil {
		r.attempts = plan.Attempts{}
	}
	recordBusy(r.attempts, plan.OpRecord, err, now)
}

// endWrite ends the write that is under way; answer is the CRD as it was answered, or
// nil.
func (r *record) endWrite(answer metav1.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if answer != nil {
		r.written = answer
	}
	close(r.busy)
	r.busy, r.forgetting = nil, nil
}

// notRecorded takes up that a record on the CRD or on the resource could not be
// written. A conflict is no trouble to tell of: the record was seen too late, and
// the next reconciliation sees what it is now. Nor is one that another resource is writing.
func (t *pass) notRecorded(err error) {
	if apierrors.IsConflict(err) || errors.Is(err, errRecording) {
		t.outdated = true
		return
	}
	t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonNotRecorded, Message: err.Error()})
	t.retryLater()
}

// withKinds adds the kinds of the steps that may write.
func withKinds(have []schema.GroupKind, p *plan.Plan, patches bool) []schema.GroupKind {
	want := slices.Clone(have)
	for i := range p.Steps {
		s := &p.Steps[i]
		gk := s.Document.GroupVersionKind().GroupKind()
		if s.Child.Policy.Patch == patches && s.Action != plan.Block && s.Action != plan.Refuse && !slices.Contains(want, gk) {
			want = append(want, gk)
		}
	}
	return want
}

// isNewer reports whether a is a later version of the same object as b.
func isNewer(a, b metav1.Object) bool {
	if a == nil || a.GetUID() != b.GetUID() {
		return false
	}
	c, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && c > 0
}

// records are the annotations with kinds, and whether these are patched.
var records = map[string]bool{api.AnnotationChildKinds: false, api.AnnotationPatchedKinds: true}

func recordText(kinds []schema.GroupKind) string {
	texts := make([]string, len(kinds))
	for i, gk := range kinds {
		texts[i] = gk.String()
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}
