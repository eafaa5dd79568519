package plan

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// isKept reports whether a live child stays when nobody wants it any more: it says
// so itself.
func isKept(o metav1.Object) bool { return o.GetAnnotations()[api.AnnotationOnDelete] == "keep" }

// A Retained child is not wanted any more, and stays for now.
type Retained struct {
	Live live.Object
	Why  RetainReason
	// File is the file that waits, or cannot be rendered.
	File string
}

// A RetainReason is why a child stays that nobody wants.
type RetainReason string

const (
	// FileWaits means that a file may render the child and waits now.
	FileWaits RetainReason = "FileWaits"
	// FileFails means that a file may render the child and cannot be rendered now.
	FileFails RetainReason = "FileFails"
	// HoldsData means that data would be lost. The resource has to allow the deletion.
	HoldsData RetainReason = "HoldsData"
	// StillUsed means that the file of the child renders another one of its kind, and that the
	// resource is not ready with it: Pods of the old version may use the child.
	StillUsed RetainReason = "StillUsed"
	// Orphaned means that the child outlives its resource, which is being deleted.
	Orphaned RetainReason = "Orphaned"
	// NoReference means that the resource is being deleted and the child should have a
	// reference to it, so that nothing proves that it is a child.
	NoReference RetainReason = "NoReference"
)

// RetainedFor returns the children that stay for a reason.
func (p *Plan) RetainedFor(why RetainReason) (all []live.Object) {
	for _, r := range p.Retained {
		if r.Why == why {
			all = append(all, r.Live)
		}
	}
	return all
}

func (p *Plan) retainChild(l live.Object, why RetainReason, file string) {
	p.Retained = append(p.Retained, Retained{l, why, file})
}

// planUnwanted plans what becomes of live children of ours that nobody wants, of kinds whose
// objects are known. While a file waits, what it can make stays, whichever file made
// it: to make it again later would be an outage.
func (m *planner) planUnwanted(wanted map[Ref]bool) {
	held := m.retainedNamespaces(wanted)
	for _, l := range m.Live {
		if wanted[RefOf(l)] || isKept(l.Meta) || held[l.Meta.GetNamespace()] {
			continue
		}
		file, waits := m.waitingFile(l)
		switch {
		case l.Meta.GetDeletionTimestamp() != nil || !Ours(m.Owner, l.Meta):
		case isAllowed(m.AllowPrune, l.GVK.GroupKind(), l.Meta):
			m.plan.Prune = append(m.plan.Prune, l)
		case waits:
			m.plan.retainChild(l, FileWaits, file)
		case kind.HoldsData(l.GVK.GroupKind()) || m.isGenerated(l):
			m.plan.retainChild(l, HoldsData, "")
		case m.hasSuccessor(l) && !m.isRolledOut():
			m.plan.retainChild(l, StillUsed, "")
		default:
			m.plan.Prune = append(m.plan.Prune, l)
		}
	}
}

// planPrunes puts the deletions and releases in an order that does not depend on that of the
// live objects, and decides which of them have to wait, since an earlier attempt failed or the
// watch does not show its effect yet.
func (m *planner) planPrunes() {
	slices.SortFunc(m.plan.Prune, func(a, b live.Object) int { return compareRefs(RefOf(a), RefOf(b)) })
	slices.SortFunc(m.plan.Retained, func(a, b Retained) int { return compareRefs(RefOf(a.Live), RefOf(b.Live)) })
	slices.SortFunc(m.plan.Remaining, compareRefs)
	for _, k := range m.plan.pruneKeys() {
		if !m.plan.Attempts.isDue(k, m.Now) {
			m.plan.Delayed[k] = true
		}
	}
	for _, l := range m.plan.RetainedFor(HoldsData) {
		message := fmt.Sprintf("%s is not rendered any more and is kept, since what is in it would be lost; "+
			"to delete it, annotate this resource with %s=%s", RefOf(l), api.AnnotationAllowPrune, Allowance(l.GVK.GroupKind(), l.Meta))
		m.plan.PruneProblems = append(m.plan.PruneProblems,
			status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneBlocked, Message: message})
	}
}

