package liveview

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Range is which objects of a kind are listed. Namespace "" is all of them, and
// so is Selector "".
type Range struct{ Namespace, Selector string }

// Objects lists objects of a kind, whole.
func (s *Survey) Objects(ctx context.Context, gvk schema.GroupVersionKind, in Range) ([]*unstructured.Unstructured, error) {
	r, state := s.stateOf(gvk)
	if state.Phase != live.Synced {
		return nil, state.Err
	}
	objects, err := bodyLister(s.objects, r, in.Namespace).listAll(ctx, metav1.ListOptions{LabelSelector: in.Selector})
	if err != nil {
		return nil, classifyError("listing "+r.GVR.GroupResource().String(), err)
	}
	all := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		all[i] = objectOf(r, o).Meta.(*unstructured.Unstructured)
	}
	return all, nil
}

// Object reads an object; nil if there is none.
func (s *Survey) Object(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	r, state := s.stateOf(gvk)
	if state.Phase != live.Synced {
		return nil, state.Err
	}
	found, err := readObject(ctx, s.objects, r, asked{namespace: namespace, name: name})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Meta.(*unstructured.Unstructured), nil
}

// Definitions lists the CRDs.
func (s *Survey) Definitions(ctx context.Context) ([]*unstructured.Unstructured, error) {
	objects, err := bodyLister(s.objects, crds, "").listAll(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, classifyError("listing "+crds.GVR.GroupResource().String(), err)
	}
	all := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		all[i] = o.(*unstructured.Unstructured)
	}
	return all, nil
}

// Each lists the metadata of the objects of a kind that a selector matches ("":
// all), and visits each.
func (s *Survey) Each(ctx context.Context, r live.Resource, selector string, visit func(metav1.Object)) error {
	found, err := s.metadataLister(r, "").listAll(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return classifyError(fmt.Sprintf("listing %s", r.GVR.GroupResource()), err)
	}
	for _, o := range found {
		visit(o)
	}
	return nil
}
