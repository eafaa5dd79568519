package plan

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// An Owner is the custom resource whose children are planned.
type Owner struct {
	api.Owner
	GVK schema.GroupVersionKind
	UID types.UID
}

// An Action is what is to be done with one child.
type Action int

const (
	// Keep: the child says what was rendered.
	Keep Action = iota
	// Create: there is no such object as far as is known.
	Create
	// Update: the object is ours and says something else, or it may be taken
	// over.
	Update
	// Recreate: the child ended Failed and its file says to make a new one.
	Recreate
	// Hold: nothing can be done now; the step says why.
	Hold
	// Refuse: an object of this name is there and is not ours.
	Refuse
)

var actionNames = [...]string{"keep", "create", "update", "recreate", "hold", "refuse"}

// String returns the action's name.
func (a Action) String() string { return actionNames[a] }

// A Step is what is to be done with one rendered child.
type Step struct {
	Action Action
	Child  render.Child
	// Document is what is applied: the child with the engine's metadata.
	Document *unstructured.Unstructured
	// Hash is that of the document; the child carries it.
	Hash string
	// Live is the object as the cluster has it, or nil.
	Live *observe.Live
	// Why says why, for people.
	Why string
}

// A Plan is everything that is to be done for one resource.
type Plan struct {
	Steps []Step
	// Prune are live children of ours that were not rendered.
	Prune []observe.Live
	// Empty: nothing was rendered although there are children, and the kind
	// does not allow that; nothing is pruned.
	Empty bool
}

// A Memory is what is known of a child from earlier writes of this process.
type Memory struct {
	// Hash and Digest are of the document and of our managedFields entry after
	// it was applied: together they stand for "this is what comes of it".
	Hash, Digest string
	// Time is our entry's time then.
	Time string
}

// Input is what a plan is made from.
type Input struct {
	Owner  Owner
	Result *render.Result
	// Live are the objects that carry the owner's uid as label, of all kinds
	// that are known.
	Live []observe.Live
	// State tells whether the live objects of a kind are known.
	State func(schema.GroupVersionKind) observe.State
	// Memory is by uid of the child.
	Memory     map[types.UID]Memory
	AllowEmpty bool
}

// Make plans. Its error says which document cannot be finished.
func Make(in Input) (*Plan, error) {
	p := &Plan{}
	live := map[string]*observe.Live{}
	for i := range in.Live {
		l := &in.Live[i]
		live[identity(l.GVK, l.Meta.GetNamespace(), l.Meta.GetName())] = l
	}
	wanted := map[string]bool{}
	for _, c := range in.Result.Children {
		id := identity(c.Object.GroupVersionKind(), c.Object.GetNamespace(), c.Object.GetName())
		wanted[id] = true
		step, err := in.step(c, live[id])
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, step)
	}
	p.Prune = in.prune(wanted)
	if len(p.Steps) == 0 && len(in.Result.Waiting) == 0 && len(p.Prune) > 0 && !in.AllowEmpty {
		p.Prune, p.Empty = nil, true
	}
	return p, nil
}

func identity(gvk schema.GroupVersionKind, namespace, name string) string {
	return gvk.Group + "/" + gvk.Kind + "/" + namespace + "/" + name
}

// step decides about one rendered child.
func (in *Input) step(c render.Child, live *observe.Live) (Step, error) {
	s := Step{Child: c, Live: live}
	var err error
	if s.Document, s.Hash, err = finish(in.Owner, c); err != nil {
		return s, err
	}
	state := in.State(c.Object.GroupVersionKind())
	switch {
	case state.Phase == observe.NotServed:
		s.Action, s.Why = Hold, fmt.Sprintf("the cluster has no %s %s", c.Object.GetAPIVersion(), c.Object.GetKind())
	case state.Phase != observe.Synced:
		s.Action, s.Why = Hold, unknown(c.Object.GetKind(), state.Err)
	case live == nil:
		s.Action = Create
	default:
		s.Action, s.Why = in.compare(&s)
	}
	return s, nil
}

func unknown(kind string, err error) string {
	if err == nil {
		return fmt.Sprintf("the live objects of kind %s are not known yet", kind)
	}
	return err.Error()
}

// prune lists live children of ours that nobody wants, of kinds whose objects
// are known. While a file waits, only what a rendered file made is pruned: the
// rest may be what the waiting file is going to render, under an older name.
func (in *Input) prune(wanted map[string]bool) []observe.Live {
	waits := func(l observe.Live) bool {
		return len(in.Result.Waiting) > 0 && !slices.Contains(in.Result.Rendered, l.Meta.GetAnnotations()[api.AnnotationFile])
	}
	var out []observe.Live
	for _, l := range in.Live {
		if wanted[identity(l.GVK, l.Meta.GetNamespace(), l.Meta.GetName())] || waits(l) {
			continue
		}
		if l.Meta.GetDeletionTimestamp() == nil && Ours(in.Owner, l.Meta) {
			out = append(out, l)
		}
	}
	return out
}

// controller is the owner reference that controls an object, or nil.
func controller(o metav1.Object) *metav1.OwnerReference { return metav1.GetControllerOfNoCopy(o) }
