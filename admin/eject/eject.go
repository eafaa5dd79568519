package eject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// An Object is one that something of ours is on.
type Object struct {
	What What
	// Finalizer: it has a finalizer of ours.
	Finalizer bool
	Resource  live.Resource
	Meta      metav1.Object
}

// String names the object: Deployment shop/web.
func (o Object) String() string {
	return o.Resource.GVK.Kind + " " + strings.TrimPrefix(o.Meta.GetNamespace()+"/"+o.Meta.GetName(), "/")
}

// kinds are the kinds that are ejected.
type kinds struct {
	names     map[string]bool
	resources map[schema.GroupKind]bool
	// uids are those of their resources.
	uids map[string]bool
	// others are those that stay, by the names of their CRDs: their resources may
	// be children or patched, and their children resources, of those that go.
	others map[string]bool
	// all: those that have no CRD any more, too.
	all bool
}

func (k kinds) has(name string) bool { return k.all || k.names[name] }

// An Eject takes kinds out of Jacquard.
type Eject struct {
	survey *liveview.Survey
	writer *apply.Writer
	kinds  kinds
	crds   []metav1.Object
	// recorded are the kinds of objects that are known to be concerned.
	recorded map[schema.GroupKind]bool
	// unknown says which resources could not be listed.
	unknown []error
	// reports are the Leases of operators that do not run.
	reports []metav1.Object
	// Patience is how long it may take to find out about operators that no CRD
	// names; a minute. Whoever may write a Lease in some namespace can claim to be
	// one that is renewed once in a hundred years.
	Patience time.Duration
	// Unread says what could not be looked through.
	Unread []string
	// Tell is told what is waited for; it may be nil.
	Tell func(text string)
}

// All stands for all kinds, those included whose CRD is gone.
const All = "*"

// New prepares to eject the kinds of these CRDs, or of all that bear anything of
// ours. A dry writer changes nothing.
func New(ctx context.Context, s *liveview.Survey, writer *apply.Writer, names ...string) (*Eject, error) {
	e := &Eject{survey: s, writer: writer, Patience: time.Minute, recorded: map[schema.GroupKind]bool{},
		kinds: kinds{names: map[string]bool{}, others: map[string]bool{}, resources: map[schema.GroupKind]bool{}, uids: map[string]bool{},
			all: slices.Contains(names, All)}}
	all, err := s.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	for _, crd := range all {
		switch {
		case e.kinds.all && hasMarks(crd), slices.Contains(names, crd.GetName()):
			e.crds = append(e.crds, crd)
			e.kinds.names[crd.GetName()] = true
		case hasMarks(crd):
			e.kinds.others[crd.GetName()] = true
		}
	}
	for _, name := range names {
		if name != All && !e.kinds.names[name] {
			return nil, fmt.Errorf("ejecting %s: there is no CRD of that name; what is left of kinds without one goes with --all", name)
		}
	}
	return e, e.findResources(ctx)
}

// Definitions are the CRDs of the kinds.
func (e *Eject) Definitions() []metav1.Object { return e.crds }

// findResources finds the resources of the kinds, and the kinds of objects that are on record.
func (e *Eject) findResources(ctx context.Context) error {
	for _, crd := range e.crds {
		k, err := e.survey.Kind(ctx, crd.GetName())
		if err != nil {
			return fmt.Errorf("ejecting %s: %w", crd.GetName(), err)
		}
		e.kinds.resources[k.GVK.GroupKind()], e.recorded[k.GVK.GroupKind()] = true, true
		if err := e.survey.Each(ctx, k.Resource, "", func(o metav1.Object) { e.kinds.uids[string(o.GetUID())] = true }); err != nil {
			e.unknown = append(e.unknown, fmt.Errorf("ejecting %s: %w", crd.GetName(), err))
		}
		for _, record := range []string{api.AnnotationChildKinds, api.AnnotationPatchedKinds} {
			for _, gk := range api.ParseKinds(crd.GetAnnotations()[record]) {
				e.recorded[gk] = true
			}
		}
	}
	return nil
}

