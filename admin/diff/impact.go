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
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// An Impact is what a folder would do to all resources of its kind.
type Impact struct {
	Kind      string      `json:"kind"`
	Resources []*Resource `json:"resources"`
	Counts    Counts      `json:"counts"`
	// Deletes are the children that would be deleted, of all resources.
	Deletes []string `json:"deletionNames,omitempty"`
	// Unready counts the resources that become not ready.
	Unready int `json:"unreadyResources,omitempty"`
	// Stops says why a rollout of the folder would stop before it begins; "" if
	// it would not.
	Stops    string   `json:"stopMessage,omitempty"`
	Troubles []string `json:"errors,omitempty"`
	Notes    []string `json:"notes,omitempty"`

	// living are the resources that are not being deleted, and previews theirs, by which a
	// rollout counts.
	living   []rollout.Resource
	previews []rollout.Preview
	settings rollout.Settings
	before   rollout.Record
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
	previews := make([]rollout.Preview, len(resources))
	before := readRecord(k)
	var all sync.WaitGroup
	slots := make(chan struct{}, max(of.Abreast, 1))
	for i, o := range resources {
		slots <- struct{}{}
		all.Go(func() {
			out.Resources[i] = diffResource(ctx, view, r, o)
			previews[i] = rollout.PreviewOf(view.Version().Digest, r.Preview(ctx, view.Version(), o), o, rollout.PastByStatus(before))
			<-slots
		})
	}
	all.Wait()
	for _, one := range out.Resources {
		out.Counts.add(one.Counts)
		out.Deletes = append(out.Deletes, findDeleted(one)...)
		if len(one.Unready) > 0 {
			out.Unready++
		}
	}
	for i, o := range resources {
		if o.GetDeletionTimestamp() == nil {
			out.living, out.previews = append(out.living, rollout.ResourceOf(o)), append(out.previews, previews[i])
		}
	}
	out.before = before
	out.settings = rollout.Settings{Revisions: before.RevisionsWith(view.Version().Digest), Rollout: view.Version().Kind.Settings.Rollout}
	out.Stops = out.explainStop()
	out.Troubles, out.Notes = view.Troubles(), view.Notes()
	if others := found - len(resources); others > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d resources are not looked at: %s serves %s only", others, k.Share.Identity, k.Share))
	}
	if of.Namespace != "" {
		out.Notes = append(out.Notes, "only namespace "+of.Namespace+" is looked at, but a rollout counts the resources of all")
	}
	return out, nil
}

// findDeleted returns the names of the children that would be deleted, and of those that would be
// recreated.
func findDeleted(r *Resource) []string {
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

// readRecord reads the record of the rollout from the CRD of a kind. It is empty without a CRD.
func readRecord(k *liveview.Kind) rollout.Record {
	if k.CRD == nil {
		return rollout.Record{}
	}
	return rollout.ReadRecord(k.CRD.Annotations, k.Share.Key)
}

// explainStop says why a rollout would stop before it begins. There is none where the
// folder serves every resource already.
func (i *Impact) explainStop() string {
	if !i.before.IsUnfinished() && i.before.Target().Digest == i.settings.Target().Digest {
		return ""
	}
	return i.whyStopped(i.settings)
}

func (i *Impact) whyStopped(settings rollout.Settings) string {
	now := time.Now()
	r := rollout.New(settings, i.before, now)
	r.ObserveAll(i.living)
	for _, p := range i.previews {
		r.Previewed(p)
	}
	r.Start(now)
	if r.State() != rollout.Stopped {
		return ""
	}
	return r.Record().Why()
}

// RollBack returns the children that a rollback to the folder deletes or recreates, each
// once, their approval, and why the rollback stops all the same before it begins. back:
// the folder served before a rollout that is not complete.
func (i *Impact) RollBack(back bool) (deletes []string, approved, stops string) {
	deletes, approved = i.listDeletions()
	return deletes, approved, i.explainStopOf(back, approved)
}

// Release returns the same of the end of a rollback, which approves no deletion.
func (i *Impact) Release(back bool) (deletes []string, stops string) {
	deletes, _ = i.listDeletions()
	return deletes, i.explainStopOf(back, "")
}

// explainStopOf says why a rollback, or its end, stops before it begins, with the approval
// of deletions.
func (i *Impact) explainStopOf(back bool, approved string) string {
	settings := i.settings
	settings.IsRevert, settings.Approved = back, approved
	return i.whyStopped(settings)
}

// listDeletions returns the children that are deleted or recreated, each once, and their
// approval.
func (i *Impact) listDeletions() (deletes []string, approved string) {
	isRecreated := map[string]bool{}
	for _, r := range i.Resources {
		for n := range r.Changes {
			if c := &r.Changes[n]; c.Verb == Recreated {
				isRecreated[c.Named()] = true
			}
		}
	}
	approved = rollout.ApproveDeletions(i.previews, func(_ rollout.Preview, c rollout.Child) bool { return isRecreated[c.String()] })
	deletes = slices.Clone(i.Deletes)
	for _, p := range i.previews {
		for _, c := range p.Deletes { // of which some are kept until their resource allows it
			deletes = append(deletes, c.String())
		}
	}
	slices.Sort(deletes)
	return slices.Compact(deletes), approved
}

// Sorted are the resources by namespace and name.
func (i *Impact) Sorted() []*Resource {
	all := slices.Clone(i.Resources)
	slices.SortFunc(all, func(a, b *Resource) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return all
}
