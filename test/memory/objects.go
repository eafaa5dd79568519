package memory

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A call is a request with what was sent.
type call struct {
	Request
	served live.Resource
	http   *http.Request
	body   []byte
}

// serveCall carries out a request, and returns an object or why it failed.
func (s *Server) serveCall(c call) (any, *metav1.Status) {
	if c.Verb == "list" {
		return s.list(c), nil
	}
	at := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	there := s.objects[at][c.served.GVR.GroupResource()]
	if there == nil && c.Verb != "apply" {
		status := newFailure(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", c.Resource, c.Name))
		status.Details = &metav1.StatusDetails{Name: c.Name, Kind: c.Resource}
		return nil, status
	}
	switch c.Verb {
	case "get":
		return convertObject(c, there), nil
	case "delete":
		return s.delete(c, there)
	case "apply":
		return s.applyObject(c, there)
	}
	return s.patchObject(c, there)
}

// convertObject returns an object in the version of the request, or only its metadata if the
// request accepts that.
func convertObject(c call, o *unstructured.Unstructured) any {
	if !strings.Contains(c.http.Header.Get("Accept"), "PartialObjectMetadata") {
		return convertVersion(o, c.served.GVK).Object
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o.Object["metadata"]}
}

func (s *Server) list(c call) any {
	query := c.http.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		selector = labels.Nothing()
	}
	name, named := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
	items := []any{}
	for _, o := range s.listSorted(c.served.GVK) {
		if (c.Namespace == "" || o.GetNamespace() == c.Namespace) && selector.Matches(labels.Set(o.GetLabels())) &&
			(!named || o.GetName() == name) {
			items = append(items, convertObject(c, o))
		}
	}
	list := map[string]any{"apiVersion": c.served.GVK.GroupVersion().String(), "kind": c.served.GVK.Kind + "List"}
	if strings.Contains(c.http.Header.Get("Accept"), "PartialObjectMetadataList") {
		list = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList"}
	}
	list["metadata"], list["items"] = map[string]any{"resourceVersion": strconv.Itoa(s.version)}, items
	return list
}

