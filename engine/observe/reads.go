package observe

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Lookup returns one live object, or nil.
func (w world) Lookup(what template.Object) (any, error) {
	q, err := w.makeQuery(what)
	if err != nil {
		return nil, err
	}
	q.Name = what.Name
	found, err := w.askCache(q)
	if err != nil {
		return nil, w.waitFor(what, err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return BodyOf(found[0]), nil
}

// Select returns the live objects that match.
func (w world) Select(what template.Object, selector labels.Selector) ([]any, error) {
	q, err := w.makeQuery(what)
	if err != nil {
		return nil, err
	}
	q.Selector = selector
	found, err := w.askCache(q)
	if err != nil {
		return nil, w.waitFor(what, err)
	}
	all := make([]any, len(found))
	for i, l := range found {
		all[i] = BodyOf(l)
	}
	return all, nil
}

// A question is what tells two reads apart.
type question struct {
	scope                     cluster.Scope
	namespace, name, selector string
	need                      live.Need
}

// An answer is what a question found, or why nobody knows.
type answer struct {
	found []live.Object
	err   error
}

// askCache answers a question as it was answered before, if it was: by a lookup, or,
// if it has a selector, by a select.
func (w *Snapshot) askCache(q cluster.Query) ([]live.Object, error) {
	key := question{scope: q.Scope, namespace: q.Namespace, name: q.Name, need: q.Need}
	if q.Selector != nil {
		key.selector = q.Selector.String()
	}
	if known, asked := w.answers[key]; asked {
		return known.found, known.err
	}
	w.Asked = append(w.Asked, q)
	found, err := w.Subject.Caches.findObjects(q)
	a := answer{found, err}
	if slices.ContainsFunc(a.found, w.isOutdated) {
		a = answer{err: errOutdated}
	}
	w.answers[key] = a
	return a.found, a.err
}

// findObjects answers a query: by a select if it has a selector, else by a lookup.
func (c *Caches) findObjects(q cluster.Query) ([]live.Object, error) {
	if q.Selector != nil {
		return c.Reads.Select(q)
	}
	l, err := c.Reads.Lookup(q)
	if err != nil || l == nil {
		return nil, err
	}
	return []live.Object{*l}, nil
}

var errOutdated = fmt.Errorf("%w: the change of a child has not arrived yet", live.ErrNotYet)

// isOutdated reports whether the snapshot has a later version of a child than a template
// reads. What is rendered from the earlier one would undo the change.
func (w *Snapshot) isOutdated(read live.Object) bool {
	if read.Meta.GetLabels()[api.LabelOwnerUID] != string(w.Subject.Resource.GetUID()) {
		return false
	}
	return slices.ContainsFunc(w.Live, func(child live.Object) bool {
		if child.Meta.GetUID() != read.Meta.GetUID() {
			return false
		}
		c, err := resourceversion.CompareResourceVersion(child.Meta.GetResourceVersion(), read.Meta.GetResourceVersion())
		return err == nil && c > 0
	})
}

// waitFor makes the file wait for what is not known now.
func (w world) waitFor(what template.Object, err error) error {
	w.Pending = w.Pending || errors.Is(err, live.ErrNotYet)
	if errors.Is(err, live.ErrNotServed) {
		return &template.Wait{Message: fmt.Sprintf("the cluster has no %s %s to read; ask hasAPI first", what.APIVersion, what.Kind)}
	}
	return &template.Wait{Message: fmt.Sprintf("reading %s: %s", what.Kind, err)}
}

// makeQuery returns where a read looks, or an error if it may not.
func (w world) makeQuery(what template.Object) (cluster.Query, error) {
	gv, err := schema.ParseGroupVersion(what.APIVersion)
	if err != nil {
		return cluster.Query{}, fmt.Errorf("reading %s: %w", what.Kind, err)
	}
	gvk := gv.WithKind(what.Kind)
	served, found := w.served.Resource(gvk)
	if !found {
		err := w.served.Doubt(gvk)
		if err == nil {
			err = live.ErrNotServed
		}
		return cluster.Query{}, w.waitFor(what, err)
	}
	own := w.Subject.Resource.GetNamespace()
	namespace := what.Namespace
	if served.Namespaced && namespace == "" {
		namespace = own
	}
	if err := w.Subject.Version.Kind.MayRead(gvk, own, namespace, what.Name, !served.Namespaced); err != nil {
		return cluster.Query{}, err
	}
	v := w.Subject.Version
	scope := v.scopeOf(gvk, own, namespace, what.Name)
	return cluster.Query{Scope: scope, Namespace: namespace, Need: v.Kind.ReadNeed(gvk), Since: w.since}, nil
}

// Config returns a setting of the installation.
func (w world) Config(key string) (any, error) {
	return w.Subject.Version.Kind.Config[key], nil
}

// FindPatched finds an object that is to be patched. It is watched as if a template had read
// it.
func (w *Snapshot) FindPatched(o *unstructured.Unstructured) (*live.Object, error) {
	ref := plan.RefOfObject(o)
	for i := range w.Patched {
		if plan.RefOf(w.Patched[i]) == ref {
			return &w.Patched[i], nil
		}
	}
	scope := w.Subject.Version.scopeOf(o.GroupVersionKind(), w.Subject.Resource.GetNamespace(), o.GetNamespace(), o.GetName())
	q := cluster.Query{Scope: scope, Namespace: o.GetNamespace(), Name: o.GetName(), Need: live.Body, Since: w.since}
	found, err := w.askCache(q)
	w.Pending = w.Pending || errors.Is(err, live.ErrNotYet)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// IsInRendered reports whether a kind may be in a namespace only because the same
// resource makes it.
func (w *Snapshot) IsInRendered(gvk schema.GroupVersionKind, namespace string) bool {
	if w.Subject.Version.Kind == nil || namespace == "" || namespace == w.Subject.Resource.GetNamespace() {
		return false
	}
	where, _ := w.Subject.Version.Kind.Placement(gvk)
	return where.Rendered && !slices.Contains(where.Listed, namespace)
}

// ListPatchers returns the files that patch objects of a kind.
func (w *Snapshot) ListPatchers(gvk schema.GroupVersionKind, subresource string) []string {
	if w.Subject.Version.Kind == nil {
		return nil
	}
	var files []string
	for _, d := range w.Subject.Version.Kind.Documents {
		if d.Patch() && d.GroupVersionKind == gvk && d.Subresource() == subresource {
			files = append(files, d.File)
		}
	}
	return files
}

// CanMake reports whether a file can make such an object for the resource.
func (w *Snapshot) CanMake(file string, l live.Object) (can, literal bool) {
	if w.Subject.Version.Kind == nil {
		return false, false
	}
	at := types.NamespacedName{Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()}
	return w.Subject.Version.Kind.CanMake(file, w.Subject.Resource.GetNamespace(), l.GVK.GroupKind(), at)
}
