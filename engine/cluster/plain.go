package cluster

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// withoutTracking returns an object as templates see it: without what other tools note on it. The
// object itself stays as it is.
func withoutTracking(l live.Object) live.Object {
	metadata, _ := l.Body["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	_, managed := metadata["managedFields"]
	_, applied := annotations[corev1.LastAppliedConfigAnnotation]
	if !managed && !applied {
		return l
	}
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	if applied {
		annotations = maps.Clone(annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		metadata["annotations"] = annotations
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	body := maps.Clone(l.Body)
	body["metadata"] = metadata
	l.Body, l.Meta = body, &unstructured.Unstructured{Object: body}
	return l
}

// usedFields returns an object that is packed with the fields that are used.
func usedFields(l live.Object, need live.Need) live.Object {
	l = l.Cut(need)
	all := l.Meta
	l.Meta = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace:         all.GetNamespace(),
		Name:              all.GetName(),
		UID:               all.GetUID(),
		Labels:            all.GetLabels(),
		Generation:        all.GetGeneration(),
		DeletionTimestamp: all.GetDeletionTimestamp(),
		ResourceVersion:   all.GetResourceVersion(),
	}}
	return l
}

// withoutBody returns what is known of an object that nobody reads.
func withoutBody(l live.Object) live.Object {
	l.Body, l.Meta = nil, &metav1.ObjectMeta{
		Namespace:       l.Meta.GetNamespace(),
		Name:            l.Meta.GetName(),
		UID:             l.Meta.GetUID(),
		Labels:          l.Meta.GetLabels(),
		ResourceVersion: l.Meta.GetResourceVersion(),
	}
	return l
}
