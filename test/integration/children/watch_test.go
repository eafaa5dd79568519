package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A moment is one event of a watch.
type moment struct {
	what     watch.EventType
	object   *unstructured.Unstructured
	revision uint64 // counts all writes of the cluster
}

// A record is every event of some kinds of objects.
type record struct {
	*testing.T
	site   *site
	kinds  []string
	stop   []watch.Interface
	all    sync.WaitGroup
	mu     sync.Mutex
	events []moment
}

// follow begins to record what happens to objects of these kinds, written as
// "apps/v1 Deployment", in the test's namespace.
func (s *site) follow(kinds ...string) *record {
	s.Helper()
	c, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		s.Fatal(err)
	}
	r := &record{T: s.T, site: s, kinds: kinds}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		apiVersion, name, _ := strings.Cut(kind, " ")
		list.SetAPIVersion(apiVersion)
		list.SetKind(name + "List")
		w, err := c.Watch(context.Background(), list, client.InNamespace(s.namespace))
		if err != nil {
			s.Fatal(err)
		}
		r.stop = append(r.stop, w)
		r.all.Go(func() { r.take(w) })
	}
	s.Cleanup(func() { r.end() })
	return r
}

func (r *record) take(w watch.Interface) {
	for e := range w.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
		if err != nil {
			r.Error(err)
		}
		r.mu.Lock()
		r.events = append(r.events, moment{e.Type, o, revision})
		r.mu.Unlock()
	}
}

// end ends the record and returns it in order.
func (r *record) end() []moment {
	for _, w := range r.stop {
		w.Stop()
	}
	r.all.Wait()
	slices.SortFunc(r.events, func(a, b moment) int { return cmp.Compare(a.revision, b.revision) })
	return r.events
}

// soFar returns the events until now, in order. It waits for the watches, which may be late.
func (r *record) soFar() []moment {
	r.Helper()
	kit.Eventually(r, "the watches are up to date", r.late)
	return r.known()
}

// late says of what there is, or was, the watches do not tell yet.
func (r *record) late() error {
	there := map[types.UID]moment{}
	for _, m := range r.known() {
		if there[m.object.GetUID()] = m; deleted(m) {
			delete(there, m.object.GetUID())
		}
	}
	for _, kind := range r.kinds {
		apiVersion, name, _ := strings.Cut(kind, " ")
		for _, o := range r.site.list(apiVersion, name) {
			revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
			if err != nil {
				return err
			}
			if there[o.GetUID()].revision < revision {
				return fmt.Errorf("%s %s is at %d", name, o.GetName(), revision)
			}
			delete(there, o.GetUID())
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("%d objects are gone", len(there))
	}
	return nil
}

// known are the events that the watches told, in order.
func (r *record) known() []moment {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.events)
	slices.SortFunc(all, func(a, b moment) int { return cmp.Compare(a.revision, b.revision) })
	return all
}

// first is the revision of the first event of a kind for which is says true; it
// must have happened.
func (r *record) first(kind string, is func(moment) bool) uint64 {
	r.Helper()
	for _, m := range r.soFar() {
		if m.object.GetKind() == kind && is(m) {
			return m.revision
		}
	}
	r.Fatalf("no such event of %s:\n%s", kind, r)
	return 0
}

// last is the revision of the last such event.
func (r *record) last(kind string, is func(moment) bool) uint64 {
	r.Helper()
	found := uint64(0)
	for _, m := range r.soFar() {
		if m.object.GetKind() == kind && is(m) {
			found = m.revision
		}
	}
	if found == 0 {
		r.Fatalf("no such event of %s:\n%s", kind, r)
	}
	return found
}

// String shows the events.
func (r *record) String() string {
	var b strings.Builder
	for _, m := range r.known() {
		b.WriteString(strconv.FormatUint(m.revision, 10) + " " + string(m.what) + " " + m.object.GetKind() + " " + m.object.GetName() + "\n")
	}
	return b.String()
}

func added(m moment) bool { return m.what == watch.Added }

func deleted(m moment) bool { return m.what == watch.Deleted }

// going: it is being deleted, or is gone.
func going(m moment) bool { return deleted(m) || m.object.GetDeletionTimestamp() != nil }

// number is a field of the object, 0 without one.
func (m moment) number(path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(m.object.Object, path...)
	return n
}

// complete reports whether a Job is.
func complete(m moment) bool {
	conditions, _, _ := unstructured.NestedSlice(m.object.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		said := c.(map[string]any)
		return said["type"] == "Complete" && said["status"] == "True"
	})
}
