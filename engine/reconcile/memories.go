package reconcile

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
)

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
