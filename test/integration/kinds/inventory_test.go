package kinds

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// An inventory is everything in the namespaces of this test, of every kind
// that the cluster serves.
type inventory struct {
	objects map[types.UID]*unstructured.Unstructured
	// resources are the plurals, by kind.
	resources map[schema.GroupKind]string
	served    map[schema.GroupVersionKind]bool
}

// takeInventory lists everything.
func takeInventory(t testing.TB, namespaces map[string]bool) *inventory {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	in := &inventory{objects: map[types.UID]*unstructured.Unstructured{}, resources: map[schema.GroupKind]string{},
		served: map[schema.GroupVersionKind]bool{}}
	var all []*metav1.APIResourceList
	kit.Eventually(t, "all that is served is known", func() (err error) { // a kind that comes just now may not be
		_, all, err = client.ServerGroupsAndResources()
		return err
	})
	// Always in the same version, so that two inventories can be compared; the
	// last, as autoscaling/v1 shows conditions among the annotations.
	slices.SortFunc(all, func(a, b *metav1.APIResourceList) int { return strings.Compare(b.GroupVersion, a.GroupVersion) })
	for _, list := range all {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			gvk := gv.WithKind(r.Kind)
			if strings.Contains(r.Name, "/") {
				continue
			}
			in.served[gvk] = true
			if _, listed := in.resources[gvk.GroupKind()]; listed || !r.Namespaced || r.Kind == "Event" || !slices.Contains(r.Verbs, "list") {
				continue
			}
			in.resources[gvk.GroupKind()] = r.Name
			found, err := objects.Resource(gv.WithResource(r.Name)).List(context.Background(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing %s: %v", r.Name, err)
			}
			in.take(found.Items, namespaces)
		}
	}
	return in
}

func (in *inventory) take(objects []unstructured.Unstructured, namespaces map[string]bool) {
	for i := range objects {
		if o := &objects[i]; namespaces[o.GetNamespace()] {
			in.objects[o.GetUID()] = o
		}
	}
}

// find is the object of a group, kind, namespace and name, or nil.
func (in *inventory) find(gk schema.GroupKind, namespace, name string) *unstructured.Unstructured {
	for _, o := range in.objects {
		if o.GetName() == name && o.GetNamespace() == namespace && o.GroupVersionKind().GroupKind() == gk {
			return o
		}
	}
	return nil
}

// of lists what a resource controls or the operator applied for it.
func (in *inventory) of(resource *unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range in.objects {
		controller := metav1.GetControllerOf(o)
		ours := o.GetLabels()[api.LabelOwnerUID] == string(resource.GetUID()) && applied(o)
		if ours || controller != nil && controller.UID == resource.GetUID() {
			all = append(all, o)
		}
	}
	return all
}

// applied reports whether the operator has applied fields of an object.
func applied(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == api.FieldManager && m.Subresource == ""
	})
}

// A world is what templates see of an inventory: the engine's own sight of the
// cluster has no part in it.
type world struct {
	*inventory
	resource *unstructured.Unstructured
}

func (w world) HasAPI(apiVersion, kind string) (bool, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return w.served[gv.WithKind(kind)], err
}

func (w world) Children(file string) ([]any, error) {
	all := w.of(w.resource)
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		if c := b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	out := []any{}
	for _, o := range all {
		if o.GetAnnotations()[api.AnnotationFile] == file {
			out = append(out, o.Object)
		}
	}
	return out, nil
}

func (world) Await(string, []*template.Document) (any, string, error) { return nil, "", nil }
func (world) Lookup(template.Object) (any, error)                     { return nil, nil }
func (world) Select(template.Object, labels.Selector) ([]any, error)  { return nil, nil }
func (world) Config(string) (any, error)                              { return nil, nil }
func (world) Stable(string, string, int) (string, error)              { return "", nil }
