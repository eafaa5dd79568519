package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Resource is a custom resource of a file, as the API server would keep it.
type Resource struct {
	Kind   *kind.Kind
	Object *unstructured.Unstructured
	// Source is what the file says.
	Source *Object
}

// String returns the kind, namespace and name: Page default/hello.
func (r *Resource) String() string {
	name := r.Object.GetName()
	if ns := r.Object.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return r.Object.GetKind() + " " + name
}

// Resources finds the custom resources of the catalog's kinds among objects and
// does to them what the API server would do: their namespace is filled in,
// unknown fields are refused, defaults filled in, all rules checked. The rest
// are the other objects. The error joins everything that is wrong, with its
// places; it holds no values but numbers and booleans.
func (c *Catalog) Resources(objects []*Object) (found []*Resource, rest []*Object, err error) {
	var errs []error
	for _, o := range objects {
		gvk := (&unstructured.Unstructured{Object: o.Object}).GroupVersionKind()
		k, err := c.Find(gvk.GroupKind())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if k == nil {
			rest = append(rest, o)
			errs = append(errs, c.checkSpelling(o, gvk.GroupKind()))
			continue
		}
		r, err := admitResource(k, o, gvk.Version)
		errs = append(errs, err)
		if err == nil {
			found = append(found, r)
		}
	}
	return found, rest, errors.Join(errs...)
}

// standInUID stands for the uid that a cluster would draw.
const standInUID = "00000000-0000-4000-8000-000000000000"

// admitResource does what the API server does when a resource is created.
func admitResource(k *kind.Kind, o *Object, written string) (*Resource, error) {
	version, err := k.CRD.Version(written)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Place("apiVersion"), err)
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Object)}
	if meta, ok := u.Object["metadata"].(map[string]any); ok {
		if k.CRD.Namespaced && meta["namespace"] == nil {
			meta["namespace"] = metav1.NamespaceDefault
		}
		if meta["generation"] == nil {
			meta["generation"] = int64(1)
		}
		if meta["uid"] == nil {
			meta["uid"] = standInUID
		}
	}
	var errs []error
	for _, path := range apiserver.FindUnknown(version, u.Object) {
		errs = append(errs, fmt.Errorf("%s: %s: unknown field%s", o.Place(path), path, suggestField(version, path)))
	}
	apiserver.Default(version, u.Object)
	for _, wrong := range apiserver.Validate(version, u.Object) {
		errs = append(errs, fmt.Errorf("%s: %s", o.Place(wrong.Field), crdfile.Describe(wrong)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Resource{Kind: k, Object: u, Source: o}, convertResource(k, o, u, version)
}

// convertResource turns the resource into the version that the templates see.
func convertResource(k *kind.Kind, o *Object, u *unstructured.Unstructured, written *schema.Version) error {
	if written.Name == k.Version.Name {
		return nil
	}
	how := k.CRD.Object.Spec.Conversion
	if how != nil && how.Strategy != apiextensionsv1.NoneConverter && how.Strategy != "" {
		return fmt.Errorf("%s: only a cluster can convert it: write it as %s", o.Place("apiVersion"), k.GVK.GroupVersion())
	}
	u.SetAPIVersion(k.GVK.GroupVersion().String())
	k.Version.Prune(u.Object)
	apiserver.Default(k.Version, u.Object)
	return nil
}

// suggestField returns which field a misspelt one means, as the end of an error, or "" if none is
// near.
func suggestField(version *schema.Version, path string) string {
	cut := strings.LastIndex(path, ".")
	parent, name := path[:max(cut, 0)], path[cut+1:]
	t := schema.Root(version)
	for _, step := range strings.FieldsFunc(parent, func(r rune) bool { return r == '.' || r == '[' }) {
		if strings.HasSuffix(step, "]") {
			t = t.Elem()
		} else if next, found := t.Field(step); found {
			t = next
		} else {
			return ""
		}
	}
	near := schema.Suggest(name, t.Fields())
	if near == "" {
		return ""
	}
	if parent != "" {
		near = parent + "." + near
	}
	return "; did you mean " + near + "?"
}

// Known lists the catalog's sound kinds, for people.
func (c *Catalog) Known() string {
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(c.Kinds)) {
		k := c.Kinds[name]
		kinds = append(kinds, k.GVK.Kind+" ("+k.GVK.GroupVersion().String()+")")
	}
	return cmp.Or(strings.Join(kinds, ", "), "none")
}
