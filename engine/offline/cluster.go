package offline

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Cluster stands in for a live cluster: the kinds that it serves and the
// objects in it. It is read-only.
type Cluster struct {
	served  map[apischema.GroupVersionKind]bool
	objects []*unstructured.Unstructured
}

// Cluster makes a Cluster of the built-in kinds, crds/, and what a cluster file
// holds; without a file (nil) of schemas/ instead. The others are objects that
// stand beside the resources. The error names definitions among the objects
// that are none, with their places.
func (c *Catalog) Cluster(file *File, others []*Object) (*Cluster, error) {
	cluster := &Cluster{served: map[apischema.GroupVersionKind]bool{}}
	for gvk := range builtIn() {
		cluster.served[gvk] = true
	}
	for _, crd := range c.CRDs {
		cluster.serve(crd)
	}
	if file == nil {
		for _, crd := range c.Schemas {
			cluster.serve(crd)
		}
	} else {
		others = append(slices.Clone(file.Objects), others...)
	}
	for _, o := range others {
		if err := cluster.take(o); err != nil {
			return nil, err
		}
	}
	c.place(cluster.objects)
	slices.SortStableFunc(cluster.objects, newestFirst)
	return cluster, nil
}

func (cl *Cluster) serve(crd *schema.CRD) {
	for _, v := range crd.Versions {
		if v.Served {
			cl.served[v.GroupVersionKind()] = true
		}
	}
}

var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// take takes in an object; of a definition, the kind that it defines.
func (cl *Cluster) take(o *Object) error {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Object)}
	cl.objects = append(cl.objects, u)
	if u.GroupVersionKind() != definitionKind {
		return nil
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd); err != nil {
		return fmt.Errorf("%s: reading the CustomResourceDefinition: %w", o.Place(""), err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			cl.served[apischema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = true
		}
	}
	return nil
}

// place gives objects that need a namespace and name none the default one.
func (c *Catalog) place(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		gk := u.GroupVersionKind().GroupKind()
		crd := c.definition(gk)
		if u.GetNamespace() == "" && !schema.ClusterScoped(gk) && (crd == nil || crd.Namespaced) {
			u.SetNamespace(metav1.NamespaceDefault)
		}
	}
}

// newestFirst orders by time of creation, then by namespace and name.
func newestFirst(a, b *unstructured.Unstructured) int {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(y.Compare(x.Time), strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

// For returns the cluster as the templates of one resource see it.
func (cl *Cluster) For(k *kind.Kind, resource *unstructured.Unstructured) *World {
	return &World{cluster: cl, owner: api.Owner{Kind: k.Name, Namespace: resource.GetNamespace(), Name: resource.GetName()}}
}

// A World is a Cluster seen from one resource. It is a template.World.
type World struct {
	cluster *Cluster
	owner   api.Owner
}

// HasAPI says whether the cluster serves a kind.
func (w *World) HasAPI(apiVersion, kind string) (bool, error) {
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false, fmt.Errorf("reading apiVersion %s: %w", apiVersion, err)
	}
	return w.cluster.served[gv.WithKind(kind)], nil
}

// Children returns the objects that say by annotation that this file made them
// and do not say that they are another resource's, newest first.
func (w *World) Children(file string) ([]any, error) {
	var found []any
	for _, u := range w.cluster.objects {
		marks := u.GetAnnotations()
		owner, owned := marks[api.AnnotationOwner]
		if marks[api.AnnotationFile] != file || u.GetNamespace() != w.owner.Namespace || owned && owner != w.owner.String() {
			continue
		}
		found = append(found, u.Object)
	}
	return found, nil
}

// newestMinor is the minor version of Kubernetes 1 whose built-in kinds the
// tools assume: what was removed by then is not served.
const newestMinor = 36

// builtIn are the kinds that every cluster serves.
var builtIn = sync.OnceValue(func() map[apischema.GroupVersionKind]bool {
	object := reflect.TypeFor[metav1.ObjectMetaAccessor]()
	known := map[apischema.GroupVersionKind]bool{
		definitionKind: true,
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}: true,
	}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal && reflect.PointerTo(t).Implements(object) && !removed(t) {
			known[gvk] = true
		}
	}
	return known
})

// removed says whether Kubernetes no longer serves a kind of its own.
func removed(t reflect.Type) bool {
	dated, ok := reflect.New(t).Interface().(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return false
	}
	major, minor := dated.APILifecycleRemoved()
	return major == 1 && minor <= newestMinor
}

// Await returns the newest child that a file made, and what it waits for.
func (w *World) Await(string) (child any, waits string, err error) { return nil, "", errNotYet }

// Lookup returns one object of the cluster.
func (w *World) Lookup(template.Object) (any, error) { return nil, errNotYet }

// Select returns the objects that match.
func (w *World) Select(template.Object, labels.Selector) ([]any, error) { return nil, errNotYet }

// Config returns a setting of the installation.
func (w *World) Config(string) (any, error) { return nil, errNotYet }

// Stable returns a stand-in for a drawn text.
func (w *World) Stable(string, string, int) (string, error) { return "", errNotYet }

var errNotYet = errors.New("it cannot be read yet")
