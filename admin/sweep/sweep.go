package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// An Orphan is a child of which no resource has the uid that it wears.
type Orphan struct {
	Resource live.Resource
	Meta     metav1.Object
	// Of is the resource that made it.
	Of api.Owner
}

// String names the child: configmaps/team-a/shop, or without namespace
// priorityclasses.scheduling.k8s.io/shop.
func (o Orphan) String() string {
	name := o.Meta.GetName()
	if o.Meta.GetNamespace() != "" {
		name = o.Meta.GetNamespace() + "/" + name
	}
	return o.Resource.GVR.GroupResource().String() + "/" + name
}

// Stays says why the child is never swept; "" if it may be. drawn reports whether
// `stable` reads the Secret that a file makes; nil: that is not known.
func (o Orphan) Stays(drawn func(file string) bool) string {
	said := o.Meta.GetAnnotations()
	switch gk := o.Resource.GVK.GroupKind(); {
	case said[api.AnnotationOnDelete] == "keep":
		return "its annotation " + api.AnnotationOnDelete + " says keep"
	case kind.HoldsData(gk):
		return "what is in a " + gk.Kind + " would be lost"
	case gk == schema.GroupKind{Kind: "Secret"} && (said[api.AnnotationDrawn] != "" || drawn != nil && drawn(said[api.AnnotationFile])):
		return "what `stable` drew for it would be lost"
	case gk == schema.GroupKind{Kind: "Secret"} && drawn == nil:
		return "without the folder (--root) nobody knows whether `stable` reads it"
	}
	return ""
}

// Orphans finds the children of a kind, by the name of its CRD, whose resource is
// gone, by kind, namespace and name; unread says what could not be looked
// through. Children are looked at before resources, so that none is new.
func Orphans(ctx context.Context, s *liveview.Survey, name string) (found []Orphan, unread []string, err error) {
	kinds, of, err := kindsOf(ctx, s, name)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for what resources of %s left: %w", name, err)
	}
	errs := s.EachOf(ctx, kinds, api.LabelOwnerUID, func(r live.Resource, o metav1.Object) {
		owner, named := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
		if named && owner.Kind == name && hasOurLabel(o) && o.GetDeletionTimestamp() == nil {
			found = append(found, Orphan{r, o, owner})
		}
	})
	for _, err := range errs {
		if err != nil {
			unread = append(unread, err.Error())
		}
	}
	if of != nil && len(found) > 0 {
		present := map[string]bool{}
		if err := s.Each(ctx, of.Resource, "", func(o metav1.Object) { present[string(o.GetUID())] = true }); err != nil {
			return nil, nil, fmt.Errorf("looking for what resources of %s left: %w", name, err)
		}
		found = slices.DeleteFunc(found, func(o Orphan) bool { return present[o.Meta.GetLabels()[api.LabelOwnerUID]] })
	}
	slices.SortFunc(found, func(a, b Orphan) int {
		return cmp.Or(strings.Compare(a.Of.String(), b.Of.String()), strings.Compare(a.String(), b.String()))
	})
	return found, unread, nil
}

// kindsOf are the kinds of children on record on the CRD. Where there is no CRD
// any more these are all, and of is nil.
func kindsOf(ctx context.Context, s *liveview.Survey, name string) (kinds []live.Resource, of *liveview.Kind, err error) {
	crd, err := s.CRD(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if crd == nil {
		if _, group, _ := strings.Cut(name, "."); !strings.Contains(group, ".") {
			return nil, nil, fmt.Errorf("%s is not the name of a CRD, as in webs.example.com", name)
		}
		return s.Served().Listable(), nil, nil
	}
	if of, err = s.Kind(ctx, name); err != nil {
		return nil, nil, err
	}
	for _, gk := range api.ParseKinds(crd.GetAnnotations()[api.AnnotationChildKinds]) {
		r, served := s.Served().Preferred(gk)
		if served {
			kinds = append(kinds, r)
		} else if err := s.Served().Unknown(gk.Group); err != nil {
			return nil, nil, err
		}
	}
	return kinds, of, nil
}

// hasOurLabel reports whether we have put our label on an object. Others may copy it.
func hasOurLabel(o metav1.Object) bool {
	entry, found, err := ownership.Ours(o.GetManagedFields(), api.FieldManager)
	return err == nil && found && entry.Owns("metadata", "labels", api.LabelOwnerUID)
}

// Delete deletes the very child that was found, if it wears the same uid still.
func Delete(ctx context.Context, w *apply.Writer, o Orphan) error {
	now, err := w.GetMetadata(ctx, o.Resource, o.Meta.GetNamespace(), o.Meta.GetName())
	if err != nil {
		return fmt.Errorf("reading %s: %w", o, err)
	}
	if now.GetUID() != o.Meta.GetUID() || now.GetLabels()[api.LabelOwnerUID] != o.Meta.GetLabels()[api.LabelOwnerUID] {
		return fmt.Errorf("deleting %s: it is another one by now, or another resource's", o)
	}
	if err := w.Delete(ctx, o.Resource, now, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("deleting %s: %w", o, err)
	}
	return nil
}