// DelayUnapproved delays the deletions that have to wait for an approval. It is called when the
// plan is about to be executed, and not before: a rollout counts the deletions that are asked
// for, also of children that are still used, since they belong to the rollout that replaces them.
func (p *Plan) DelayUnapproved(mayDelete func(gk schema.GroupKind, child metav1.Object) error) {
	if p.isHeldBack || !p.IsComplete() {
		return
	}
	for _, l := range slices.Concat(p.Prune, p.RetainedFor(StillUsed)) {
		if err := mayDelete(l.GVK.GroupKind(), l.Meta); err != nil {
			p.Delayed[DeleteKey(l)] = true
			p.PruneProblems = append(p.PruneProblems,
				status.Problem{Severity: status.Waiting, Reason: api.ReasonApprovalRequired, Message: err.Error()})
		}
	}
}

// pruneKeys returns the keys of the deletions and releases.
func (p *Plan) pruneKeys() (keys []Key) {
	for _, l := range p.Prune {
		keys = append(keys, DeleteKey(l))
	}
	for _, r := range p.Release {
		keys = append(keys, r.Key())
	}
	return keys
}

// DeleteKey returns the key of attempts to delete a child.
func DeleteKey(l live.Object) Key {
	return Key{Operation: OpDelete, Ref: RefOf(l), UID: l.Meta.GetUID()}
}

// Key returns the key of attempts to release the patch.
func (r Release) Key() Key {
	ref := RefOf(r.Live)
	ref.IsPatch, ref.Subresource = true, r.Subresource
	return Key{Operation: OpRelease, Ref: ref, UID: r.Live.Meta.GetUID()}
}

// isDue reports whether a deletion or release is to be sent now.
func (a Attempts) isDue(k Key, now time.Time) bool {
	at := a[k]
	isRefused := at != nil && at.Refused != nil && (at.Refused.IsDropped || at.Refused.IsOver(now))
	return !isRefused && a.Blocking(k, "", now) == nil
}

// hasSuccessor reports whether a child is a ConfigMap or Secret whose file renders another
// one of its kind, as if a hash of the content is part of the name.
func (in *Input) hasSuccessor(l live.Object) bool {
	return (l.GVK == configMaps || l.GVK == secrets) && slices.ContainsFunc(in.Result.Children, func(c render.Child) bool {
		return c.File == l.Meta.GetAnnotations()[api.AnnotationFile] && c.Object.GroupVersionKind() == l.GVK && !c.Policy.Patch
	})
}

// isRolledOut reports whether the resource is ready with what is rendered now: its status
// says so, nothing is left to write, and the live children are ready.
func (m *planner) isRolledOut() bool {
	return m.ReportedReady && !slices.ContainsFunc(m.plan.Steps, func(s Step) bool {
		return s.Action != Keep && s.Action != Done || s.Live != nil && !s.Child.Policy.Patch && m.IsReady != nil && !m.IsReady(*s.Live)
	})
}

// planAllowedPrunes plans for a resource of which files cannot be rendered: everything stays as
// it is, but for what no other file wants and the resource allows to go.
func (m *planner) planAllowedPrunes() {
	failed, wanted := *m.Result, map[Ref]bool{}
	for _, c := range failed.Children {
		wanted[RefOfObject(c.Object)] = !c.Policy.Patch
	}
	failed.Waiting = slices.Clone(failed.Waiting)
	for _, file := range failed.Failed {
		failed.Waiting = append(failed.Waiting, render.Waiting{File: file})
	}
	withFailed := *m
	withFailed.Result = &failed
	withFailed.planUnwanted(wanted)
	m.plan.Prune = slices.DeleteFunc(m.plan.Prune, func(l live.Object) bool {
		stays := !isAllowed(m.AllowPrune, l.GVK.GroupKind(), l.Meta)
		if stays {
			m.plan.retainChild(l, FileFails, failed.Failed[0])
		}
		return stays
	})
	for i := range m.plan.Retained {
		switch r := &m.plan.Retained[i]; {
		case r.Why != FileWaits:
			r.Why, r.File = FileFails, failed.Failed[0]
		case slices.Contains(failed.Failed, r.File):
			r.Why = FileFails
		}
	}
}

// waitingFile names a file that waits and made the object or can make it. To revoke
// rights must not hang on that, so of these more than a likeness is asked.
func (in *Input) waitingFile(l live.Object) (file string, waits bool) {
	for _, w := range in.Result.Waiting {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == w.File {
			return w.File, true
		}
	}
	for _, w := range in.Result.Waiting {
		if in.CanMake == nil {
			break
		}
		if can, literal := in.CanMake(w.File, l); can && (literal || !grantsPermissions(l)) {
			return w.File, true
		}
	}
	return "", false
}

