package health

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/admin/sweep"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Kind is one kind of an installation.
type Kind struct {
	heartbeat.Kind
	// Meaning is what the worst means that is so of the kind: its state, or how its
	// resources are.
	verdict.Meaning
	// IsRollout reports whether a rollout is not complete, and IsApprovable whether an
	// approval lets it go on.
	IsRollout    bool `json:"rollout,omitempty"`
	IsApprovable bool `json:"approvable,omitempty"`
	// Resources is nil if they are not known.
	Resources *Counts `json:"resources,omitempty"`
	// NotReady are the resources that are neither Ready nor paused; where the
	// operator is read-only, without those that were not served yet.
	NotReady []Resource `json:"notReady,omitempty"`
	// Orphans is how many children there are whose resource is gone.
	Orphans int `json:"orphans,omitempty"`
	// Retired are the kinds that its folder retires.
	Retired []Retired `json:"retired,omitempty"`
	// Dropped are the kinds that are on record and that its folder neither makes
	// nor retires, as the entries of retired that would keep their rights.
	Dropped []string `json:"droppedKinds,omitempty"`
	// FolderManagers are the field managers of the data of its ConfigMap, if there are
	// several: a file that one of them leaves out stays while another one manages it.
	FolderManagers []string `json:"folderManagers,omitempty"`
	// Stop is the ID of the stop, for jacquard approve --stop, if its rollout has stopped.
	Stop string `json:"stop,omitempty"`

	// compiled is the folder, nil if it is not known or does not load; unread
	// says why.
	compiled *kind.Kind
	unread   error
	// isClaimedOnly reports that its operator has a claim to it and does not report it.
	isClaimedOnly bool
	// isResourcesUnread reports that whoever asks cannot list the resources.
	isResourcesUnread bool
}

// listStates returns all that is so of a kind; nobody: no operator runs.
func (k *Kind) listStates(nobody bool) []verdict.State {
	all := []verdict.State{k.State}
	if k.Resources != nil && len(k.NotReady) > 0 {
		all = append(all, verdict.ResourcesNotReady)
	}
	if k.isResourcesUnread {
		all = append(all, verdict.ResourcesUnreadable)
	}
	if len(k.Unlisted) > 0 && !nobody {
		all = append(all, verdict.WatchesFailing)
	}
	return all
}

// setMeaning sets what the kind means. Its word begins with that of its state.
func (k *Kind) setMeaning(nobody bool) {
	own, worst := k.State, worstState(k.listStates(nobody)...)
	k.Meaning = worst.Meaning()
	if worst != own {
		k.Word = own.Meaning().Word + ", " + k.Word
	}
	k.IsRollout, k.IsApprovable = own.IsRollout(), own.IsApprovable()
}

// addFindings adds what is unhealthy or unknown, of a kind.
func (k *Kind) addFindings(all *findings, nobody bool) {
	for _, state := range k.listStates(nobody) {
		switch {
		case state.Verdict() == verdict.Healthy:
		case state == verdict.ResourcesNotReady:
			all.add(state, "%s: not ready: %d of %s", k.Name, len(k.NotReady), formatCount(k.Resources.Total, "resource"))
		case state == verdict.ResourcesUnreadable:
			all.add(state, "%s: its resources could not be read", k.Name)
		case state == verdict.WatchesFailing:
			for _, text := range k.Unlisted {
				all.add(state, "%s: %s", k.Name, text)
			}
		case state == verdict.NotServed && nobody: // the finding about the leader covers it
		case k.Message == "":
			all.add(state, "%s is %s", k.Name, state)
		default:
			all.add(state, "%s is %s: %s", k.Name, state, k.Message)
		}
	}
}

// Counts count resources by condition; one may be counted under several.
type Counts struct {
	Total       int `json:"total"`
	Ready       int `json:"ready"`
	Reconciling int `json:"reconciling"`
	Stalled     int `json:"stalled"`
	Paused      int `json:"paused"`
	Deleting    int `json:"deleting"`
	// Unserved are new, or were changed since they were served last.
	Unserved int `json:"unobserved,omitempty"`
}