// listSorted returns the objects of a kind, by namespace and name.
func (s *Server) listSorted(gvk schema.GroupVersionKind) []*unstructured.Unstructured {
	served, _ := s.Served(gvk)
	var all []*unstructured.Unstructured
	for _, of := range s.objects {
		if o := of[served.GVR.GroupResource()]; o != nil {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return all
}

// newConflict returns the failure of a write that another one has overtaken.
func newConflict(message string) *metav1.Status {
	return newFailure(http.StatusConflict, metav1.StatusReasonConflict, "Operation cannot be fulfilled: "+message)
}

// checkPrecondition refuses a write that is about another object, or another state of it, than
// there is.
func checkPrecondition(there *unstructured.Unstructured, uid types.UID, version string) *metav1.Status {
	switch {
	case there == nil && uid != "":
		return newFailure(http.StatusConflict, metav1.StatusReasonConflict, "uid mismatch: the object does not exist")
	case there == nil:
		return nil
	case uid != "" && uid != there.GetUID():
		status := newFailure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "metadata.uid: Invalid value: field is immutable")
		status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "metadata.uid", Message: "field is immutable"}}}
		return status
	case version != "" && version != there.GetResourceVersion():
		return newConflict("the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

// applyObject carries out a server-side apply. there is nil if the object does not exist.
func (s *Server) applyObject(c call, there *unstructured.Unstructured) (any, *metav1.Status) {
	doc := &unstructured.Unstructured{}
	if err := json.Unmarshal(c.body, &doc.Object); err != nil {
		return nil, newFailure(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	if status := checkPrecondition(there, doc.GetUID(), doc.GetResourceVersion()); status != nil {
		return nil, status
	}
	base := there
	if base == nil {
		base = newObject(c)
	}
	unstructured.RemoveNestedField(doc.Object, "metadata", "uid")
	unstructured.RemoveNestedField(doc.Object, "metadata", "resourceVersion")
	query := c.http.URL.Query()
	out, err := newFieldManager(c).Apply(base.DeepCopy(), doc, query.Get("fieldManager"), query.Get("force") == "true")
	if refusal, is := err.(interface{ Status() metav1.Status }); is {
		status := refusal.Status()
		status.Kind, status.APIVersion = "Status", "v1" // else the client reads no causes
		return nil, &status
	}
	if err != nil {
		return nil, newFailure(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
	return s.storeObject(c, there, out.(*unstructured.Unstructured)).Object, nil
}

// newObject returns an object that has only its kind and its name.
func newObject(c call) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(c.served.GVK)
	o.SetName(c.Name)
	o.SetNamespace(c.Namespace)
	return o
}

// patchObject carries out a merge patch or a JSON patch.
func (s *Server) patchObject(c call, there *unstructured.Unstructured) (any, *metav1.Status) {
	before, err := json.Marshal(there.Object)
	if err != nil {
		return nil, newFailure(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
	var after []byte
	if c.http.Header.Get("Content-Type") == string(types.JSONPatchType) {
		var changes jsonpatch.Patch
		if changes, err = jsonpatch.DecodePatch(c.body); err == nil {
			after, err = changes.Apply(before)
		}
	} else {
		after, err = jsonpatch.MergePatch(before, c.body)
	}
	out := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(after, &out.Object)
	}
	if err != nil {
		return nil, newFailure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error())
	}
	if status := checkPrecondition(there, out.GetUID(), out.GetResourceVersion()); status != nil {
		return nil, status
	}
	if managed := out.GetManagedFields(); len(managed) == 1 && managed[0].Operation == "" { // that is how there are to be none
		out.SetManagedFields(nil)
	}
	if reflect.DeepEqual(there.GetManagedFields(), out.GetManagedFields()) { // else the patch is about them
		out = newFieldManager(c).UpdateNoErrors(there.DeepCopy(), out, c.http.URL.Query().Get("fieldManager")).(*unstructured.Unstructured)
	}
	return s.storeObject(c, there, out).Object, nil
}

// storeObject stores an object, if that changes something, and returns it.
func (s *Server) storeObject(c call, there, out *unstructured.Unstructured) *unstructured.Unstructured {
	out.SetNamespace(c.Namespace)
	if there == nil {
		out.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
		out.SetGeneration(1)
		out.SetCreationTimestamp(metav1.NewTime(time.Unix(1e9+int64(s.version), 0).UTC()))
	} else {
		out.SetResourceVersion(there.GetResourceVersion())
		if reflect.DeepEqual(there.Object, out.Object) {
			return there.DeepCopy()
		}
		if !reflect.DeepEqual(there.Object["spec"], out.Object["spec"]) {
			out.SetGeneration(there.GetGeneration() + 1)
		}
	}
	if c.DryRun {
		return out
	}
	s.version++
	out.SetResourceVersion(strconv.Itoa(s.version))
	at, resource := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}, c.served.GVR.GroupResource()
	if s.objects[at] == nil {
		s.objects[at] = map[schema.GroupResource]*unstructured.Unstructured{}
	}
	s.objects[at][resource] = out
	if out.GetDeletionTimestamp() != nil && len(out.GetFinalizers()) == 0 {
		delete(s.objects[at], resource)
	}
	return out.DeepCopy()
}

func (s *Server) delete(c call, there *unstructured.Unstructured) (any, *metav1.Status) {
	how := &metav1.DeleteOptions{}
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, how); err != nil {
			return nil, newFailure(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		}
	}
	if p := how.Preconditions; p != nil && p.UID != nil && *p.UID != there.GetUID() {
		return nil, newConflict("the UID in the precondition does not match the UID in record")
	}
	if there.GetDeletionTimestamp() == nil {
		out := there.DeepCopy()
		out.SetDeletionTimestamp(ptr.To(metav1.NewTime(time.Now().UTC().Truncate(time.Second))))
		s.storeObject(c, there, out)
	}
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}