// grantsPermissions reports whether an object is a role or a binding.
func grantsPermissions(l live.Object) bool { return l.GVK.Group == "rbac.authorization.k8s.io" }

// isGenerated reports whether an object is a Secret with texts that are drawn once: they
// are lost with it. Its own mark says so when the folder has dropped the file,
// the folder where the mark has come off.
func (in *Input) isGenerated(l live.Object) bool {
	said := l.Meta.GetAnnotations()
	return l.GVK == secrets && (said[api.AnnotationDrawn] != "" || in.Draws != nil && in.Draws(said[api.AnnotationFile]))
}

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// retainedNamespaces are the Namespaces of ours that are not rendered any more and
// stay until the resource allows it: what is in them stays too, such as the
// rules for their Pods.
func (in *Input) retainedNamespaces(wanted map[Ref]bool) map[string]bool {
	held := map[string]bool{}
	for _, l := range in.Live {
		name := l.Meta.GetName()
		if l.GVK == namespaces && !wanted[RefOf(l)] && Ours(in.Owner, l.Meta) && !isAllowed(in.AllowPrune, l.GVK.GroupKind(), l.Meta) {
			held[name] = true
		}
	}
	return held
}

// planDeletion plans for a resource that is being deleted. What the garbage collector reaches
// goes with the resource.
func (m *planner) planDeletion() {
	m.plan.Release = m.listReleases(nil)
	switch m.plan.Orphaning = m.decideOrphaning(); m.plan.Orphaning {
	case OrphanRequested:
	case OrphanInferred, OrphaningUnknown:
		// Somebody may have provoked this: revoke permissions.
		m.deleteAll(func(l live.Object) bool {
			return !garbageCollectable(m.Owner, l.Meta.GetNamespace()) && grantsPermissions(l)
		})
		m.retainOrphans()
	case NotOrphaned:
		m.deleteInOrder()
		m.retainOrphans()
	}
	for _, unknown := range m.Unknown {
		m.plan.Problems = append(m.plan.Problems, status.Problem{Severity: status.Waiting, Reason: api.ReasonChildrenUnknown, Message: unknown})
		m.plan.RequeueAfter(unknownRetry)
	}
	m.planPrunes()
	if len(m.Unknown) > 0 && len(m.DeletionOrder) > 0 { // what is not known may be first in order
		m.plan.HoldBack()
	}
}

// unknownRetry is how often it is looked again at what is not known of a resource that is
// being deleted.
const unknownRetry = 10 * time.Second

// deleteInOrder deletes the children of the first file in order that has some; then those
// that the garbage collector does not reach.
func (m *planner) deleteInOrder() {
	for _, file := range m.DeletionOrder {
		if m.deleteAll(func(l live.Object) bool { return l.Meta.GetAnnotations()[api.AnnotationFile] == file }) {
			return
		}
	}
	m.deleteAll(func(l live.Object) bool { return !garbageCollectable(m.Owner, l.Meta.GetNamespace()) })
}

// retainOrphans lists the children that outlive a resource although it did not ask for
// that.
func (m *planner) retainOrphans() {
	for _, l := range m.Live {
		switch {
		case slices.Contains(m.plan.Remaining, RefOf(l)):
		case m.plan.Orphaning == OrphanInferred && (lacksReference(m.Owner, l) || Ours(m.Owner, l.Meta)):
			m.plan.retainChild(l, Orphaned, "")
		case m.plan.Orphaning == NotOrphaned && lacksReference(m.Owner, l):
			m.plan.retainChild(l, NoReference, "")
		}
	}
}

// deleteAll deletes the children of ours that go, and reports whether there are any.
func (m *planner) deleteAll(goes func(live.Object) bool) bool {
	for _, l := range m.Live {
		said := l.Meta.GetAnnotations()[api.AnnotationOnDelete]
		if !goes(l) || !Ours(m.Owner, l.Meta) || isKept(l.Meta) || kind.HoldsData(l.GVK.GroupKind()) && said != "delete" {
			continue
		}
		m.plan.Remaining = append(m.plan.Remaining, RefOf(l))
		if l.Meta.GetDeletionTimestamp() == nil {
			m.plan.Prune = append(m.plan.Prune, l)
		}
	}
	return len(m.plan.Remaining) > 0
}
