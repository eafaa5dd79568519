package liveview

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

var crds = live.Resource{
	GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// ReadCRD reads a CRD from the API server itself. One that does not exist is an error.
func ReadCRD(ctx context.Context, from *apply.Reader, name string) (*unstructured.Unstructured, error) {
	return from.Read(ctx, crds, "", name)
}

// CRD reads a CRD; nil if there is none. The error says that it cannot be told.
func (s *Survey) CRD(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return s.crds.get(name, func() (*apiextensionsv1.CustomResourceDefinition, error) {
		o, err := s.objects.Resource(crds.GVR).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, classifyError("reading CRD "+name, err)
		}
		return parseCRD(o)
	})
}

// parseCRD converts an object to a CRD.
func parseCRD(o *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, crd); err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", o.GetName(), err)
	}
	return crd, nil
}

// declaresConditions reports whether the CRD of a kind declares status.conditions,
// by the cluster's or else by the one on file.
func (s *Survey) declaresConditions(ctx context.Context, gk schema.GroupKind) bool {
	r, served := s.served.Preferred(gk)
	if !served || crdschema.BuiltIn(r.GVK) || !strings.Contains(gk.Group, ".") {
		return false
	}
	crd, _ := s.lookUpCRD(ctx, r.GVR.Resource+"."+gk.Group)
	return crd != nil && observe.DeclaresConditions(crd)
}

// lookUpCRD returns a CRD as the cluster has it. If that may not be read, it returns the CRD on
// file, and unread is the reason.
func (s *Survey) lookUpCRD(ctx context.Context, name string) (crd *apiextensionsv1.CustomResourceDefinition, unread error) {
	crd, err := s.CRD(ctx, name)
	if err != nil && s.definitions != nil {
		crd = s.definitions(name)
	}
	return crd, err
}

// definesKind reports whether a CRD defines a kind that is not served; if that may
// not be known it is taken to be so, so that nothing is taken for gone.
func (s *Survey) definesKind(ctx context.Context, gk schema.GroupKind) bool {
	all, err := s.allDefined(ctx)
	return err != nil || all[gk]
}

func (s *Survey) allDefined(ctx context.Context) (map[schema.GroupKind]bool, error) {
	return s.defined.get("", func() (map[schema.GroupKind]bool, error) {
		found, err := bodyLister(s.objects, crds, "").listAll(ctx, metav1.ListOptions{})
		all := map[schema.GroupKind]bool{}
		for _, o := range found {
			crd, err := parseCRD(o.(*unstructured.Unstructured))
			if err != nil {
				return nil, err
			}
			all[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = true
		}
		return all, err
	})
}

// explainGap returns why the objects of a kind are not known. A kind that is not served still has
// objects if a CRD defines it, or if it is on record. A kind on record has no version. For a kind
// that is neither, it returns nil: that one took its objects along.
func (s *Survey) explainGap(ctx context.Context, gvk schema.GroupVersionKind, err error) error {
	if !errors.Is(err, live.ErrNotServed) {
		return err
	}
	if all, _ := s.allDefined(ctx); gvk.Version != "" && !all[gvk.GroupKind()] {
		return nil
	}
	return fmt.Errorf("which %s there are is not known: %s may be defined, but the cluster does not serve it now", gvk.Kind, gvk.GroupKind())
}
