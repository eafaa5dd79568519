package reconcile

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// A Memory is what this process has learned of one resource by reconciling it, and uses for
// the next reconciliation. Losing it costs at most one write for each child, and the initial values of an object
// that was deleted just now to be created again. Only the worker
// that reconciles the resource uses it. What others tell of a resource between two
// reconciliations is kept by the Reconciler: arrivals, deletions, and when it was enqueued.
type Memory struct {
	uid types.UID
	// attempts determine when to try again what failed.
	attempts plan.Attempts
	// applied are the outcomes of writes, by which it is cheap to prove that a child has not
	// changed since.
	applied plan.AppliedObjects
	// made is the uid of each child as last written or seen.
	made map[plan.Ref]types.UID
	// recreations are the children that have to be recreated. replaced are the bodies of objects
	// that were deleted to be created again.
	recreations map[plan.Ref]recreation
	replaced    map[plan.Ref]map[string]any
	// unanswered are the writes without a response, by child. They may have succeeded.
	unanswered map[plan.Ref]unansweredWrite
	// since is the tick at which this process became the writer of the resource; 0 if it always was.
	// isInherited is true if another process may have created children before that which only our
	// finalizer cleans up.
	since       uint64
	isInherited bool
	// isCurrent is true once the cached resource is known to be as new as the last write of the
	// process before this one.
	isCurrent bool
	// drawn are texts that were generated and are in no Secret yet.
	drawn map[observe.SecretKey]string
	// changed are the paths that the API server changed in what was applied, by "Kind/name" of the
	// child; nil until inheritOverridden.
	changed map[string][]string
	// temporary are the children in a state that counts once it has lasted, by uid; nil until
	// inheritHealth.
	temporary map[types.UID]temporaryState
	// notReady are the children whose Pods are listed.
	notReady map[plan.Ref]*notReadyChild
	// writes is the number of writes, and lastWrite the time of the last one.
	writes    int64
	lastWrite time.Time
	// requestedAt is the last value of the annotation jacquard.dev/reconcile-at.
	requestedAt string
	// deletionSeenAt is when this process first saw that the resource is being deleted.
	deletionSeenAt time.Time
	published
}

// A published is what was last published of a resource.
type published struct {
	// answer is the resource as the last write of it was answered, at answeredAt.
	answer     *unstructured.Unstructured
	answeredAt time.Time
	// sent is the hash of the last status, which was written at saidAt.
	sent   string
	saidAt time.Time
	// reports is the number of reports, and since the first of them with each of the present
	// problems.
	reports int64
	since   map[string]int64
	// problems are those that an event, or the status, has reported.
	problems map[string]bool
	// keepsChildren is whether the owner references of the children were last seen to be
	// those of a resource that keeps them when it is deleted. It is nil before that.
	keepsChildren *bool
	// wasNotReady is true if the last event said that the resource is not ready.
	wasNotReady bool
	// announced is the last event of a resource without status.
	announced string
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

// An unansweredWrite is a write without a response: the object may be in this list, although the
// watch does not show it. The tick at is that of the failure.
type unansweredWrite struct {
	list plan.List
	at   uint64
}

func newMemory(resource *unstructured.Unstructured) *Memory {
	return &Memory{
		uid: resource.GetUID(), requestedAt: resource.GetAnnotations()[api.AnnotationReconcileAt],
		attempts: plan.Attempts{}, applied: plan.AppliedObjects{}, made: map[plan.Ref]types.UID{},
		recreations: map[plan.Ref]recreation{}, replaced: map[plan.Ref]map[string]any{},
		unanswered: map[plan.Ref]unansweredWrite{}, drawn: map[observe.SecretKey]string{},
	}
}

// forgetFailures forgets what was not to be tried again once a person asks to reconcile, by
// another value of the annotation jacquard.dev/reconcile-at.
func (m *Memory) forgetFailures(requestedAt string) {
	if requestedAt == m.requestedAt {
		return
	}
	m.requestedAt = requestedAt
	m.attempts.Reset()
	clear(m.recreations)
}

// adoptAttempts takes over the attempts of a plan that is carried out. Attempts to read or record
// what the plan depends on are newer than the plan.
func (m *Memory) adoptAttempts(planned plan.Attempts) {
	k := plan.Key{Operation: plan.OpPrepare}
	if at := m.attempts[k]; at != nil {
		planned[k] = at
	}
	m.attempts = planned
}

// newestOf returns the resource as the last write of it was answered, while the cache is behind
// that.
func (m *Memory) newestOf(cached *unstructured.Unstructured, now time.Time) *unstructured.Unstructured {
	if m.answer == nil {
		return cached
	}
	// A cache that is behind for so long has gone back, as after a restore of etcd.
	c, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), m.answer.GetResourceVersion())
	if err != nil || c >= 0 || now.Sub(m.answeredAt) > longWait {
		m.answer = nil
		return cached
	}
	return m.answer
}

