package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Restore decides which parts of the live object of a step go, so that it becomes as the
// document says. The object was read from the API server, which may have refused fields.
func (s *Step) Restore(doc, read *unstructured.Unstructured, refused []ownership.Refused) ownership.Restoration {
	in := ownership.Comparison{Document: doc.Object, Manager: api.FieldManager, Live: read, Refused: refused,
		WasApplied: read.GetAnnotations()[api.AnnotationDesired] == s.Hash}
	for _, x := range schema.BuiltInType(doc.GroupVersionKind()).Excluded(doc.Object) {
		in.Excluded = append(in.Excluded, ownership.Excluded{Path: x.Path, Decides: x.By, Fits: x.Fits})
	}
	return ownership.Restore(in)
}

// readsFirst reports whether the live object has to be read before it is changed, since an
// apply alone may not make it as rendered: it is taken over, an entry of a list may have
// taken the place of ours, or the API server keeps what the document now excludes.
func (in *Input) readsFirst(s *Step) bool {
	o := s.Live.Meta
	if !in.Applied.Ours(in.Owner, o) {
		return true
	}
	if o.GetAnnotations()[api.AnnotationDesired] != s.Hash {
		return givesUpClusterIP(s.Document, o) || slices.ContainsFunc(
			schema.BuiltInType(s.Document.GroupVersionKind()).Excluded(s.Document.Object), func(x schema.Exclusion) bool { return x.IsKept })
	}
	displacers := ownership.Displacers(o.GetManagedFields(), s.Document.Object, api.FieldManager)
	if len(s.Taken) > 0 {
		s.Takers = slices.Concat(s.Takers, displacers)
		slices.Sort(s.Takers)
		s.Takers = slices.Compact(s.Takers)
	}
	return len(displacers) > 0
}

var services = runtimeschema.GroupVersionKind{Version: "v1", Kind: "Service"}

// givesUpClusterIP reports whether a Service is not rendered with a clusterIP any more.
func givesUpClusterIP(doc *unstructured.Unstructured, o metav1.Object) bool {
	if doc.GroupVersionKind() != services {
		return false
	}
	_, rendered, _ := unstructured.NestedString(doc.Object, "spec", "clusterIP")
	entry, _, err := ownership.Ours(o.GetManagedFields(), api.FieldManager)
	return err == nil && !rendered && entry.Reaches("spec", "clusterIP")
}

// Detour returns what has to be applied to a Service before its document, or nil. Whether
// a Service is headless can only be changed by way of type ExternalName: the API server
// keeps or refuses any other change. What it returns has no other field of the spec, since
// many do not go with that type. It has a hash of its own, so that the document is applied
// in any case, also after a crash.
func Detour(doc, live *unstructured.Unstructured) *unstructured.Unstructured {
	if doc.GroupVersionKind() != services {
		return nil
	}
	of := func(o *unstructured.Unstructured, name string) string {
		text, _, _ := unstructured.NestedString(o.Object, "spec", name)
		return text
	}
	const external = "ExternalName"
	want, is := of(doc, "clusterIP"), of(live, "clusterIP")
	switch {
	case (want == headless) == (is == headless), of(doc, "type") == external, of(live, "type") == external:
		return nil
	case want == "" && ownership.IsHeldByOthers(live.GetManagedFields(), api.FieldManager, "spec", "clusterIP"):
		return nil // whoever made it headless keeps it so
	}
	detour := doc.DeepCopy()
	detour.Object["spec"] = map[string]any{"type": external, "externalName": "changing.invalid"}
	hash, err := ownership.Hash(detour.Object)
	if err != nil {
		return nil
	}
	annotations := detour.GetAnnotations()
	annotations[api.AnnotationDesired] = hash
	detour.SetAnnotations(annotations)
	return detour
}

const headless = "None"
