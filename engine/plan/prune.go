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

// kept reports whether a live child stays when nobody wants it any more: it says
// so itself.
func kept(o metav1.Object) bool { return o.GetAnnotations()[api.AnnotationOnDelete] == "keep" }

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

func (p *Plan) retain(l live.Object, why RetainReason, file string) {
	p.Retained = append(p.Retained, Retained{l, why, file})
}

// prune plans what becomes of live children of ours that nobody wants, of kinds whose
// objects are known. While a file waits, what it can make stays, whichever file made
// it: to make it again later would be an outage.
func (in *Input) prune(p *Plan, wanted map[Ref]bool) {
	held := in.retainedNamespaces(wanted)
	for _, l := range in.Live {
		if wanted[RefOf(l)] || kept(l.Meta) || held[l.Meta.GetNamespace()] {
			continue
		}
		file, waits := in.waits(l)
		switch {
		case l.Meta.GetDeletionTimestamp() != nil || !Ours(in.Owner, l.Meta):
		case in.isPruneAllowed(l.GVK.GroupKind(), l.Meta):
			p.Prune = append(p.Prune, l)
		case waits:
			p.retain(l, FileWaits, file)
		case kind.HoldsData(l.GVK.GroupKind()) || in.drawn(l):
			p.retain(l, HoldsData, "")
		case in.isReplaced(l) && !in.isRolledOut(p):
			p.retain(l, StillUsed, "")
		default:
			p.Prune = append(p.Prune, l)
		}
	}
}

// planPrunes puts the deletions and releases in an order that does not depend on that of the
// live objects, and decides which of them have to wait: for an approval, or since an earlier
// attempt failed or the watch does not show its effect yet.
func (in *Input) planPrunes(p *Plan) {
	slices.SortFunc(p.Prune, func(a, b live.Object) int { return CompareRefs(RefOf(a), RefOf(b)) })
	slices.SortFunc(p.Retained, func(a, b Retained) int { return CompareRefs(RefOf(a.Live), RefOf(b.Live)) })
	slices.SortFunc(p.Left, CompareRefs)
	for _, k := range p.pruneKeys() {
		if !in.isDue(p, k) {
			p.Delayed[k] = true
		}
	}
	for _, l := range p.RetainedFor(HoldsData) {
		p.PruneProblems = append(p.PruneProblems, status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneHeld, Message: fmt.Sprintf(
			"%s is not rendered any more and is kept, since what is in it would be lost; to delete it, annotate this resource with %s=%s",
			RefOf(l), api.AnnotationAllowPrune, Allowance(l.GVK.GroupKind(), l.Meta))})
	}
	if in.Leaving || in.MayDelete == nil || !p.IsComplete() {
		return
	}
	// The deletions of children that are still used count for the rollout that replaces them.
	for _, l := range slices.Concat(p.Prune, p.RetainedFor(StillUsed)) {
		if err := in.MayDelete(l.GVK.GroupKind(), l.Meta); err != nil {
			p.Delayed[DeleteKey(l)] = true
			p.PruneProblems = append(p.PruneProblems,
				status.Problem{Severity: status.Waiting, Reason: api.ReasonWaitsForApproval, Message: err.Error()})
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
func (in *Input) isDue(p *Plan, k Key) bool {
	at := p.Attempts[k]
	isRefused := at != nil && at.Refused != nil && (at.Refused.IsDropped || at.Refused.IsOver(in.Now))
	return !isRefused && p.Attempts.Blocking(k, "", in.Now) == nil
}

// isReplaced reports whether a child is a ConfigMap or Secret whose file renders another
// one of its kind, as if a hash of the content is part of the name.
func (in *Input) isReplaced(l live.Object) bool {
	return (l.GVK == configMaps || l.GVK == secrets) && slices.ContainsFunc(in.Result.Children, func(c render.Child) bool {
		return c.File == l.Meta.GetAnnotations()[api.AnnotationFile] && c.Object.GroupVersionKind() == l.GVK && !c.Policy.Patch
	})
}

// isRolledOut reports whether the resource is ready with what is rendered now: its status
// says so, nothing is left to write, and the live children are ready.
func (in *Input) isRolledOut(p *Plan) bool {
	return in.ReportedReady && !slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.Action != Keep && s.Action != Done || s.Live != nil && !s.Child.Policy.Patch && in.IsReady != nil && !in.IsReady(*s.Live)
	})
}

