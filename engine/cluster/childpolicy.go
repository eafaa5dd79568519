package cluster

import (
	"maps"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// childPolicy keeps children of one kind: as much of them as is needed, found by
// the uid of their owner, whom every change concerns. Of an object whose owner is
// not served here it keeps a stub: anybody may put our label on anything.
type childPolicy struct {
	children *Children
	// completing are the owners whose stubs are being completed, with why that
	// has not worked yet; guarded by the kind's mutex.
	completing map[types.UID]error
}

var _ storePolicy = &childPolicy{}

func (o *childPolicy) keep(l live.Object, need live.Need) live.Object {
	known := o.children.options.Known
	if of := claimedOwner(l); isStub(l) || known != nil && !known(of.of, of.uid) {
		return stub(l)
	}
	return ours(l.Cut(need), need)
}

func (o *childPolicy) groups(l live.Object) []group { return []group{{uid: claimedOwner(l).uid}} }

func (o *childPolicy) concerned(l live.Object) []owner { return []owner{claimedOwner(l)} }

// everybody is nobody: Synced and Troubled stand for that.
func (o *childPolicy) everybody() []owner { return nil }

func (o *childPolicy) used() (live.Need, bool) { return live.Metadata, false }

func (o *childPolicy) tell(whose owner) { o.children.options.Changed(whose.of, whose.uid) }

func (o *childPolicy) synced(scope Scope) {
	if told := o.children.options.Synced; told != nil {
		told(scope.GroupVersionKind)
	}
}

func (o *childPolicy) troubled(scope Scope) {
	if told := o.children.options.Troubled; told != nil {
		told(scope.GroupVersionKind)
	}
}

// stub is what is kept of an object whose owner is not known: of a bounded size,
// whatever is written on the object.
func stub(l live.Object) live.Object {
	return live.Object{GVK: l.GVK, Meta: &metav1.ObjectMeta{
		Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName(), UID: l.Meta.GetUID(), ResourceVersion: l.Meta.GetResourceVersion(),
		Labels: map[string]string{api.LabelOwnerUID: string(claimedOwner(l).uid), api.LabelKind: ownerKind(l)},
	}}
}

// ownerKind is the kind of the owner that an object names, or "".
func ownerKind(l live.Object) string {
	if isStub(l) {
		return l.Meta.GetLabels()[api.LabelKind]
	}
	kind := claimedOwner(l).of.Kind
	if len(kind) > longestName {
		return ""
	}
	return unique.Make(kind).Value() // so as to keep no annotation
}

// longestName is how long the name of a CRD may be, in bytes.
const longestName = 253

// isStub reports whether an object is a stub, also after it went through a list: a
// server says of every object when it was created.
func isStub(l live.Object) bool {
	switch o := l.Meta.(type) {
	case *metav1.ObjectMeta:
		return true
	case *metav1.PartialObjectMetadata:
		return o.CreationTimestamp.IsZero() && !l.IsPacked()
	}
	return false
}

// ours is a child without what others note on it, unless that is needed: what they
// write may be as large as they like.
func ours(l live.Object, need live.Need) live.Object {
	annotations := maps.Clone(l.Meta.GetAnnotations())
	before := len(annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return !strings.HasPrefix(key, api.Domain+"/") && !need.Includes("metadata", "annotations", key)
	})
	if len(annotations) == before {
		return l
	}
	if o, partial := l.Meta.(*metav1.PartialObjectMetadata); partial {
		without := *o
		without.Annotations = annotations
		l.Meta = &without
		return l
	}
	body := maps.Clone(l.Meta.(*unstructured.Unstructured).Object)
	metadata, _ := body["metadata"].(map[string]any)
	body["metadata"] = maps.Clone(metadata)
	o := &unstructured.Unstructured{Object: body}
	o.SetAnnotations(annotations)
	if l.Meta = o; l.Body != nil {
		l.Body = body
	}
	return l
}
