package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A resourceCache knows the resources of all kinds, as far as they have been listed.
type resourceCache interface {
	Find(kind string, key types.NamespacedName) (o live.Object, found bool, err error)
	All(kind string) []metav1.Object
	Places(kind string) []cluster.Place
}

var _ resourceCache = &cluster.Resources{}

// kindResources are the resources of one kind, as far as they are known.
type kindResources struct {
	cache resourceCache
	kind  string // the name of the CRD
}

var _ reconcile.Resources = kindResources{}

// Get returns a resource, decoded anew. What is in a namespace that is not served is not found, and
// what is not known is an error.
func (k kindResources) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	resource, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("reading a resource: into a %T", into)
	}
	o, found, err := k.cache.Find(k.kind, key)
	if err != nil {
		return err
	}
	if !found {
		gvk := into.GetObjectKind().GroupVersionKind()
		return apierrors.NewNotFound(apischema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	unpacked, err := o.Unpack()
	if err == nil {
		resource.Object = unpacked.Object
	}
	return err
}

// findResource returns the metadata of a resource, or nil if there is none of that name. It is an error if
// that is not known.
func (k kindResources) findResource(key client.ObjectKey) (metav1.Object, error) {
	o, found, err := k.cache.Find(k.kind, key)
	if !found || err != nil {
		return nil, err
	}
	return o.Meta, nil
}

// listKnown returns the metadata of the resources that are known.
func (k kindResources) listKnown() []metav1.Object { return k.cache.All(k.kind) }

// listPlaces returns what is known of the resources, by namespace.
func (k kindResources) listPlaces() places { return k.cache.Places(k.kind) }

// places are what is known of the resources of a kind, by namespace. A namespace that is gone, or in
// which the operator has no permissions any more, does not affect the others.
type places []cluster.Place

// areListed reports whether the resources are known, but for those in places in which they cannot be
// listed.
func (all places) areListed() bool {
	return !all.areUndecided() && slices.ContainsFunc(all, func(p cluster.Place) bool { return p.IsListed })
}

// areUndecided reports whether some resources are neither listed nor refused for good: time alone may
// decide.
func (all places) areUndecided() bool {
	return slices.ContainsFunc(all, func(p cluster.Place) bool { return !p.IsListed && !p.IsGivenUp })
}

// areListing reports whether resources are being listed, and nothing is known to be wrong with that.
func (all places) areListing() bool {
	return slices.ContainsFunc(all, func(p cluster.Place) bool { return !p.IsCurrent && p.Err == nil })
}

// areCurrent reports whether the resources are watched, and known that are wanted now, but for those
// in places in which they cannot be listed.
func (all places) areCurrent() bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(p cluster.Place) bool { return !p.IsCurrent && !p.IsGivenUp })
}

// areSettled is areCurrent for others that could wait for the resources: for a list that is silent
// they do not.
func (all places) areSettled() bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(p cluster.Place) bool { return !p.IsCurrent && !p.IsGivenUp && !p.IsSilent })
}

// describeTroubles says where the resources cannot be listed or watched, and why. hasLasted leaves
// out what may pass in a moment.
func (all places) describeTroubles(hasLasted bool) (texts []string) {
	for _, p := range all {
		where := "resources"
		if p.Namespace != "" {
			where += " in namespace " + p.Namespace
		}
		if p.Err != nil && (p.IsGivenUp || !hasLasted) {
			texts = append(texts, where+" cannot be listed: "+p.Err.Error())
		}
	}
	return texts
}

// countTroubles returns in how many places the resources may not be listed, and in how many they
// cannot be although they may.
func (all places) countTroubles() (forbidden, failing int) {
	for _, p := range all {
		switch {
		case p.Err == nil:
		case apierrors.IsForbidden(p.Err):
			forbidden++
		default:
			failing++
		}
	}
	return forbidden, failing
}