// Find looks through all objects of the cluster for what is ours: children
// first, resources after them, so that no child goes with its resource. With an
// error there may be others: objects of a kind cannot be listed that children or
// patches are on record of.
func (e *Eject) Find(ctx context.Context) ([]Object, error) {
	var found []Object
	e.Unread = nil
	errs := slices.Clone(e.unknown)
	for _, group := range e.survey.Served().Troubled() {
		errs = append(errs, e.recordUnread(schema.GroupKind{Group: group}, e.survey.Served().Unknown(group)))
	}
	all := slices.DeleteFunc(slices.Clone(e.survey.Served().Listable()), func(r live.Resource) bool {
		return r.GVK.Kind == "Event" || r.GVK.GroupKind() == definitions.GVK.GroupKind()
	})
	unlisted := e.survey.EachOf(ctx, all, "", func(r live.Resource, o metav1.Object) {
		if what := e.kinds.classifyObject(r, o); what != "" {
			found = append(found, Object{what, slices.ContainsFunc(o.GetFinalizers(), e.kinds.sidesOf(r, o).isOurs), r, o})
		}
	})
	for i, err := range unlisted {
		if err != nil && !apierrors.IsNotFound(err) { // else its CRD went meanwhile
			errs = append(errs, e.recordUnread(all[i].GVK.GroupKind(), err))
		}
	}
	order := func(o Object) int { return map[What]int{Child: 0, Patched: 1, Copy: 2, Resource: 3, Kept: 4}[o.What] }
	slices.SortStableFunc(found, func(a, b Object) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.String(), b.String()))
	})
	return found, errors.Join(errs...)
}

// recordUnread records that a kind, or a group, cannot be looked through. It is an error if
// something of ours is on record there.
func (e *Eject) recordUnread(gk schema.GroupKind, err error) error {
	for recorded := range e.recorded {
		if recorded == gk || gk.Kind == "" && recorded.Group == gk.Group {
			return fmt.Errorf("looking for what was made: %w", err)
		}
	}
	e.Unread = append(e.Unread, err.Error())
	return nil
}

var definitions = live.Resource{
	GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// How often all is looked through again for what controllers copied meanwhile,
// how long they are given for it, and how often in a row nothing is to be found:
// on a busy cluster they take their time.
const (
	rounds = 10
	settle = time.Second
	calm   = 2
)

// Strip takes what is ours off these objects, off what was copied from them
// meanwhile, and in the end off the CRDs. done is called for each.
func (e *Eject) Strip(ctx context.Context, found []Object, done func(Object)) error {
	for round, empty := 0, 0; round < rounds && empty < calm; round++ {
		for _, o := range found {
			if err := e.stripObject(ctx, o); err != nil {
				return err
			}
			done(o)
		}
		if e.writer.Tries() {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settle):
		}
		var err error
		if found, err = e.Find(ctx); err != nil {
			return err
		}
		// An operator that runs on without the folder writes the status again.
		found = slices.DeleteFunc(found, func(o Object) bool { return o.What == Resource && !e.kinds.hasTraces(o.Resource, o.Meta) })
		if empty++; len(found) > 0 {
			empty = 0
		}
	}
	if len(found) > 0 && !e.writer.Tries() {
		return fmt.Errorf("ejecting: somebody puts on again what is taken off: %s and %d more", found[0], len(found)-1)
	}
	for _, crd := range e.crds {
		if !hasMarks(crd) && e.kinds.remainingEntries(Object{Definition, false, definitions, crd}) == nil {
			continue
		}
		o := Object{Definition, false, definitions, crd}
		if err := e.stripObject(ctx, o); err != nil {
			return err
		}
		done(o)
	}
	return e.deleteReports(ctx)
}

// deleteReports deletes the reports of operators that do not run, once all kinds are ejected.
func (e *Eject) deleteReports(ctx context.Context) error {
	if !e.kinds.all {
		return nil
	}
	for _, lease := range e.reports {
		err := e.writer.Delete(ctx, live.Leases, lease, metav1.DeletePropagationBackground)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting Lease %s/%s: %w", lease.GetNamespace(), lease.GetName(), err)
		}
	}
	return nil
}

// tries is how often an object is read again that changed meanwhile.
const tries = 10

// stripObject takes what is ours off one object, or deletes it if it is wholly ours. An object that
// is gone needs nothing.
func (e *Eject) stripObject(ctx context.Context, o Object) (err error) {
	if o.What == Kept {
		err := e.writer.Delete(ctx, o.Resource, o.Meta, metav1.DeletePropagationBackground)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s: %w", o, err)
		}
		return nil
	}
	for range tries {
		_, err = e.writer.Metadata(ctx, o.Resource, o.Meta, e.kinds.metadataPatch(o))
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			break
		}
		now, again := e.writer.GetMetadata(ctx, o.Resource, o.Meta.GetNamespace(), o.Meta.GetName())
		if apierrors.IsNotFound(again) || again == nil && now.UID != o.Meta.GetUID() {
			return nil
		}
		if again != nil {
			return fmt.Errorf("reading %s: %w", o, again)
		}
		o.Meta = now
	}
	return fmt.Errorf("ejecting %s: %w", o, err)
}
