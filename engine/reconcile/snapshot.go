package reconcile

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
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A snapshot is what is known of a resource's children, and of what else its templates
// read, at one moment.
type snapshot struct {
	subject *subject
	// judge decides whether a live child is ready.
	judge  func(live.Object) (readiness.Verdict, error)
	texts  *texts
	served *cluster.Served
	live   []live.Object
	state  map[schema.GroupVersionKind]live.State
	// patched are the objects that have fields of ours, where the kind may patch
	// them; unpatched is why there may be others, by kind.
	patched   []live.Object
	unpatched map[schema.GroupVersionKind]error
	// since is when the snapshot was taken, for those who tell what changes.
	since uint64
	// pending: some kind has not been listed yet, or not with what is needed.
	pending bool
	// undrawn are the lengths of texts that are still to be drawn.
	undrawn map[secretKey]int
	// answers are those that were given, by question: the same question has the
	// same answer. asked are the questions, for those who tell what changes.
	answers map[question]answer
	asked   []cluster.Query
}

// A templateWorld is a snapshot as templates see it.
type templateWorld struct{ *snapshot }

// takeSnapshot looks at what there is of a resource. Live objects of a kind that is
// not synced are left out, since there may be others.
func (t judge) takeSnapshot() *snapshot {
	s := t.subject
	w := &snapshot{
		subject: s, texts: t.texts, served: s.cluster.Served(), since: s.cluster.Reads.Tick(),
		pending: s.version.Pending(*s.cluster),
		state:   map[schema.GroupVersionKind]live.State{}, unpatched: map[schema.GroupVersionKind]error{},
		undrawn: map[secretKey]int{}, answers: map[question]answer{},
	}
	w.judge = func(l live.Object) (readiness.Verdict, error) { return t.judgeChild(w, l) }
	uid := s.resource.GetUID()
	for gvk, need := range s.version.Children {
		in := s.namespacesOf(gvk)
		state := s.cluster.Children.State(gvk, in...)
		w.state[gvk] = state
		if state.Phase != live.Synced {
			continue
		}
		w.pending = w.pending || !state.Holds.Covers(need)
		found, err := s.cluster.Children.Of(gvk, uid, in...)
		if err != nil { // some were seen before their owner, and are being read again
			w.state[gvk] = live.State{Err: err}
			w.pending = w.pending || errors.Is(err, live.ErrNotYet)
			continue
		}
		w.live = append(w.live, found...)
	}
	for _, gvk := range s.version.Patched {
		patched, err := s.cluster.Reads.Patched(gvk, uid, s.namespacesOf(gvk)...)
		if err != nil && (!errors.Is(err, live.ErrNotServed) || s.cluster.Defined(gvk.GroupKind())) {
			w.unpatched[gvk] = err
		}
		for _, l := range patched {
			if s.mayPatch(l) {
				w.patched = append(w.patched, l)
			}
		}
	}
	return w
}

// describeUnknown describes what is not known of the resource: there may be something left.
func (w *snapshot) describeUnknown() []string {
	all := w.unknownChildren()
	for _, err := range w.unpatched {
		all = append(all, "what is patched is not known: "+err.Error())
	}
	return all
}

// unknownChildren describes of which kinds, and where, there may be children that are not
// known.
func (w *snapshot) unknownChildren() (all []string) {
	for gvk, state := range w.state {
		if state.Phase == live.NotServed && !w.subject.cluster.Defined(gvk.GroupKind()) {
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
func (w *snapshot) describeUnwatched() (all []string) {
	within := w.subject.cluster.Namespaces
	for _, namespace := range w.subject.otherNamespaces() {
		where := "namespace " + namespace
		if namespace == anywhere {
			where = "namespaces that it made"
		}
		if len(within) > 0 && !slices.Contains(within, namespace) {
			all = append(all, "what is left in "+where+" is not known, since the operator is limited to others: "+
				"run it there too, or delete what is left and then take off the finalizer "+api.Finalizer)
		}
	}
	return all
}

// Pending reports whether some kind of child, or of what is patched or read, has
// not been listed yet, or not with as much as is needed, and nothing is known to
// be in the way: an event then enqueues the resource when it has been.
func (v *Version) Pending(c Cluster) bool {
	for gvk, need := range v.Children {
		s := c.Children.State(gvk)
		if s.Coming() || s.Phase == live.Synced && !s.Holds.Covers(need) {
			return true
		}
	}
	for _, scope := range v.Scopes() {
		if c.Reads.State(scope).Coming() {
			return true
		}
	}
	return false
}

// stateOfKind returns the state of a kind; one that nobody watches is unknown.
func (w *snapshot) stateOfKind(gvk schema.GroupVersionKind) live.State { return w.state[gvk] }

// HasAPI reports whether the cluster serves a kind; while that cannot be told,
// the file waits.
func (w templateWorld) HasAPI(apiVersion, kind string) (bool, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false, fmt.Errorf("hasAPI: %w", err)
	}
	gvk := gv.WithKind(kind)
	if _, found := w.served.Resource(gvk); found {
		return true, nil
	}
	if w.served.Doubt(gvk) != nil {
		return false, &template.Wait{Message: fmt.Sprintf("the API server cannot tell whether it has %s %s", apiVersion, kind)}
	}
	return false, nil
}

// Children returns the live children that a file made, newest first, then by
// name.
func (w templateWorld) Children(file string) ([]any, error) {
	for _, gvk := range w.subject.version.Kind.Makes(file) {
		if w.state[gvk].Phase == live.Unsynced {
			return nil, &template.Wait{Message: fmt.Sprintf("the live objects of kind %s are not known", gvk.Kind)}
		}
	}
	var out []any
	for _, l := range w.live {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == file && plan.Ours(w.subject.planOwner(), l.Meta) {
			out = append(out, bodyOf(l))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// bodyOf returns the object as templates read it.
func bodyOf(l live.Object) map[string]any {
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
