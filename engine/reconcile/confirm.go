package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// Another operator may have written what the caches of this one do not show yet: the leader
// before this one, since these caches were filled before it ended, or whoever served a resource
// that has come to this installation. Every write has a precondition, so this matters only
// where a child is created again, where nothing seems to be left, and where the cached resource
// is older than what the other one acted on. What was before and what after is told by a counter
// of this process, and by no clock.

// TookOver records that this operator took over from another one, at since. Its caches were
// filled before.
func (r *Reconciler) TookOver(since time.Time) {
	r.leadsSince, r.tookOver = since, r.ticks.Add(1)
}

// Arrived records a resource that came after the first list. If our finalizer is on it, another
// operator has served it.
func (r *Reconciler) Arrived(resource metav1.Object) {
	if !slices.Contains(resource.GetFinalizers(), api.Finalizer) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals[resource.GetUID()] = r.ticks.Add(1)
}

// Gone records that a resource is gone from the cache. One that was never reconciled is
// forgotten at once; any other when it is reconciled, which may still need what is known of it.
func (r *Reconciler) Gone(resource metav1.Object) {
	uid := resource.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, remembered := r.names[uid]; !remembered {
		delete(r.arrivals, uid)
		delete(r.deletions, uid)
	}
}

// setInheritance sets, until this process has written to the resource, since when it is the
// writer, and whether another one was before.
func (m *Memory) setInheritance(resource metav1.Object, tookOver, arrivedAt uint64) {
	if !m.isCurrent {
		m.since, m.isCurrent = tookOver, tookOver == 0
		m.isInherited = !m.isCurrent && slices.Contains(resource.GetFinalizers(), api.Finalizer)
	}
	if arrivedAt > m.since {
		m.since, m.isInherited = arrivedAt, true
	}
}

// doubtfulLists returns the lists of which the cache may lack objects. An object counts as
// absent only if its kind was listed after the last write without a response and, if another
// process may have created children, since this one became the writer.
func (t confirmer) doubtfulLists() []plan.List {
	doubtful := map[plan.List]bool{}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	for _, write := range t.memory.unanswered {
		if t.r.listedAt[write.list] < write.at {
			doubtful[write.list] = true
		}
	}
	if t.memory.isInherited {
		for _, list := range t.subject.Version.Lists() {
			if t.r.listedAt[list] < t.memory.since {
				doubtful[list] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(doubtful), plan.List.Compare)
}

// listAgain lists from the API server what the caches may lack. It reports whether all of it
// could be listed.
func (t confirmer) listAgain(ctx context.Context, lists []plan.List) bool {
	for _, list := range lists {
		at, err := t.r.ticks.Add(1), error(nil)
		if list.IsPatched {
			err = t.r.cluster.Reads.Resync(ctx, cluster.Scope{GroupVersionKind: list.GroupVersionKind})
		} else {
			err = t.r.cluster.Children.Resync(ctx, list.GroupVersionKind)
		}
		if err != nil && !errors.Is(err, live.ErrNotServed) { // what is not served took its objects along
			t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonChildrenUnknown,
				Message: "what is left is not known: " + err.Error()})
			t.retryLater()
			return false
		}
		t.r.mu.Lock()
		t.r.listedAt[list] = max(t.r.listedAt[list], at)
		t.r.mu.Unlock()
		maps.DeleteFunc(t.memory.unanswered, func(_ plan.Ref, w unansweredWrite) bool { return w.list == list && w.at < at })
	}
	return true
}

// isStale reports whether the cache does not show the resource as it is: it is being deleted,
// so that a child that is to be created again may have gone with it; or it was edited before
// the last write of the process before this one, which the plan would undo. An event is on its
// way then. The API server is asked only if the plan depends on it.
func (t confirmer) isStale(ctx context.Context, p *plan.Plan) (bool, error) {
	mustBeCurrent := p.ConfirmCurrent && !t.isNewerThanTakeOver(ctx)
	if !p.ConfirmAlive && !mustBeCurrent {
		return false, nil
	}
	isStale, err := t.compareResource(ctx)
	if err == nil || mustBeCurrent {
		return isStale, err
	}
	t.countRefusal(err)
	t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonApplyFailed, Message: err.Error()})
	t.retryLater()
	p.HoldBackCreations()
	return false, nil
}

// isNewerThanTakeOver reports whether the resource was written after this process took over, and
// remembers that. A list of one resource, sent after that, has a resourceVersion that everything
// which the process before this one wrote is older than. It must be a consistent read, without
// a resourceVersion; and one that is older than what the watch had delivered before comes from
// a restored etcd, and proves nothing.
func (t confirmer) isNewerThanTakeOver(ctx context.Context) bool {
	if !t.r.takeOver.TryLock() { // another worker asks for it now
		return false
	}
	defer t.r.takeOver.Unlock()
	if t.r.collectionVersion == "" {
		served, found := t.r.cluster.Resource(t.r.gvk)
		if !found || t.r.now().Before(t.r.nextTry) {
			return false
		}
		t.r.nextTry = t.r.now().Add(longWait)
		reached := t.r.latestVersion()
		version, err := t.r.cluster.Writer.CollectionVersion(ctx, served, t.subject.Resource.GetNamespace())
		if err != nil || isNewerVersion(reached, version) {
			return false
		}
		t.r.collectionVersion = version
	}
	t.memory.isCurrent = isNewerVersion(t.subject.Resource.GetResourceVersion(), t.r.collectionVersion)
	return t.memory.isCurrent
}

// latestVersion returns the greatest resourceVersion of the resources that were reconciled.
func (r *Reconciler) latestVersion() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// isNewerVersion reports whether one resourceVersion is greater than another one.
func isNewerVersion(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

// compareResource reads the metadata of the resource from the API server, and reports whether the
// cached resource is stale.
func (t confirmer) compareResource(ctx context.Context) (isStale bool, err error) {
	served, found := t.r.cluster.Served().Resource(t.r.gvk)
	if !found {
		return true, nil
	}
	read := t.r.cluster.Writer.GetMetadata
	if k := t.subject.Version.Kind; k == nil || len(k.Children) == 0 { // its role may list resources, and not get one
		read = t.r.cluster.Writer.Find
	}
	resource := t.subject.Resource
	present, err := read(ctx, served, resource.GetNamespace(), resource.GetName())
	switch {
	case apierrors.IsNotFound(err), err == nil && present == nil:
		return true, nil
	case err != nil:
		return false, fmt.Errorf("reading %s %s: %w", t.r.gvk.Kind, describePlace(resource), err)
	case present.GetUID() != resource.GetUID() || present.GetDeletionTimestamp() != nil:
		return true, nil
	case !t.memory.isCurrent && !isSameInput(present, resource):
		return true, nil
	}
	if !t.memory.isCurrent {
		t.memory.isCurrent, t.memory.isInherited = true, slices.Contains(present.GetFinalizers(), api.Finalizer)
	}
	return false, nil
}

// isSameInput reports whether two states of a resource have the same generation, labels and
// annotations, so that templates and plans cannot tell them apart.
func isSameInput(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() && maps.Equal(a.GetLabels(), b.GetLabels()) &&
		maps.Equal(a.GetAnnotations(), b.GetAnnotations())
}
