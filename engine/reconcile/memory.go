package reconcile

import (
	"maps"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A memory is what this process knows of one resource beyond what the cluster
// says. Losing it costs at most a write for each child; nothing depends on it.
// Only the worker that serves the resource uses it.
type memory struct {
	uid types.UID
	// applied is what came of applies, by uid of the child.
	applied map[types.UID]plan.Memory
	// made is the uid of each child as last applied or seen, by child.
	made map[string]types.UID
	// lost are writes whose answer did not come, by child.
	lost map[string]lostWrite
	// suspected: what another operator may have written was added to lost.
	suspected bool
	// lives: the server said of the resource that it is there to stay.
	lives atomic.Bool
	// endings are children that were to be deleted and patches that were to be
	// given back, and that are seen still.
	endings map[string]*ending
	// contests are fields that others take from us again and again, by child.
	contests map[string]*contest
	// drawn are texts that were drawn and did not get into a Secret yet.
	drawn map[secretKey]string
	// changed are the paths that the server changed in what was applied, by
	// "Kind/name" of the child.
	changed map[string][]string
	// setbacks are writes that failed, by child and by uid of the live object.
	setbacks map[string]*setback
	// answer is the resource as our last write of it was answered, when that
	// was, and sent the hash of the last status.
	answer     *unstructured.Unstructured
	answeredAt time.Time
	sent       string
	// told is what the last event said of a resource without status.
	told string
	// askedAt is what the resource says about reconciling again.
	askedAt string
	tries   int
	// standing is what metrics count the resource as.
	standing metrics.Standing
}

func newMemory(resource *unstructured.Unstructured) *memory {
	return &memory{
		uid: resource.GetUID(), applied: map[types.UID]plan.Memory{}, endings: map[string]*ending{}, made: map[string]types.UID{},
		setbacks: map[string]*setback{}, contests: map[string]*contest{}, drawn: map[secretKey]string{},
		lost: map[string]lostWrite{}, askedAt: resource.GetAnnotations()[api.AnnotationReconcileAt],
	}
}

// A setback is a failed write: it is not tried again with the same content
// before its time.
type setback struct {
	hash    string
	problem status.Problem
	tries   int
	// until is when to try again; zero: not before the content changes.
	until time.Time
}

func (r *Reconciler) remember(name types.NamespacedName, resource *unstructured.Unstructured) *memory {
	uid := resource.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.memory[name]
	if m == nil || m.uid != uid {
		before := metrics.Standing{}
		if m != nil {
			delete(r.orphaned, m.uid)
			delete(r.arrived, m.uid)
			delete(r.names, m.uid)
			before = m.standing
		}
		r.names[uid] = name
		m = newMemory(resource)
		r.memory[name] = m
		m.standing = standing(resource, nil)
		metrics.Kind(r.name).Stands(before, m.standing)
	}
	return m
}

// End forgets everything.
func (r *Reconciler) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.memory {
		r.readsNothing(name)
	}
	clear(r.memory)
	clear(r.names)
	clear(r.orphaned)
	clear(r.woken)
	clear(r.pending)
	clear(r.arrived)
}

func (r *Reconciler) forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, known := r.memory[name]; known {
		delete(r.orphaned, m.uid)
		delete(r.arrived, m.uid)
		delete(r.names, m.uid)
		r.readsNothing(name)
		metrics.Kind(r.name).Stands(m.standing, metrics.Standing{})
	}
	delete(r.memory, name)
	r.unpend(name)
}

// readsNothing ends the watches that only this resource needs.
func (r *Reconciler) readsNothing(name types.NamespacedName) {
	r.cluster.Reads.Record(api.Owner{Kind: r.name, Namespace: name.Namespace, Name: name.Name}, nil)
}

// newest is the resource from the cache, or the answer to our last status
// write while the cache has not caught up with it.
func (m *memory) newest(cached *unstructured.Unstructured) *unstructured.Unstructured {
	if m.answer == nil {
		return cached
	}
	// A cache that is behind for so long has gone back, as after a restore.
	c, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), m.answer.GetResourceVersion())
	if err != nil || c >= 0 || time.Since(m.answeredAt) > longWait {
		m.answer = nil
		return cached
	}
	return m.answer
}

// answered takes the resource as a write of it was answered.
func (m *memory) answered(answer *unstructured.Unstructured) {
	m.answer, m.answeredAt = answer, time.Now()
}

// take notes what came of applying a child, and forgets the object which
// had its name before.
func (m *memory) take(child string, uid types.UID, applied plan.Memory) {
	if old := m.made[child]; old != uid {
		delete(m.applied, old)
	}
	m.made[child], m.applied[uid] = uid, applied
}

// keep forgets children that the plan does not have any more.
func (m *memory) keep(p *plan.Plan) {
	steps, uids := map[string]bool{}, map[types.UID]bool{}
	for i := range p.Steps {
		o := p.Steps[i].Document
		steps[childName(&p.Steps[i])], steps[shortName(o.GetKind(), o.GetName())] = true, true
		if live := p.Steps[i].Live; live != nil {
			m.made[childName(&p.Steps[i])] = live.Meta.GetUID()
			uids[live.Meta.GetUID()] = true
			uids[plan.PatchKey(live.Meta.GetUID(), p.Steps[i].Child.Policy.Subresource)] = true
		}
	}
	maps.DeleteFunc(m.made, func(child string, _ types.UID) bool { return !steps[child] })
	maps.DeleteFunc(m.contests, func(child string, _ *contest) bool { return !steps[child] })
	maps.DeleteFunc(m.changed, func(child string, _ []string) bool { return !steps[child] })
	for _, uid := range m.made {
		uids[uid] = true
	}
	maps.DeleteFunc(m.applied, func(uid types.UID, _ plan.Memory) bool { return !uids[uid] })
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

// due returns the setback of a write that is not to be tried now, or nil.
func (m *memory) due(key, hash string, now time.Time) *setback {
	s := m.setbacks[key]
	if s == nil || s.hash != hash || (!s.until.IsZero() && !now.Before(s.until)) {
		return nil
	}
	return s
}

// How long to wait after a failed write: doubled each time, with jitter.
const (
	firstWait  = time.Second
	longWait   = time.Minute
	longestGap = 5 * time.Minute
)

// backOff is how long to wait after so many failures in a row, at least
// atLeast, at most most.
func backOff(tries int, atLeast, most time.Duration) time.Duration {
	d := max(firstWait, atLeast)
	for range min(tries, 20) {
		if d *= 2; d >= most {
			d = most
			break
		}
	}
	return wait.Jitter(d, 0.2)
}

// fail records a failed write. most 0 means: not before the content changes.
func (m *memory) fail(key, hash string, p status.Problem, when retry) {
	s := m.setbacks[key]
	if s == nil || s.hash != hash || (!s.until.IsZero() && when.now.Sub(s.until) > longestGap) {
		s = &setback{hash: hash}
		m.setbacks[key] = s
	}
	s.problem = p
	s.until = time.Time{}
	if when.most > 0 {
		s.until = when.now.Add(backOff(s.tries, when.atLeast, when.most))
	}
	s.tries++
}

// A retry says when to try a failed write again.
type retry struct {
	now           time.Time
	atLeast, most time.Duration
}
