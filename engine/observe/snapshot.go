package observe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Snapshot is what is known of a resource's children, and of what else its templates
// read, at one moment.
type Snapshot struct {
	Subject *Subject
	// Live are the objects that carry the uid of the resource, of all kinds that are known. Patched
	// are the objects that have fields of ours, where the kind may patch them.
	Live, Patched []live.Object
	// Pending is true if some kind has not been listed yet, or not with what is needed.
	Pending bool
	// Undrawn are the lengths of the texts that are still to be generated.
	Undrawn map[SecretKey]int
	// Asked are the questions that were asked, for those who tell what changes.
	Asked []cluster.Query

	judge  Judge
	texts  *Texts
	served *cluster.Served
	state  map[schema.GroupVersionKind]live.State
	// unpatched says, by kind, why there may be more patched objects.
	unpatched map[schema.GroupVersionKind]error
	// since is when the snapshot was taken, for those who tell what changes.
	since uint64
	// answers are those that were given: the same question has the same answer.
	answers map[question]answer
}

// A Judge decides whether a live child is ready.
type Judge func(*Snapshot, live.Object) (readiness.Verdict, error)

// Take looks at what there is of a resource. Live objects of a kind that is
// not synced are left out, since there may be others.
func Take(s *Subject, texts *Texts, judge Judge) *Snapshot {
	w := &Snapshot{
		Subject: s, texts: texts, judge: judge, served: s.Caches.Served(), since: s.Caches.Reads.Tick(),
		Pending: s.Version.IsPending(*s.Caches),
		state:   map[schema.GroupVersionKind]live.State{}, unpatched: map[schema.GroupVersionKind]error{},
		Undrawn: map[SecretKey]int{}, answers: map[question]answer{},
	}
	uid := s.Resource.GetUID()
	for gvk, need := range s.Version.Children {
		in := s.namespacesOf(gvk)
		state := s.Caches.Children.State(gvk, in...)
		w.state[gvk] = state
		if state.Phase != live.Synced {
			continue
		}
		w.Pending = w.Pending || !state.Holds.Covers(need)
		found, err := s.Caches.Children.Of(gvk, uid, in...)
		if err != nil { // some were seen before their owner, and are being read again
			w.state[gvk] = live.State{Err: err}
			w.Pending = w.Pending || errors.Is(err, live.ErrNotYet)
			continue
		}
		w.Live = append(w.Live, found...)
	}
	for _, gvk := range s.Version.Patched {
		patched, err := s.Caches.Reads.Patched(gvk, uid, s.namespacesOf(gvk)...)
		if err != nil && (!errors.Is(err, live.ErrNotServed) || s.Caches.Defined(gvk.GroupKind())) {
			w.unpatched[gvk] = err
		}
		for _, l := range patched {
			if s.mayPatch(l) {
				w.Patched = append(w.Patched, l)
			}
		}
	}
	return w
}

// A world is a snapshot as templates see it.
type world struct{ *Snapshot }

// World returns the snapshot as templates see it.
func (w *Snapshot) World() template.World { return world{w} }

// DescribeUnknown describes what is not known of the resource: there may be something left.
func (w *Snapshot) DescribeUnknown() []string {
	all := w.UnknownChildren()
	for _, err := range w.unpatched {
		all = append(all, "what is patched is not known: "+err.Error())
	}
	return all
}

// UnknownChildren describes of which kinds, and where, there may be children that are not
// known.
func (w *Snapshot) UnknownChildren() (all []string) {
	for gvk, state := range w.state {
		if state.Phase == live.NotServed && !w.Subject.Caches.Defined(gvk.GroupKind()) {
			continue // it took its objects along
		}
		if state.Phase != live.Synced || state.Err != nil {
			all = append(all, fmt.Sprintf("what is left of kind %s is not known: %v", gvk.Kind, state.Err))
		}
	}
	slices.Sort(all)
	return append(all, w.describeUnwatched()...)
}

// describeUnwatched describes the namespaces that children may be in and that the operator does
// not watch, as when its list of namespaces became shorter.
func (w *Snapshot) describeUnwatched() (all []string) {
	within := w.Subject.Caches.Namespaces
	for _, namespace := range w.Subject.DeletionSettings().Elsewhere {
		where := "namespace " + namespace
		if namespace == kind.Anywhere {
			where = "namespaces that it made"
		}
		if len(within) > 0 && !slices.Contains(within, namespace) {
			all = append(all, "what is left in "+where+" is not known, since the operator is limited to others: "+
				"run it there too, or delete what is left and then take off the finalizer "+api.Finalizer)
		}
	}
	return all
}

// PhaseOf returns how much is known of the children of a kind, in whichever version.
func (w *Snapshot) PhaseOf(gk schema.GroupKind) live.Phase {
	phase := live.Unsynced
	for gvk, state := range w.state {
		if gvk.GroupKind() == gk && (phase == live.Unsynced || state.Phase == live.Synced) {
			phase = state.Phase
		}
	}
	return phase
}

// StateOf returns the state of a kind; one that nobody watches is unknown.
func (w *Snapshot) StateOf(gvk schema.GroupVersionKind) live.State { return w.state[gvk] }

// HasAPI reports whether the cluster serves a kind; while that cannot be told,
// the file waits.
func (w world) HasAPI(apiVersion, kindName string) (bool, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false, fmt.Errorf("hasAPI: %w", err)
	}
	gvk := gv.WithKind(kindName)
	if _, found := w.served.Resource(gvk); found {
		return true, nil
	}
	if w.served.Doubt(gvk) != nil {
		return false, &template.Wait{Message: fmt.Sprintf("the API server cannot tell whether it has %s %s", apiVersion, kindName)}
	}
	return false, nil
}

// Children returns the live children that a file made, newest first, then by
// name.
func (w world) Children(file string) ([]any, error) {
	for _, gvk := range w.Subject.Version.Kind.Makes(file) {
		if w.state[gvk].Phase == live.Unsynced {
			return nil, &template.Wait{Message: fmt.Sprintf("the live objects of kind %s are not known", gvk.Kind)}
		}
	}
	var out []any
	for _, l := range w.Live {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == file && plan.Ours(w.Subject.Owner(), l.Meta) {
			out = append(out, BodyOf(l))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// BodyOf returns the object as templates read it.
func BodyOf(l live.Object) map[string]any {
	if l.Body != nil {
		return plainObject(l.Body)
	}
	partial, ok := l.Meta.(*metav1.PartialObjectMetadata)
	if !ok {
		return map[string]any{}
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(partial)
	if err != nil {
		return map[string]any{}
	}
	object["apiVersion"], object["kind"] = l.GVK.GroupVersion().String(), l.GVK.Kind
	return plainObject(object)
}

// plainObject returns an object without what tools keep in its metadata.
func plainObject(object map[string]any) map[string]any {
	out := maps.Clone(object)
	meta, _ := object["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	delete(meta, "managedFields")
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		meta["annotations"] = annotations
	}
	out["metadata"] = meta
	return out
}

func newestFirst(a, b any) int {
	x, y := unstructured.Unstructured{Object: a.(map[string]any)}, unstructured.Unstructured{Object: b.(map[string]any)}
	if c := y.GetCreationTimestamp().Compare(x.GetCreationTimestamp().Time); c != 0 {
		return c
	}
	return strings.Compare(x.GetName(), y.GetName())
}
