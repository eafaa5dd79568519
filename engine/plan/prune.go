package plan

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// kept reports whether a live child stays when nobody wants it any more: it says
// so itself.
func kept(o metav1.Object) bool { return o.GetAnnotations()[api.AnnotationOnDelete] == "keep" }

// A Kept is a live child that nobody wants and that a file may be going to
// render which waits, or cannot be rendered.
type Kept struct {
	Live live.Object
	File string
}

// prune lists live children of ours that nobody wants, of kinds whose objects
// are known. While a file waits, what it can make is kept, whichever file made
// it: to make it again later would be an outage.
func (in *Input) prune(p *Plan, wanted map[string]bool) {
	held := in.protectedNamespaces(wanted)
	for _, l := range in.Live {
		if wanted[identity(l.GVK, l.Meta.GetNamespace(), l.Meta.GetName())] || kept(l.Meta) || held[l.Meta.GetNamespace()] {
			continue
		}
		file, waits := in.waits(l)
		switch {
		case l.Meta.GetDeletionTimestamp() != nil || !Ours(in.Owner, l.Meta):
		case in.allows(l):
			p.Prune = append(p.Prune, l)
		case waits:
			p.Kept = append(p.Kept, Kept{l, file})
		case kind.HoldsData(l.GVK.GroupKind()) || in.drawn(l):
			p.Protected = append(p.Protected, l)
		default:
			p.Prune = append(p.Prune, l)
		}
	}
}

// Stuck plans for a resource of which files could not be rendered: everything
// stays as it is, but for what no other file wants and the resource allows to go.
func Stuck(in Input) *Plan {
	p, failed, wanted := &Plan{}, *in.Result, map[string]bool{}
	for _, c := range failed.Children {
		wanted[identity(c.Object.GroupVersionKind(), c.Object.GetNamespace(), c.Object.GetName())] = !c.Policy.Patch
	}
	failed.Waiting = slices.Clone(failed.Waiting)
	for _, file := range failed.Failed {
		failed.Waiting = append(failed.Waiting, render.Waiting{File: file})
	}
	in.Result = &failed
	in.prune(p, wanted)
	for _, l := range slices.Concat(p.Prune, p.Protected) {
		if !in.allows(l) {
			p.Kept = append(p.Kept, Kept{l, failed.Failed[0]})
		}
	}
	p.Protected, p.Prune = nil, slices.DeleteFunc(p.Prune, func(l live.Object) bool { return !in.allows(l) })
	return p
}

// allows reports whether the resource allows that an object goes.
func (in *Input) allows(l live.Object) bool {
	return slices.Contains(in.AllowPrune, l.GVK.Kind+"/"+l.Meta.GetName())
}

// waits names a file that waits and made the object or can make it. To revoke
// rights must not hang on that, so of these more than a likeness is asked.
func (in *Input) waits(l live.Object) (file string, waits bool) {
	rights := l.GVK.Group == "rbac.authorization.k8s.io"
	for _, w := range in.Result.Waiting {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == w.File {
			return w.File, true
		}
	}
	for _, w := range in.Result.Waiting {
		if in.CanMake == nil {
			break
		}
		if can, literal := in.CanMake(w.File, l); can && (literal || !rights) {
			return w.File, true
		}
	}
	return "", false
}

// drawn reports whether an object is a Secret with texts that are drawn once: they
// are lost with it. Its own mark says so when the folder has dropped the file,
// the folder where the mark has come off.
func (in *Input) drawn(l live.Object) bool {
	said := l.Meta.GetAnnotations()
	return l.GVK == secrets && (said[api.AnnotationDrawn] != "" || in.Draws != nil && in.Draws(said[api.AnnotationFile]))
}

var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// protectedNamespaces are the Namespaces of ours that are not rendered any more and
// stay until the resource allows it: what is in them stays too, such as the
// rules for their Pods.
func (in *Input) protectedNamespaces(wanted map[string]bool) map[string]bool {
	held := map[string]bool{}
	for _, l := range in.Live {
		name := l.Meta.GetName()
		if l.GVK == namespaces && !wanted[identity(l.GVK, "", name)] && Ours(in.Owner, l.Meta) && !in.allows(l) {
			held[name] = true
		}
	}
	return held
}

// leave lists what is to be deleted now of a resource that goes: the children
// of the first file in order that has some; then those that the garbage
// collector does not reach. The rest goes with the resource.
func (in *Input) leave(p *Plan) {
	if in.Orphan || in.Owner.Keeps || in.orphaned() {
		return
	}
	for _, file := range in.DeleteOrder {
		if in.leaveAll(p, func(l live.Object) bool { return l.Meta.GetAnnotations()[api.AnnotationFile] == file }) {
			return
		}
	}
	in.leaveAll(p, func(l live.Object) bool { return !garbageCollectable(in.Owner, l.Meta.GetNamespace()) })
}

// orphaned reports whether the garbage collector has taken the resource's reference
// off a child: it does so when the resource is deleted and its children are to
// stay, and nothing on the resource tells of that afterwards.
func (in *Input) orphaned() bool {
	return slices.ContainsFunc(in.Live, func(l live.Object) bool {
		return garbageCollectable(in.Owner, l.Meta.GetNamespace()) && !kept(l.Meta) && controller(l.Meta) == nil &&
			l.Meta.GetAnnotations()[api.AnnotationOwner] == in.Owner.String() && applied(l.Meta)
	})
}

// leaveAll deletes the children of ours that go, and reports whether there are any.
func (in *Input) leaveAll(p *Plan, goes func(live.Object) bool) bool {
	for _, l := range in.Live {
		said := l.Meta.GetAnnotations()[api.AnnotationOnDelete]
		if !goes(l) || !Ours(in.Owner, l.Meta) || kept(l.Meta) || kind.HoldsData(l.GVK.GroupKind()) && said != "delete" {
			continue
		}
		p.Left = append(p.Left, named(l))
		if l.Meta.GetDeletionTimestamp() == nil {
			p.Prune = append(p.Prune, l)
		}
	}
	return len(p.Left) > 0
}

func named(l live.Object) string {
	if l.Meta.GetNamespace() == "" {
		return l.GVK.Kind + " " + l.Meta.GetName()
	}
	return fmt.Sprintf("%s %s/%s", l.GVK.Kind, l.Meta.GetNamespace(), l.Meta.GetName())
}