// recordResource records the answer to a write of the resource itself.
func (m *Memory) recordResource(answer *unstructured.Unstructured, now time.Time) {
	m.answer, m.answeredAt = answer, now
}

// recordApplied records the outcome of applying a child, and forgets the object that had its
// name before.
func (m *Memory) recordApplied(child plan.Ref, uid types.UID, applied plan.Applied) {
	if old := m.made[child]; old != uid {
		delete(m.applied, old)
	}
	m.made[child], m.applied[uid] = uid, applied
}

// forgetChildren forgets the children that a plan does not have any more.
func (m *Memory) forgetChildren(p *plan.Plan) {
	planned, names, uids := map[plan.Ref]bool{}, map[string]bool{}, map[types.UID]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		ref := s.Ref()
		planned[ref], names[shortName(ref.Kind, ref.Name)] = true, true
		if s.Live != nil {
			uid := s.Live.Meta.GetUID()
			m.made[ref], uids[uid] = uid, true
			uids[plan.PatchKey(uid, ref.Subresource)] = true
		}
	}
	maps.DeleteFunc(m.made, func(child plan.Ref, _ types.UID) bool { return !planned[child] })
	maps.DeleteFunc(m.replaced, func(child plan.Ref, _ map[string]any) bool { return !planned[child] })
	maps.DeleteFunc(m.recreations, func(child plan.Ref, _ recreation) bool { return !planned[child] })
	maps.DeleteFunc(m.changed, func(child string, _ []string) bool { return !names[child] })
	for _, uid := range m.made {
		uids[uid] = true
	}
	maps.DeleteFunc(m.temporary, func(uid types.UID, _ temporaryState) bool { return !uids[uid] })
	maps.DeleteFunc(m.applied, func(uid types.UID, _ plan.Applied) bool { return !uids[uid] })
}

// How long to wait.
const (
	firstWait  = time.Second
	longWait   = time.Minute
	longestGap = 5 * time.Minute
)

// retryLater reconciles the resource again, later each time, since something that the
// reconciliation depends on could not be read or recorded.
func (t *pass) retryLater() {
	now := t.r.now()
	at := t.memory.attempts.Fail(plan.Key{Operation: plan.OpPrepare}, "", plan.Retry{Max: longWait}, now)
	t.found.requeueAfter(at.Next.Sub(now))
}

// recordBusy remembers for how long something is not sent, since the API server was busy,
// down or unreachable. Unlike after a failed write, what is to be sent may change meanwhile.
func recordBusy(a plan.Attempts, o plan.Operation, err error, now time.Time) {
	k := plan.Key{Operation: o}
	if err == nil {
		delete(a, k)
	} else if refusal := refusals.Classify(err); refusal.Cause == refusals.TryAgain {
		a.Fail(k, "", plan.Retry{Min: refusal.RetryAfter, Max: longWait}, now).Err = err
	}
}

// memoryOf returns the memory of a resource, creating it if necessary.
func (r *Reconciler) memoryOf(name types.NamespacedName, resource *unstructured.Unstructured) *Memory {
	uid := resource.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memories[name]
	if m == nil || m.uid != uid {
		before := metrics.Standing{}
		if m != nil {
			delete(r.deletions, m.uid)
			delete(r.arrivals, m.uid)
			delete(r.names, m.uid)
			before = m.standing
		}
		r.names[uid] = name
		m = newMemory(resource)
		r.memories[name] = m
		m.standing = standingOf(resource, nil, r.cluster.ReadOnly)
		metrics.Kind(r.name).Stands(before, m.standing)
	}
	m.setInheritance(resource, r.tookOver, r.arrivals[uid])
	if version := resource.GetResourceVersion(); r.latest == "" || isNewerVersion(version, r.latest) {
		r.latest = version
	}
	return m
}

// End forgets everything.
func (r *Reconciler) End() {
	r.forgetEventTimes()
	r.forgetPending()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.memories {
		r.endReads(name)
	}
	clear(r.memories)
	clear(r.names)
	clear(r.deletions)
	clear(r.arrivals)
}

func (r *Reconciler) forgetResource(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, known := r.memories[name]; known {
		delete(r.deletions, m.uid)
		delete(r.arrivals, m.uid)
		delete(r.names, m.uid)
		r.endReads(name)
		metrics.Kind(r.name).Stands(m.standing, metrics.Standing{})
	}
	delete(r.memories, name)
	r.setPending(name, false)
}

// endReads ends the watches that only this resource needs.
func (r *Reconciler) endReads(name types.NamespacedName) {
	r.cluster.Reads.Record(api.Owner{Kind: r.name, Namespace: name.Namespace, Name: name.Name}, nil)
}