// A Resource is one that is not ready, and why.
type Resource struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Stalled   bool   `json:"stalled,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
	// Pods is what the Pods of its children wait for, of the first few resources.
	Pods []string `json:"pods,omitempty"`

	children []child
}

// addKinds adds the kinds that the operator reports or has a claim to, with how their resources
// are.
func (l *look) addKinds(ctx context.Context, i *Installation) {
	if i.report == nil {
		return
	}
	for _, reported := range i.report.Kinds {
		i.Kinds = append(i.Kinds, &Kind{Kind: l.limitToClaims(i, reported)})
	}
	i.Kinds = append(i.Kinds, l.claimedOnly(ctx, i)...)
	liveview.Together(len(i.Kinds), func(n int) { l.addResources(ctx, i, i.Kinds[n]) })
	i.Kinds = slices.DeleteFunc(i.Kinds, func(k *Kind) bool { return k.isClaimedOnly && k.Resources != nil && k.Resources.Total == 0 })
}

// claimedOnly are the kinds that an installation has a claim to and does not report: nobody
// serves them, such as after their folder and their roles were removed.
func (l *look) claimedOnly(ctx context.Context, i *Installation) (all []*Kind) {
	if i.Cut > 0 {
		return nil // the report has no place for them
	}
	found, err := l.Definitions(ctx)
	if err != nil { // findForsaken reports it
		return nil
	}
	for _, crd := range found {
		isReported := slices.ContainsFunc(i.Kinds, func(k *Kind) bool { return k.Name == crd.GetName() })
		isClaimed := slices.ContainsFunc(shard.Claims(crd), func(c shard.Claim) bool { return c.Identity == i.Identity })
		if isClaimed && !isReported {
			all = append(all, &Kind{isClaimedOnly: true, Kind: heartbeat.Kind{Name: crd.GetName(), State: verdict.NotServed,
				Message: "the operator has a claim to it, and no folder for it: apply its folder and roles again, or take off what is left of it: jacquard eject " + crd.GetName()}})
		}
	}
	return all
}

// addResources adds to what the operator reports of a kind how its resources are.
func (l *look) addResources(ctx context.Context, i *Installation, k *Kind) {
	if k.State.HasNoResources() {
		return
	}
	if i.Leader.isDead() {
		k.State = verdict.NotServed
	}
	of, err := l.Kind(ctx, k.Name)
	if err != nil {
		k.isResourcesUnread = true
		l.addUnknown("resources of "+k.Name, err)
		return
	}
	if newer := l.readNewer(ctx, i, k.Kind); newer != "" && endsByRecord(k.State) {
		k.State, k.Message = verdict.RollingOut, newer
	} else {
		k.Stop = stopOf(of, i.Identity)
	}
	l.countResources(ctx, k, of, i)
	l.countOrphans(ctx, k)
}

// stopOf returns the ID of the stop of an installation's rollout; "" for none.
func stopOf(k *liveview.Kind, identity string) string {
	for _, c := range k.Claims() {
		if c.Identity != identity {
			continue
		}
		if r := rollout.ReadRecord(k.CRD.Annotations, c.Shard.Key); r.State == rollout.Stopped {
			return r.Stop
		}
	}
	return ""
}

// countOrphans counts the children of a kind whose resource is gone, wherever they are.
func (l *look) countOrphans(ctx context.Context, k *Kind) {
	if l.Namespace != "" {
		return
	}
	found, unread, err := sweep.Orphans(ctx, l.Survey, k.Name)
	if err != nil {
		unread = append(unread, err.Error())
	}
	for _, text := range unread {
		l.addUnknown("children of "+k.Name+" whose resource is gone", errors.New(text))
	}
	k.Orphans = len(found)
}

// countResources counts the resources of a kind, where they may be listed.
func (l *look) countResources(ctx context.Context, k *Kind, of *liveview.Kind, i *Installation) {
	in := liveview.Range{Namespace: l.Namespace, Selector: i.Selector}
	all, err := l.Objects(ctx, of.GVK, in)
	if err != nil && l.Namespace == "" && of.Resource.Namespaced {
		l.addUnknown("resources of "+k.Name+" outside of namespace "+l.Fallback, err)
		in.Namespace = l.Fallback
		if all, err = l.Objects(ctx, of.GVK, in); err == nil {
			l.noteNarrowed()
		}
	}
	if err != nil {
		k.isResourcesUnread = true
		l.addUnknown("resources of "+k.Name, err)
		return
	}
	k.Resources = &Counts{}
	for _, o := range all {
		if len(i.Namespaces) == 0 || o.GetNamespace() == "" || slices.Contains(i.Namespaces, o.GetNamespace()) {
			k.countResource(o, i.ReadOnly)
		}
	}
	slices.SortStableFunc(k.NotReady, func(a, b Resource) int {
		if a.Stalled != b.Stalled {
			return map[bool]int{true: -1, false: 1}[a.Stalled]
		}
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	for n := range k.NotReady[:min(len(k.NotReady), withPods)] {
		l.addPodReasons(ctx, &k.NotReady[n])
	}
}

// countResource counts one resource. A read-only operator serves none that is new or was changed,
// which is no fault.
func (k *Kind) countResource(o *unstructured.Unstructured, readOnly bool) {
	c := k.Resources
	c.Total++
	conditions := Conditions(o)
	is := func(name string) bool { return conditions[name]["status"] == "True" }
	for name, count := range map[string]*int{"Reconciling": &c.Reconciling, "Stalled": &c.Stalled, "Paused": &c.Paused} {
		if is(name) {
			*count++
		}
	}
	if o.GetDeletionTimestamp() != nil {
		c.Deleting++
	}
	ready := ReadyOf(o)
	if ready.Status == "True" {
		c.Ready++
	}
	if ready.Status == "True" || IsPaused(o) {
		return
	}
	if ready.Unserved {
		if o.GetDeletionTimestamp() == nil {
			c.Unserved++
		}
		if readOnly {
			return
		}
	}
	k.NotReady = append(k.NotReady, Resource{Namespace: o.GetNamespace(), Name: o.GetName(), Stalled: is("Stalled"),
		Reason: ready.Reason, Message: ready.Message, children: notReady(o)})
}
