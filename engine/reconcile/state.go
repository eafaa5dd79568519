package reconcile

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// A resourceState is what this process knows of one resource beyond what the
// cluster says, in three parts. Losing it costs at most a write for each child;
// nothing depends on it. Only the worker that serves the resource uses it.
type resourceState struct {
	uid      types.UID
	children childMemory
	failures failures
	told     told
	// writes counts what was written of the resource. lastWrite is when that was last.
	writes    int64
	lastWrite time.Time
}

func newResourceState(resource *unstructured.Unstructured) *resourceState {
	return &resourceState{
		uid: resource.GetUID(), children: newChildMemory(), failures: newFailures(),
		told: told{askedAt: resource.GetAnnotations()[api.AnnotationReconcileAt]},
	}
}

// A childMemory is what is known of the children from earlier writes.
type childMemory struct {
	// applied is what came of applies, by uid of the child.
	applied plan.Memories
	// made is the uid of each child as last applied or seen, by child.
	made map[string]types.UID
	// replaced are the bodies of objects that were deleted to be created again, by
	// [plan.Identity].
	replaced map[string]map[string]any
	// unconfirmed are writes whose answer did not come, by child.
	unconfirmed map[string]unconfirmedWrite
	// suspected: what another operator may have written was added to unconfirmed.
	suspected bool
	// lives: the server said of the resource that it is there to stay.
	lives bool
	// drawn are texts that were drawn and did not get into a Secret yet.
	drawn map[secretKey]string
	// changed are the paths that the server changed in what was applied, by
	// "Kind/name" of the child.
	changed map[string][]string
	// temporary are the children in a state that counts once it has lasted, by uid; nil
	// until inheritHealth.
	temporary map[types.UID]temporaryState
	// notReady are the children whose Pods are asked, by child.
	notReady map[string]*notReadyChild
}

func newChildMemory() childMemory {
	return childMemory{applied: plan.Memories{}, made: map[string]types.UID{}, unconfirmed: map[string]unconfirmedWrite{},
		replaced: map[string]map[string]any{}, drawn: map[secretKey]string{}}
}

// The failures of a resource are what did not succeed, and when to try it again.
type failures struct {
	// attempts are what failed, and what was deleted and is seen still.
	attempts plan.Attempts
	// recreations are the children that have to be recreated, by [plan.Identity].
	recreations map[string]recreation
}

func newFailures() failures {
	return failures{
		attempts: plan.Attempts{}, recreations: map[string]recreation{},
	}
}

// forget forgets what was not to be tried again.
func (m *failures) forget() {
	attempts := m.attempts
	attempts.Reset()
	*m = newFailures()
	m.attempts = attempts
}

// A told is what was said of a resource, and what it asked for.
type told struct {
	// answer is the resource as our last write of it was answered, when that
	// was, and sent the hash of the last status.
	answer     *unstructured.Unstructured
	answeredAt time.Time
	sent       string
	// saidAt is when a status was written last.
	saidAt time.Time
	// reconciliations counts what was reported; since is when each problem of the
	// last time came up.
	reconciliations int64
	since           map[string]int64
	// problems are those that were told of, or that the status has told before.
	problems map[string]bool
	// keepsChildren is whether the owner references of the children were last seen to be
	// those of a resource that keeps them when it is deleted. It is nil before that.
	keepsChildren *bool
	// notReady: the last event said that it is not ready.
	notReady bool
	// announced is what the last event said of a resource without status.
	announced string
	// askedAt is what the resource says about reconciling again.
	askedAt string
	// standing is what metrics count the resource as.
	standing metrics.Standing
}

// A recreation is a child that has to be recreated, the kind and the schema of the CRD with
// which that was found out, and when it is to be found out again.
type recreation struct {
	plan.Recreation
	gvk    schema.GroupVersionKind
	schema string
	until  time.Time
}

func (r *Reconciler) stateOf(name types.NamespacedName, resource *unstructured.Unstructured) *resourceState {
	uid := resource.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.known[name]
	if m == nil || m.uid != uid {
		before := metrics.Standing{}
		if m != nil {
			delete(r.deletions, m.uid)
			delete(r.reassigned, m.uid)
			delete(r.names, m.uid)
			before = m.told.standing
		}
		r.names[uid] = name
		m = newResourceState(resource)
		r.known[name] = m
		m.told.standing = r.standing(resource, nil)
		metrics.Kind(r.name).Stands(before, m.told.standing)
	}
	return m
}

// End forgets everything.
func (r *Reconciler) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.known {
		r.readsNothing(name)
	}
	clear(r.known)
	clear(r.names)
	clear(r.deletions)
	clear(r.woken)
	clear(r.pending)
	clear(r.reassigned)
}

func (r *Reconciler) forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, known := r.known[name]; known {
		delete(r.deletions, m.uid)
		delete(r.reassigned, m.uid)
		delete(r.names, m.uid)
		r.readsNothing(name)
		metrics.Kind(r.name).Stands(m.told.standing, metrics.Standing{})
	}
	delete(r.known, name)
	r.unpend(name)
}

