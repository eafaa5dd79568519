package catalog

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Cluster stands in for a live cluster: the kinds that it serves and the
// objects in it. It is read-only.
type Cluster struct {
	served  map[apischema.GroupVersionKind]bool
	objects []*unstructured.Unstructured
	// applied are the children as the step before applied them, by identity.
	applied map[string]map[string]any
	// conditioned are the kinds whose CRDs declare status.conditions, wide
	// those that a CRD among the objects says live in no namespace.
	conditioned, wide map[apischema.GroupKind]bool
}

// Cluster makes a Cluster of the built-in kinds, crds/, and what a cluster file
// holds; without a file (nil) of schemas/ instead. The others are objects that
// stand beside the resources. The error names definitions among the objects
// that are none, with their places.
func (c *Catalog) Cluster(file *File, others []*Object) (*Cluster, error) {
	cluster := &Cluster{
		served: map[apischema.GroupVersionKind]bool{}, conditioned: map[apischema.GroupKind]bool{}, wide: map[apischema.GroupKind]bool{},
	}
	for gvk := range builtIn() {
		cluster.served[gvk] = true
	}
	for _, crd := range c.CRDs {
		cluster.addCRD(crd)
	}
	if file == nil {
		for _, crd := range c.Schemas {
			cluster.addCRD(crd)
		}
	} else {
		others = append(slices.Clone(file.Objects), others...)
	}
	for _, o := range others {
		if err := cluster.addObject(o); err != nil {
			return nil, err
		}
	}
	c.fillNamespaces(cluster.objects)
	slices.SortStableFunc(cluster.objects, newestFirst)
	return cluster, nil
}

// addCRD takes in the versions of a CRD, and whether they declare conditions.
func (cl *Cluster) addCRD(crd *schema.CRD) {
	for _, v := range crd.Versions {
		if status, found := schema.Root(v).Field("status"); found && slices.Contains(status.Fields(), "conditions") {
			cl.conditioned[v.GVK.GroupKind()] = true
		}
		if v.Served {
			cl.served[v.GVK] = true
		}
	}
}

var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// addObject takes in an object, as templates see it. Of a definition it also takes in the kind that
// it defines.
func (cl *Cluster) addObject(o *Object) error {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Object)}
	u.SetManagedFields(nil)
	if marks := u.GetAnnotations(); marks[corev1.LastAppliedConfigAnnotation] != "" {
		delete(marks, corev1.LastAppliedConfigAnnotation)
		u.SetAnnotations(marks)
		if len(marks) == 0 {
			u.SetAnnotations(nil)
		}
	}
	cl.objects = append(cl.objects, u)
	switch u.GroupVersionKind() {
	case secretKind:
		return encodeSecret(o, u)
	case definitionKind:
		return cl.addDefinition(o, u)
	}
	return nil
}

// addDefinition takes in the kind that a definition defines.
func (cl *Cluster) addDefinition(o *Object, u *unstructured.Unstructured) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd); err != nil {
		return fmt.Errorf("%s: reading the CustomResourceDefinition: %w", o.Place(""), err)
	}
	gk := apischema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	cl.wide[gk] = crd.Spec.Scope == apiextensionsv1.ClusterScoped
	for _, v := range crd.Spec.Versions {
		if v.Served {
			cl.served[gk.WithVersion(v.Name)] = true
		}
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			_, declares := v.Schema.OpenAPIV3Schema.Properties["status"].Properties["conditions"]
			cl.conditioned[gk] = cl.conditioned[gk] || declares
		}
	}
	return nil
}

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// encodeSecret moves stringData into data, as the API server does.
func encodeSecret(o *Object, u *unstructured.Unstructured) error {
	plain, found := u.Object["stringData"].(map[string]any)
	if !found {
		return nil
	}
	data, _ := u.Object["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range plain {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("%s: a value in stringData must be a text: quote it", o.Place("stringData."+key))
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(u.Object, "stringData")
	u.Object["data"] = data
	return nil
}

// fillNamespaces gives the default namespace to objects that need one and name none.
func (c *Catalog) fillNamespaces(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		gk := u.GroupVersionKind().GroupKind()
		crd := c.findDefinition(gk)
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
		if gvk.Version != runtime.APIVersionInternal && reflect.PointerTo(t).Implements(object) && !isRemoved(t) {
			known[gvk] = true
		}
	}
	return known
})

// isRemoved reports whether Kubernetes no longer serves a kind of its own.
func isRemoved(t reflect.Type) bool {
	dated, ok := reflect.New(t).Interface().(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return false
	}
	major, minor := dated.APILifecycleRemoved()
	return major == 1 && minor <= newestMinor
}