// planAllowedPrunes plans for a resource of which files cannot be rendered: everything stays as
// it is, but for what no other file wants and the resource allows to go.
func (in *Input) planAllowedPrunes(p *Plan) {
	failed, wanted := *in.Result, map[Ref]bool{}
	for _, c := range failed.Children {
		wanted[RefOfObject(c.Object)] = !c.Policy.Patch
	}
	failed.Waiting = slices.Clone(failed.Waiting)
	for _, file := range failed.Failed {
		failed.Waiting = append(failed.Waiting, render.Waiting{File: file})
	}
	withFailed := *in
	withFailed.Result = &failed
	withFailed.prune(p, wanted)
	p.Prune = slices.DeleteFunc(p.Prune, func(l live.Object) bool {
		stays := !in.isPruneAllowed(l.GVK.GroupKind(), l.Meta)
		if stays {
			p.retain(l, FileFails, failed.Failed[0])
		}
		return stays
	})
	for i := range p.Retained {
		switch r := &p.Retained[i]; {
		case r.Why != FileWaits:
			r.Why, r.File = FileFails, failed.Failed[0]
		case slices.Contains(failed.Failed, r.File):
			r.Why = FileFails
		}
	}
}

// waits names a file that waits and made the object or can make it. To revoke
// rights must not hang on that, so of these more than a likeness is asked.
func (in *Input) waits(l live.Object) (file string, waits bool) {
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

// drawn reports whether an object is a Secret with texts that are drawn once: they
// are lost with it. Its own mark says so when the folder has dropped the file,
// the folder where the mark has come off.
func (in *Input) drawn(l live.Object) bool {
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
		if l.GVK == namespaces && !wanted[RefOf(l)] && Ours(in.Owner, l.Meta) && !in.isPruneAllowed(l.GVK.GroupKind(), l.Meta) {
			held[name] = true
		}
	}
	return held
}

// planDeletion plans for a resource that is being deleted. What the garbage collector reaches
// goes with the resource.
func (in *Input) planDeletion(p *Plan) {
	p.Release = in.release(nil)
	switch p.Orphaning = in.decideOrphaning(); p.Orphaning {
	case OrphanRequested:
	case OrphanInferred, OrphaningUnknown:
		// Somebody may have provoked this: revoke permissions.
		in.leaveAll(p, func(l live.Object) bool { return !in.isReachable(l) && grantsPermissions(l) })
		in.retainOrphans(p)
	case NotOrphaned:
		in.leaveInOrder(p)
		in.retainOrphans(p)
	}
	for _, unknown := range in.Unknown {
		p.Problems = append(p.Problems, status.Problem{Severity: status.Waiting, Reason: api.ReasonNotKnown, Message: unknown})
		p.RequeueAfter(unknownRetry)
	}
	in.planPrunes(p)
	if len(in.Unknown) > 0 && len(in.DeleteOrder) > 0 { // what is not known may be first in order
		p.HoldBack()
	}
}

// unknownRetry is how often it is looked again at what is not known of a resource that is
// being deleted.
const unknownRetry = 10 * time.Second

// leaveInOrder deletes the children of the first file in order that has some; then those
// that the garbage collector does not reach.
func (in *Input) leaveInOrder(p *Plan) {
	for _, file := range in.DeleteOrder {
		if in.leaveAll(p, func(l live.Object) bool { return l.Meta.GetAnnotations()[api.AnnotationFile] == file }) {
			return
		}
	}
	in.leaveAll(p, func(l live.Object) bool { return !in.isReachable(l) })
}

// retainOrphans lists the children that outlive a resource although it did not ask for
// that.
func (in *Input) retainOrphans(p *Plan) {
	for _, l := range in.Live {
		switch {
		case slices.Contains(p.Left, RefOf(l)):
		case p.Orphaning == OrphanInferred && (lacksReference(in.Owner, l) || Ours(in.Owner, l.Meta)):
			p.retain(l, Orphaned, "")
		case p.Orphaning == NotOrphaned && lacksReference(in.Owner, l):
			p.retain(l, NoReference, "")
		}
	}
}

// leaveAll deletes the children of ours that go, and reports whether there are any.
func (in *Input) leaveAll(p *Plan, goes func(live.Object) bool) bool {
	for _, l := range in.Live {
		said := l.Meta.GetAnnotations()[api.AnnotationOnDelete]
		if !goes(l) || !Ours(in.Owner, l.Meta) || kept(l.Meta) || kind.HoldsData(l.GVK.GroupKind()) && said != "delete" {
			continue
		}
		p.Left = append(p.Left, RefOf(l))
		if l.Meta.GetDeletionTimestamp() == nil {
			p.Prune = append(p.Prune, l)
		}
	}
	return len(p.Left) > 0
}
