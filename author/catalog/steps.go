package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// A remains is what a step of a golden case leaves for the next one.
type remains struct {
	resource *Resource
	// objects are those of the cluster, with the children, and applied the children
	// as they were rendered last.
	objects []*unstructured.Unstructured
	applied map[string]map[string]any
	status  any
}

// beginStep lets a step begin with what the step before it left. A cluster file of the step's own
// lists what is in the cluster besides the children. Where it has a child too, its fields win.
func (r *remains) beginStep(one *Case, resource *Resource, cluster *Cluster) error {
	if r.resource.String() != resource.String() {
		return fmt.Errorf("%s: it holds %s, and the step before %s: a case is about one resource", one.Path(fileResource), resource, r.resource)
	}
	_, written := resource.Source.Object["status"]
	if r.status != nil && (!written || !one.has(fileResource)) {
		resource.Object.Object["status"] = runtime.DeepCopyJSONValue(r.status)
		apiserver.Default(resource.Kind.Version, resource.Object.Object)
	}
	cluster.applied = r.applied
	if !one.has(fileCluster) {
		cluster.objects = copyObjects(r.objects)
		return nil
	}
	for _, child := range copyObjects(r.objects) {
		if r.applied[identityOf(child)] == nil {
			continue
		}
		i := slices.IndexFunc(cluster.objects, func(u *unstructured.Unstructured) bool { return identityOf(u) == identityOf(child) })
		if i < 0 {
			cluster.objects = append(cluster.objects, child)
			continue
		}
		delete(child.Object, "status")
		overlayFields(child.Object, cluster.objects[i].Object)
		cluster.objects[i] = child
	}
	slices.SortStableFunc(cluster.objects, newestFirst)
	return nil
}

// nextRemains returns what a step leaves for the next one. Nothing changes if the step does not
// render. Children that are no longer rendered are removed, unless their file waits.
func (r *remains) nextRemains(out *Outcome) (*remains, error) {
	next := &remains{resource: out.Resource, objects: copyObjects(out.World.cluster.objects), applied: map[string]map[string]any{}}
	if r != nil {
		next.applied, next.status = maps.Clone(r.applied), r.status
	}
	if out.Err != nil {
		return next, nil
	}
	if out.Resource.Kind.HasStatus {
		next.status = out.Traced.Status
	}
	next.pruneChildren(out)
	for _, child := range out.Traced.Result.Children {
		if child.Policy.Patch {
			continue
		}
		now, err := out.World.asApplied(child)
		if err != nil {
			return nil, err
		}
		next.applyObject(now)
	}
	slices.SortStableFunc(next.objects, newestFirst)
	return next, nil
}

// pruneChildren removes the children that are no longer rendered.
func (r *remains) pruneChildren(out *Outcome) {
	rendered := map[string]bool{}
	for _, child := range out.Traced.Result.Children {
		rendered[identityOf(child.Object)] = true
	}
	for _, file := range out.Resource.Kind.Files {
		if slices.ContainsFunc(out.Traced.Result.Waiting, func(w render.Waiting) bool { return w.File == file }) {
			continue
		}
		for _, made := range out.World.listMade(file) {
			if id := identityOf(made); !rendered[id] {
				delete(r.applied, id)
				r.objects = slices.DeleteFunc(r.objects, func(u *unstructured.Unstructured) bool { return identityOf(u) == id })
			}
		}
	}
}

// applyObject does to an object what the API server does when the operator applies it. A status
// about another spec is no longer true.
func (r *remains) applyObject(now *unstructured.Unstructured) {
	id := identityOf(now)
	i := slices.IndexFunc(r.objects, func(u *unstructured.Unstructured) bool { return identityOf(u) == id })
	if i < 0 {
		i = len(r.objects)
		r.objects = append(r.objects, &unstructured.Unstructured{Object: map[string]any{}})
	}
	live := r.objects[i].Object
	spec := runtime.DeepCopyJSONValue(live["spec"])
	removeFields(live, r.applied[id], now.Object)
	overlayFields(live, now.Object)
	if !reflect.DeepEqual(spec, live["spec"]) {
		delete(live, "status")
	}
	r.applied[id] = runtime.DeepCopyJSON(now.Object)
}

// removeFields removes the fields from an object that were applied before and no longer are.
func removeFields(live, before, now map[string]any) {
	for key, old := range before {
		next, there := now[key]
		if !there {
			delete(live, key)
			continue
		}
		a, one := live[key].(map[string]any)
		b, two := old.(map[string]any)
		c, three := next.(map[string]any)
		if one && two && three {
			removeFields(a, b, c)
		}
	}
}

// overlayFields sets the fields of an object that another one has. Lists are replaced.
func overlayFields(object, over map[string]any) {
	for key, value := range over {
		a, one := object[key].(map[string]any)
		b, two := value.(map[string]any)
		if one && two {
			overlayFields(a, b)
			continue
		}
		object[key] = runtime.DeepCopyJSONValue(value)
	}
}

// copyObjects returns deep copies of objects.
func copyObjects(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	next := make([]*unstructured.Unstructured, len(all))
	for i, u := range all {
		next[i] = u.DeepCopy()
	}
	return next
}

// identityOf returns what makes an object the same in two steps.
func identityOf(u *unstructured.Unstructured) string {
	return strings.Join([]string{u.GroupVersionKind().GroupKind().String(), u.GetNamespace(), u.GetName()}, "/")
}

// Own are the objects of the files that the step itself has: the resource as it is
// written, nil if it is that of the step before, with what stands beside it; and those
// of the cluster.
func (c *Case) Own() (resource, cluster []*unstructured.Unstructured, err error) {
	for file, to := range map[string]*[]*unstructured.Unstructured{fileResource: &resource, fileCluster: &cluster} {
		if !c.has(file) {
			continue
		}
		read, err := c.readGiven(file)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range read.Objects {
			*to = append(*to, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Object)})
		}
	}
	return resource, cluster, nil
}

// Configured reports whether the case has settings of its own.
func (c *Case) Configured() bool { return c.givens[fileConfig].name != "" }

// StandInUID stands for the uid that a cluster draws for the resource.
const StandInUID = standInUID
