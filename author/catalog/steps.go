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

// before lets a step begin with what the step before left. A cluster file of the
// step's own says what is in the cluster besides the children, and its fields of
// children win.
func (r *remains) before(one *Case, resource *Resource, cluster *Cluster) error {
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
		cluster.objects = copies(r.objects)
		return nil
	}
	for _, child := range copies(r.objects) {
		if r.applied[identity(child)] == nil {
			continue
		}
		i := slices.IndexFunc(cluster.objects, func(u *unstructured.Unstructured) bool { return identity(u) == identity(child) })
		if i < 0 {
			cluster.objects = append(cluster.objects, child)
			continue
		}
		delete(child.Object, "status")
		overlay(child.Object, cluster.objects[i].Object)
		cluster.objects[i] = child
	}
	slices.SortStableFunc(cluster.objects, newestFirst)
	return nil
}

// after is what a step leaves: nothing changes if it does not render. Children that
// are no longer rendered are gone, unless their file waits.
func (r *remains) after(out *Outcome) (*remains, error) {
	next := &remains{resource: out.Resource, objects: copies(out.World.cluster.objects), applied: map[string]map[string]any{}}
	if r != nil {
		next.applied, next.status = maps.Clone(r.applied), r.status
	}
	if out.Err != nil {
		return next, nil
	}
	if out.Resource.Kind.HasStatus {
		next.status = out.Traced.Status
	}
	next.prune(out)
	for _, child := range out.Traced.Result.Children {
		if child.Policy.Patch {
			continue
		}
		now, err := out.World.asApplied(child)
		if err != nil {
			return nil, err
		}
		next.apply(now)
	}
	slices.SortStableFunc(next.objects, newestFirst)
	return next, nil
}

// prune takes away the children that are no longer rendered.
func (r *remains) prune(out *Outcome) {
	rendered := map[string]bool{}
	for _, child := range out.Traced.Result.Children {
		rendered[identity(child.Object)] = true
	}
	for _, file := range out.Resource.Kind.Files {
		if slices.ContainsFunc(out.Traced.Result.Waiting, func(w render.Waiting) bool { return w.File == file }) {
			continue
		}
		for _, made := range out.World.made(file) {
			if id := identity(made); !rendered[id] {
				delete(r.applied, id)
				r.objects = slices.DeleteFunc(r.objects, func(u *unstructured.Unstructured) bool { return identity(u) == id })
			}
		}
	}
}

// apply does to an object what the API server does when the operator applies it. A
// status about another spec is no longer true.
func (r *remains) apply(now *unstructured.Unstructured) {
	id := identity(now)
	i := slices.IndexFunc(r.objects, func(u *unstructured.Unstructured) bool { return identity(u) == id })
	if i < 0 {
		i = len(r.objects)
		r.objects = append(r.objects, &unstructured.Unstructured{Object: map[string]any{}})
	}
	live := r.objects[i].Object
	spec := runtime.DeepCopyJSONValue(live["spec"])
	without(live, r.applied[id], now.Object)
	overlay(live, now.Object)
	if !reflect.DeepEqual(spec, live["spec"]) {
		delete(live, "status")
	}
	r.applied[id] = runtime.DeepCopyJSON(now.Object)
}

// without takes the fields out of an object that were applied and no longer are.
func without(live, before, now map[string]any) {
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
			without(a, b, c)
		}
	}
}

// overlay sets the fields of an object that another one has. Lists are replaced.
func overlay(object, over map[string]any) {
	for key, value := range over {
		a, one := object[key].(map[string]any)
		b, two := value.(map[string]any)
		if one && two {
			overlay(a, b)
			continue
		}
		object[key] = runtime.DeepCopyJSONValue(value)
	}
}

func copies(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	next := make([]*unstructured.Unstructured, len(all))
	for i, u := range all {
		next[i] = u.DeepCopy()
	}
	return next
}

// identity is what makes an object the same in two steps.
func identity(u *unstructured.Unstructured) string {
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
		read, err := c.given(file)
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
