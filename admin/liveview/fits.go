package liveview

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/live"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// A Fit is what a changed CRD makes of the resources of a cluster.
type Fit struct {
	// Resources is how many were looked at, and Refused how many of them the changed
	// CRD refuses and the present one does not.
	Resources, Refused int
	// First tells of the first that are refused, why.
	First []string
}

// firstRefused is how many resources are told of by name.
const firstRefused = 3

// Fits tries the resources of the present CRD with a changed one, a page of them
// after the other. Those of a version that the changed one no longer serves
// cannot be tried. It looks at them as the cluster serves them, so with the
// defaults of the present CRD.
func (s *Survey) Fits(ctx context.Context, present, changed *crdschema.CRD) (Fit, error) {
	var fit Fit
	was, is := bothServe(present, changed)
	if is == nil {
		return fit, nil
	}
	gvk := was.GVK
	resources := live.Resource{GVR: gvk.GroupVersion().WithResource(present.Plural), GVK: gvk, Namespaced: present.Namespaced}
	pages := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtime.Object, error) {
		return bodyLister(s.objects, resources, "")(ctx, opts)
	}))
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		u := o.(*unstructured.Unstructured)
		fit.Resources++
		why := explainRefusal(u, is)
		if why == "" || explainRefusal(u, was) != "" {
			return nil
		}
		if fit.Refused++; fit.Refused <= firstRefused {
			fit.First = append(fit.First, strings.TrimPrefix(u.GetNamespace()+"/"+u.GetName(), "/")+": "+why)
		}
		return nil
	})
	if err != nil {
		return Fit{}, classifyError("listing "+present.Name, err)
	}
	return fit, nil
}

// bothServe is a version that two CRDs serve: the one that the second stores, if it
// can be; nil if there is none.
func bothServe(present, changed *crdschema.CRD) (was, is *crdschema.Version) {
	for _, v := range changed.Versions {
		if other, err := present.Version(v.Name); err == nil && v.Served && (is == nil || v.Storage) {
			was, is = other, v
		}
	}
	return was, is
}

// explainRefusal returns why a version refuses a resource, or "" if it does not.
func explainRefusal(u *unstructured.Unstructured, v *crdschema.Version) string {
	object := u.DeepCopy()
	object.SetManagedFields(nil)
	v.Prune(object.Object)
	apiserver.Default(v, object.Object)
	wrong := apiserver.Validate(v, object.Object)
	if len(wrong) == 0 {
		return ""
	}
	text := crdfile.Describe(wrong[0])
	if more := len(wrong) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
