package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// An Impact is what a folder would do to all resources of its kind.
type Impact struct {
	Kind      string      `json:"kind"`
	Resources []*Resource `json:"resources"`
	Counts    Counts      `json:"counts"`
	// Deletes are the children that would be deleted, of all resources.
	Deletes []string `json:"deletes,omitempty"`
	// Unready counts the resources that become not ready.
	Unready int `json:"unreadyResources,omitempty"`
	// Stops says why a rollout of the folder would stop before it begins; "" if
	// it would not.
	Stops    string   `json:"stops,omitempty"`
	Troubles []string `json:"troubles,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Outcome is what the impact comes to.
func (i *Impact) Outcome() Outcome {
	if len(i.Troubles) > 0 {
		return Wrong
	}
	out := Nothing
	for _, r := range i.Resources {
		out = max(out, r.Outcome())
	}
	return out
}

// A Scope says which resources of a kind are looked at: those of a namespace, ""
// for all of them; and how many at the same time.
type Scope struct {
	Namespace string
	Abreast   int
}

// All tells what a folder would do to the resources of its kind. The error says
// that they cannot be listed.
func (s Sight) All(ctx context.Context, of Scope) (*Impact, error) {
	k := s.Kind
	resources, err := s.Resources(ctx, k, of.Namespace)
	if err != nil {
		return nil, err
	}
	found := len(resources)
	resources = slices.DeleteFunc(resources, func(o *unstructured.Unstructured) bool { return !k.Share.Covers(o) })
	view := s.View(ctx, k, s.Folder, resources...)
	r := view.Reconciler()
	out := &Impact{Kind: k.Name, Counts: Counts{}, Resources: make([]*Resource, len(resources))}
	trials := make([]rollout.Preview, len(resources))
	before := record(k)
	var all sync.WaitGroup
	slots := make(chan struct{}, max(of.Abreast, 1))
	for i, o := range resources {
		slots <- struct{}{}
		all.Go(func() {
			out.Resources[i] = one(ctx, view, r, o)
			trials[i] = rollout.PreviewOf(view.Version().Digest, r.Preview(ctx, view.Version(), o), o, rollout.PastByStatus(before))
			<-slots
		})
	}
	all.Wait()
	for _, one := range out.Resources {
		out.Counts.add(one.Counts)
		out.Deletes = append(out.Deletes, deletes(one)...)
		if len(one.Unready) > 0 {
			out.Unready++
		}
	}
	out.Stops = stops(k, view.Version(), living(trials, resources), before)
	out.Troubles, out.Notes = view.Troubles(), view.Notes()
	if others := found - len(resources); others > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d resources are not looked at: %s serves %s only", others, k.Share.Identity, k.Share))
	}
	if of.Namespace != "" {
		out.Notes = append(out.Notes, "only namespace "+of.Namespace+" is looked at, but a rollout counts the resources of all")
	}
	return out, nil
}

func deletes(r *Resource) []string {
	var all []string
	for i := range r.Changes {
		switch c := &r.Changes[i]; c.Verb {
		case Pruned:
			all = append(all, c.Named())
		case Recreated:
			all = append(all, c.Named()+" (recreated)")
		}
	}
	return all
}

// living are the trials of resources that are not being deleted.
func living(trials []rollout.Preview, resources []*unstructured.Unstructured) []rollout.Preview {
	var all []rollout.Preview
	for i, t := range trials {
		if resources[i].GetDeletionTimestamp() == nil {
			all = append(all, t)
		}
	}
	return all
}

func record(k *liveview.Kind) rollout.Record {
	if k.CRD == nil {
		return rollout.Record{}
	}
	return rollout.Read(k.CRD.Annotations[k.Share.Key(api.AnnotationRollout)])
}

// stops says why a rollout would stop before it begins. There is none where the
// folder serves every resource already.
func stops(k *liveview.Kind, v *reconcile.Version, trials []rollout.Preview, before rollout.Record) string {
	if k.CRD != nil && k.CRD.Annotations[k.Share.Key(api.AnnotationRolledOut)] == v.Digest {
		return ""
	}
	r := rollout.Begin(trials, rollout.Settings{Digest: v.Digest, Rollout: v.Kind.Settings.Rollout}, before, time.Now())
	if r.State() != rollout.Stopped {
		return ""
	}
	return r.Record().Why()
}

// Sorted are the resources by namespace and name.
func (i *Impact) Sorted() []*Resource {
	all := slices.Clone(i.Resources)
	slices.SortFunc(all, func(a, b *Resource) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return all
}
