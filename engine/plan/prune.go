package plan

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// kept says whether a live child stays when nobody wants it any more: it says
// so itself.
func kept(o metav1.Object) bool { return o.GetAnnotations()[api.AnnotationOnDelete] == "keep" }

// prune lists live children of ours that nobody wants, of kinds whose objects
// are known. While a file waits, only what a rendered file made is pruned: the
// rest may be what the waiting file is going to render, under an older name.
func (in *Input) prune(p *Plan, wanted map[string]bool) {
	waits := func(l observe.Live) bool {
		return len(in.Result.Waiting) > 0 && !slices.Contains(in.Result.Rendered, l.Meta.GetAnnotations()[api.AnnotationFile])
	}
	held := in.heldNamespaces(wanted)
	for _, l := range in.Live {
		if wanted[identity(l.GVK, l.Meta.GetNamespace(), l.Meta.GetName())] || waits(l) || kept(l.Meta) || held[l.Meta.GetNamespace()] {
			continue
		}
		switch {
		case l.Meta.GetDeletionTimestamp() != nil || !Ours(in.Owner, l.Meta):
		case kind.Precious(l.GVK.GroupKind()) && !slices.Contains(in.AllowPrune, l.GVK.Kind+"/"+l.Meta.GetName()):
			p.Held = append(p.Held, l)
		default:
			p.Prune = append(p.Prune, l)
		}
	}
}

// heldNamespaces are the Namespaces of ours that are not rendered any more and
// stay until the resource allows it: what is in them stays too, such as the
// rules for their Pods.
func (in *Input) heldNamespaces(wanted map[string]bool) map[string]bool {
	held := map[string]bool{}
	for _, l := range in.Live {
		name := l.Meta.GetName()
		if l.GVK == namespaces && !wanted[identity(l.GVK, "", name)] && Ours(in.Owner, l.Meta) && !slices.Contains(in.AllowPrune, "Namespace/"+name) {
			held[name] = true
		}
	}
	return held
}

// leave lists what is to be deleted now of a resource that goes: the children
// of the first file in order that has some; then those that the garbage
// collector does not reach. The rest goes with the resource.
func (in *Input) leave(p *Plan) {
	if in.Orphan || in.orphaned() {
		return
	}
	for _, file := range in.DeleteOrder {
		if in.leaveAll(p, func(l observe.Live) bool { return l.Meta.GetAnnotations()[api.AnnotationFile] == file }) {
			return
		}
	}
	in.leaveAll(p, func(l observe.Live) bool { return !reaches(in.Owner, l.Meta.GetNamespace()) })
}

// orphaned says whether the garbage collector has taken the resource's reference
// off a child: it does so when the resource is deleted and its children are to
// stay, and nothing on the resource tells of that afterwards.
func (in *Input) orphaned() bool {
	return slices.ContainsFunc(in.Live, func(l observe.Live) bool {
		return reaches(in.Owner, l.Meta.GetNamespace()) && !kept(l.Meta) && controller(l.Meta) == nil &&
			l.Meta.GetAnnotations()[api.AnnotationOwner] == in.Owner.String() && applied(l.Meta)
	})
}

// leaveAll deletes the children of ours that go, and says whether there are any.
func (in *Input) leaveAll(p *Plan, goes func(observe.Live) bool) bool {
	for _, l := range in.Live {
		said := l.Meta.GetAnnotations()[api.AnnotationOnDelete]
		if !goes(l) || !Ours(in.Owner, l.Meta) || kept(l.Meta) || kind.Precious(l.GVK.GroupKind()) && said != "delete" {
			continue
		}
		p.Left = append(p.Left, named(l))
		if l.Meta.GetDeletionTimestamp() == nil {
			p.Prune = append(p.Prune, l)
		}
	}
	return len(p.Left) > 0
}

func named(l observe.Live) string {
	if l.Meta.GetNamespace() == "" {
		return l.GVK.Kind + " " + l.Meta.GetName()
	}
	return fmt.Sprintf("%s %s/%s", l.GVK.Kind, l.Meta.GetNamespace(), l.Meta.GetName())
}