// readsNothing ends the watches that only this resource needs.
func (r *Reconciler) readsNothing(name types.NamespacedName) {
	r.cluster.Reads.Record(api.Owner{Kind: r.name, Namespace: name.Namespace, Name: name.Name}, nil)
}

// newest is the resource from the cache, or the answer to our last status
// write while the cache has not caught up with it.
func (m *told) newest(cached *unstructured.Unstructured, now time.Time) *unstructured.Unstructured {
	if m.answer == nil {
		return cached
	}
	// A cache that is behind for so long has gone back, as after a restore.
	c, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), m.answer.GetResourceVersion())
	if err != nil || c >= 0 || now.Sub(m.answeredAt) > longWait {
		m.answer = nil
		return cached
	}
	return m.answer
}

// answered takes the resource as a write of it was answered.
func (m *told) answered(answer *unstructured.Unstructured, now time.Time) {
	m.answer, m.answeredAt = answer, now
}

// recordAnswer notes what came of applying a child, and forgets the object which
// had its name before.
func (m *childMemory) recordAnswer(child string, uid types.UID, applied plan.Memory) {
	if old := m.made[child]; old != uid {
		delete(m.applied, old)
	}
	m.made[child], m.applied[uid] = uid, applied
}

// keep forgets children that the plan does not have any more.
func (m *resourceState) keep(p *plan.Plan) {
	rendered, steps, uids, refs := map[string]bool{}, map[string]bool{}, map[types.UID]bool{}, map[plan.Ref]bool{}
	for i := range p.Steps {
		o := p.Steps[i].Document
		rendered[plan.Identity(o)], refs[p.Steps[i].Ref()] = true, true
		steps[childName(&p.Steps[i])], steps[shortName(o.GetKind(), o.GetName())] = true, true
		if live := p.Steps[i].Live; live != nil {
			m.children.made[childName(&p.Steps[i])] = live.Meta.GetUID()
			uids[live.Meta.GetUID()] = true
			uids[plan.PatchKey(live.Meta.GetUID(), p.Steps[i].Child.Policy.Subresource)] = true
		}
	}
	maps.DeleteFunc(m.children.made, func(child string, _ types.UID) bool { return !steps[child] })
	maps.DeleteFunc(m.children.replaced, func(child string, _ map[string]any) bool { return !rendered[child] })
	maps.DeleteFunc(m.failures.recreations, func(child string, _ recreation) bool { return !rendered[child] })
	maps.DeleteFunc(m.failures.attempts, func(k plan.Key, _ *plan.Attempt) bool {
		return (k.Operation == plan.OpTakeBack || k.Operation == plan.OpRepeat && k != plan.StatusRepeatKey) && !refs[k.Ref]
	})
	maps.DeleteFunc(m.children.changed, func(child string, _ []string) bool { return !steps[child] })
	for _, uid := range m.children.made {
		uids[uid] = true
	}
	maps.DeleteFunc(m.children.temporary, func(uid types.UID, _ temporaryState) bool { return !uids[uid] })
	maps.DeleteFunc(m.children.applied, func(uid types.UID, _ plan.Memory) bool { return !uids[uid] })
}

// childName names a child, or what is patched, whichever object it is.
func childName(s *plan.Step) string {
	o := s.Document
	name := o.GetKind() + "/" + o.GroupVersionKind().Group + "/" + o.GetNamespace() + "/" + o.GetName()
	if s.Child.Policy.Patch {
		name += "/patch/" + s.Child.Policy.Subresource
	}
	return name
}

// How long to wait.
const (
	firstWait  = time.Second
	longWait   = time.Minute
	longestGap = 5 * time.Minute
)

// retryLater reconciles the resource again, later each time, since something that the
// reconciliation depends on could not be read or recorded.
func (t *reconciliation) retryLater() {
	now := t.r.now()
	at := t.known.failures.attempts.Fail(plan.Key{Operation: plan.OpPrepare}, "", plan.Retry{Max: longWait}, now)
	t.found.again(at.Next.Sub(now))
}

// recordBusy remembers for how long something is not sent, since the API server was busy,
// down or unreachable. Unlike after a failed write, what is to be sent may change meanwhile.
func recordBusy(a plan.Attempts, o plan.Operation, err error, now time.Time) {
	k := plan.Key{Operation: o}
	if err == nil {
		delete(a, k)
	} else if refusal := apply.Classify(err); refusal.Cause == apply.TryAgain {
		a.Fail(k, "", plan.Retry{Min: refusal.RetryAfter, Max: longWait}, now).Err = err
	}
}

// busyError returns why something is not to be sent now, or nil.
func busyError(a plan.Attempts, o plan.Operation, now time.Time) error {
	if at := a.Blocking(plan.Key{Operation: o}, "", now); at != nil {
		return at.Err
	}
	return nil
}
