package memory

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// What people and controllers do at the server stands below: it is not among the
// requests, and nothing refuses it.

// All returns the objects of a kind, by namespace and name.
func (s *Server) All(gvk schema.GroupVersionKind) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for _, o := range s.listSorted(gvk) {
		all = append(all, o.DeepCopy())
	}
	return all
}

// Get returns an object, or nil.
func (s *Server) Get(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	served, _ := s.Served(gvk)
	o := s.objects[types.NamespacedName{Namespace: namespace, Name: name}][served.GVR.GroupResource()]
	if o == nil {
		return nil
	}
	return convertVersion(o, gvk)
}

// Change changes an object, or makes it, as a manager that updates: what the
// function leaves is what there is. It returns the object.
func (s *Server) Change(o *unstructured.Unstructured, manager string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callOf(o, manager)
	there := s.objects[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}][c.served.GVR.GroupResource()]
	base, out := there, o.DeepCopy()
	if there == nil {
		base = newObject(c)
	} else {
		out = there.DeepCopy()
	}
	if change != nil {
		change(out)
	}
	return s.storeObject(c, there, newFieldManager(c).UpdateNoErrors(base.DeepCopy(), out, manager).(*unstructured.Unstructured))
}

// Apply applies a document, server-side and by force, under a manager's name. It
// returns the object.
func (s *Server) Apply(o *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callOf(o, manager)
	c.http.URL.RawQuery += "&force=true"
	body, err := json.Marshal(o.Object)
	if err != nil {
		panic(err) // a test's own document
	}
	c.body = body
	answer, status := s.applyObject(c, s.objects[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}][c.served.GVR.GroupResource()])
	if status != nil {
		panic(status.Message)
	}
	return &unstructured.Unstructured{Object: answer.(map[string]any)}
}

// Put puts an object in place as it is, its managedFields too.
func (s *Server) Put(o *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callOf(o, "")
	managed := o.GetManagedFields()
	out := s.storeObject(c, nil, o.DeepCopy())
	out.SetManagedFields(managed)
	out.SetUID(o.GetUID())
	s.objects[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}][c.served.GVR.GroupResource()] = out
}

// Delete deletes an object, as people do: it stays while it has finalizers.
func (s *Server) Delete(o *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callOf(o, "person")
	if there := s.objects[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}][c.served.GVR.GroupResource()]; there != nil {
		s.delete(c, there)
	}
}

// callOf is a call of a person about an object.
func (s *Server) callOf(o *unstructured.Unstructured, manager string) call {
	served, _ := s.Served(o.GroupVersionKind())
	return call{
		Request: Request{Resource: served.GVR.Resource, Namespace: o.GetNamespace(), Name: o.GetName()}, served: served,
		http: &http.Request{Header: http.Header{}, URL: &url.URL{RawQuery: "fieldManager=" + url.QueryEscape(manager)}},
	}
}

// Object reads an object from JSON.
func Object(text string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&o.Object); err != nil {
		panic(err) // a test's own text
	}
	return o
}
