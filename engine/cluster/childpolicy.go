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

// reduceObject returns what is kept of a child.
func (o *childPolicy) reduceObject(l live.Object, need live.Need) live.Object {
	known := o.children.options.Known
	if of := claimedOwner(l); isStub(l) || known != nil && !known(of.of, of.uid) {
		return stubOf(l)
	}
	return withoutForeign(l.Cut(need), need)
}

// groupsOf returns the group of a child: that of its owner.
func (o *childPolicy) groupsOf(l live.Object) []group { return []group{{uid: claimedOwner(l).uid}} }

// ownerOf returns the owner that a child claims.
func (o *childPolicy) ownerOf(l live.Object) owner { return claimedOwner(l) }

// noteChange adds the owners of a child, but for the first list: Synced stands for that.
func (o *childPolicy) noteChange(told *notifications, c Change) {
	for _, l := range c.bothSides() {
		if !c.IsFirst {
			told.add([]owner{claimedOwner(l)})
		}
	}
}

// allReaders returns nobody: Synced and Troubled stand for that.
func (o *childPolicy) allReaders() []owner { return nil }

// neededNow returns what is needed of children, and that no query needs any.
func (o *childPolicy) neededNow() (live.Need, bool) { return live.Metadata, false }

// notifyOwner notifies an owner that a child changed.
func (o *childPolicy) notifyOwner(whose owner) { o.children.options.Changed(whose.of, whose.uid) }

// notifyChange does nothing: owners are notified.
func (o *childPolicy) notifyChange(Change) {}

// notifySynced notifies that a kind was listed.
func (o *childPolicy) notifySynced(scope Scope) {
	if told := o.children.options.Synced; told != nil {
		told(scope.GroupVersionKind)
	}
}

// notifyTroubled notifies that a kind cannot be listed or watched.
func (o *childPolicy) notifyTroubled(scope Scope) {
	if told := o.children.options.Troubled; told != nil {
		told(scope.GroupVersionKind)
	}
}

// stubOf returns what is kept of an object whose owner is not known. It has a bounded size,
// whatever is written on the object.
func stubOf(l live.Object) live.Object {
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

// withoutForeign returns a child without the annotations of others, unless those are needed: what
// they write may be as large as they like.
func withoutForeign(l live.Object, need live.Need) live.Object {
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
