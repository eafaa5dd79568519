package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkPlace fills the resource's namespace in and refuses every place that
// kind.yaml does not declare.
func (c *Child) checkPlace(k *kind.Kind, resource *unstructured.Unstructured) error {
	gvk, name := c.Object.GroupVersionKind(), c.Object.GetKind()
	meta := c.Object.Object["metadata"].(map[string]any)
	ns, text := meta["namespace"].(string)
	_, given := meta["namespace"]
	where, declared := k.Placement(gvk)
	own := resource.GetNamespace()
	switch {
	case given && (!text || ns == ""):
		return c.errorf([]any{"metadata", "namespace"}, "metadata.namespace must be the name of a namespace, or be left out")
	case k.ClusterScoped(gvk) && !declared:
		return c.errorf([]any{"kind"},
			"%s is cluster-scoped and must be declared: write in kind.yaml, under children: - {apiVersion: %s, kind: %s}",
			name, gvk.GroupVersion(), name)
	case k.ClusterScoped(gvk) && given:
		return c.errorf([]any{"metadata", "namespace"}, "%s is cluster-scoped: leave metadata.namespace out", name)
	case k.ClusterScoped(gvk):
		return c.checkReserved(k, "name", c.Object.GetName())
	case !given && !k.CRD.Namespaced:
		return c.errorf(nil, "%s is cluster-scoped, and so it has no namespace for %s: write metadata.namespace", k.GVK.Kind, name)
	case !given:
		ns = own
		meta["namespace"] = own
	case ns != own && !slices.Contains(where.Listed, ns) && !where.Rendered:
		return c.errorf([]any{"metadata", "namespace"},
			"%s is in another namespace than its resource: leave metadata.namespace out, or declare in kind.yaml, under children, where it may be",
			name)
	}
	return c.checkReserved(k, "namespace", ns)
}

var namespaceKind = apischema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// checkReserved refuses the namespaces of Kubernetes, unless they are listed,
// and of the operator: as a place, and as a Namespace object.
func (c *Child) checkReserved(k *kind.Kind, field, ns string) error {
	path := []any{"metadata", field}
	gvk := c.Object.GroupVersionKind()
	if field == "name" && gvk != namespaceKind {
		return nil
	}
	listed := slices.ContainsFunc(k.Settings.Children, func(r kind.ChildRule) bool {
		return slices.Contains(r.Namespaces.Listed, ns) && (field == "name" || r.GVK() == gvk)
	})
	switch {
	case ns == k.OperatorNamespace() && ns != "":
		return c.errorf(path, "nothing may be in the operator's own namespace")
	case field == "namespace" && ns != "" && !k.Within(ns):
		return c.errorf(path, "the operator is limited to other namespaces (--namespaces)")
	case strings.HasPrefix(ns, "kube-") && !listed:
		return c.errorf(path, "nothing may be in the namespaces kube-*: where it must be, list that namespace in kind.yaml, under children")
	}
	return nil
}

// inRendered reports whether a child is where it may only be if the same resource
// makes that namespace.
func (c *Child) inRendered(k *kind.Kind, resource *unstructured.Unstructured) bool {
	where, _ := k.Placement(c.Object.GroupVersionKind())
	ns := c.Object.GetNamespace()
	return ns != "" && ns != resource.GetNamespace() && !slices.Contains(where.Listed, ns)
}

// checkNamespaces refuses children in a namespace that the resource does not
// make. While a file waits that could make it, their files wait too.
func (r *Result) checkNamespaces(k *kind.Kind, resource *unstructured.Unstructured) error {
	made := map[string]bool{}
	for _, c := range r.Children {
		if c.Object.GroupVersionKind() == namespaceKind && !c.Policy.Patch {
			made[c.Object.GetName()] = true
		}
	}
	waiting := slices.IndexFunc(r.Waiting, func(w Waiting) bool { return slices.Contains(k.Makes(w.File), namespaceKind) })
	var errs []error
	for _, c := range slices.Clone(r.Children) {
		switch {
		case !c.inRendered(k, resource) || made[c.Object.GetNamespace()]:
		case waiting >= 0:
			r.hold(c.File, "the namespace of "+c.Object.GetKind()+" is not there yet: "+r.Waiting[waiting].File+" waits")
		default:
			errs = append(errs, c.errorf([]any{"metadata", "namespace"},
				"%s is in a namespace that the resource does not make: render a Namespace of that name", c.Object.GetKind()))
		}
	}
	return errors.Join(errs...)
}

// hold makes a file wait that was rendered.
func (r *Result) hold(file, message string) {
	if !slices.Contains(r.Rendered, file) {
		return
	}
	r.Waiting = append(r.Waiting, Waiting{file, message})
	r.Rendered = slices.DeleteFunc(r.Rendered, func(f string) bool { return f == file })
	r.Children = slices.DeleteFunc(r.Children, func(c Child) bool { return c.File == file })
}

func (r *Result) checkNumber() error {
	if len(r.Children) > maxChildren {
		return fmt.Errorf("rendering: %d children are more than %d: %w", len(r.Children), maxChildren, template.ErrBudget)
	}
	return nil
}

// checkTwice refuses an object that is rendered twice. One may be patched in
// itself and in its subresources; one that is patched is somebody else's.
func (r *Result) checkTwice() error {
	var errs []error
	first := map[string][]*Child{}
	for i := range r.Children {
		c := &r.Children[i]
		id := c.Object.GroupVersionKind().GroupKind().String() + "/" + c.Object.GetNamespace() + "/" + c.Object.GetName()
		for _, other := range first[id] {
			if wrong := c.clash(other); wrong != "" {
				errs = append(errs, &template.Error{Place: c.Doc.Place("metadata", "name"), Err: fmt.Errorf(
					"%s of this name is rendered %s %s", c.Object.GetKind(), wrong, other.Doc.Place("metadata", "name"))})
				break
			}
		}
		first[id] = append(first[id], c)
	}
	return errors.Join(errs...)
}

// clash says how two documents of one object contradict each other.
func (c *Child) clash(other *Child) string {
	switch {
	case c.Policy.Patch != other.Policy.Patch:
		return "as the resource's own and as a patch of somebody else's: here and at"
	case c.Policy.Subresource == other.Policy.Subresource:
		return "twice: here and at"
	}
	return ""
}
