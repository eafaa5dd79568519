package plan

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// An Owner is the custom resource whose children are planned.
type Owner struct {
	api.Owner
	GVK schema.GroupVersionKind
	UID types.UID
	// Keeps: its children stay when it goes, so they have no owner reference to it.
	Keeps bool
	// Revision of the folder marks the children that are written; "" marks none.
	Revision string
}

// KeepsChildren reports whether a resource says that its children stay when it goes.
// On one that is a child itself the annotation is about the resource, not about its
// children.
func KeepsChildren(resource metav1.Object) bool {
	said := resource.GetAnnotations()
	return said[api.AnnotationOnDelete] == "keep" && said[api.AnnotationOwner] == ""
}

// An Action is what is to be done with one child or patched object.
type Action int

const (
	// Keep: the object says what was rendered.
	Keep Action = iota
	// Create: there is no such object as far as is known.
	Create
	// Update: the object is ours and says something else, or it may be taken
	// over.
	Update
	// Recreate: the child ended Failed and its file says to make a new one, it is a Job made
	// once whose content changed, or the API server refuses to change it.
	Recreate
	// Patch: somebody else's object lacks our fields.
	Patch
	// Done: a Job made once succeeded and is gone.
	Done
	// Block: nothing can be done now; the step says why.
	Block
	// Refuse: an object of this name is there and is not ours.
	Refuse
	// BackOff: an earlier attempt failed, or did not last.
	BackOff
)

var actionNames = [...]string{"keep", "create", "update", "recreate", "patch", "done", "hold", "refuse", "back off"}

// String returns the action's name.
func (a Action) String() string { return actionNames[a] }

// IsWrite reports whether the action sends a request that changes something.
func (a Action) IsWrite() bool { return a == Create || a == Update || a == Recreate || a == Patch }

// A Step is what is to be done with one rendered child.
type Step struct {
	Action Action
	Child  render.Child
	// Document is what is applied: the child with the engine's metadata.
	Document *unstructured.Unstructured
	// Hash is that of the document; an owned child carries it.
	Hash string
	// Schema identifies, for a step that writes, the schema of the document's CRD, or is empty.
	// Another one may accept what this one refuses, so that the same document counts as other
	// content.
	Schema string
	// Live is the object as the cluster has it, or nil.
	Live *live.Object
	// Why says why, for people.
	Why string
	// Problem is what the status reports while the step has to wait. It may be nil.
	Problem *status.Problem
	// Recreation is set if the child is to be recreated since the API server refuses to change
	// it.
	Recreation *Recreation
	// GeneratesText is true for a Secret with texts that were generated just now.
	// GeneratedFrom are the files of the Secrets whose generated texts the child contains.
	GeneratesText bool
	GeneratedFrom []string
	// ReadsFirst is true if the live object is read before it is updated, to see what an
	// apply alone does not undo.
	ReadsFirst bool
	// WasMade is true for a child that is to be created although it existed before.
	WasMade bool
	// Taken are the fields that other managers took from us.
	Taken []string
	// Takers are those managers.
	Takers []string
}

// A Recreation is a child that the API server refuses to change, and would create.
type Recreation struct {
	// Object is the object that is to be deleted, and Hash the hash of the content that it
	// cannot be given.
	Object metav1.Object
	Hash   string
	// Why is the refusal, for people.
	Why string
	// Predecessor is the object as it was read, if the next one takes over values of fields that
	// are only set initially; or nil.
	Predecessor *unstructured.Unstructured
}

// A Release is a patch that nobody wants any more: its fields are released.
type Release struct {
	Live        live.Object
	Subresource string
}

// A List contains the objects of a kind that may be children, or that may be patched.
type List struct {
	schema.GroupVersionKind
	IsPatched bool
}

// Compare orders lists by kind.
func (l List) Compare(other List) int {
	return cmp.Or(strings.Compare(l.String(), other.String()), strings.Compare(fmt.Sprint(l.IsPatched), fmt.Sprint(other.IsPatched)))
}

// A FinalizerChange is a change of our finalizer on the resource; empty means none.
type FinalizerChange string

const (
	// AddFinalizer adds our finalizer before anything is created that the garbage collector would
	// not clean up.
	AddFinalizer FinalizerChange = "Add"
	// RemoveFinalizer removes it once nothing is left that it is needed for.
	RemoveFinalizer FinalizerChange = "Remove"
)

// A Metadata is a change of the metadata of the resource itself.
type Metadata struct {
	Annotations map[string]string
	Finalizer   FinalizerChange
}

// IsEmpty reports whether nothing changes.
func (m Metadata) IsEmpty() bool { return len(m.Annotations) == 0 && m.Finalizer == "" }

// A Plan is everything that one reconciliation does. It is executed in this order: Before,
// Steps, Prune and Release, After. Each part requires that all parts before it have succeeded.
type Plan struct {
	// IsRendered is true if the steps are all children that there should be. Otherwise, nothing
	// is known of that: the resource is paused, frozen or deleted, or cannot be rendered.
	IsRendered bool
	// Before and After change the resource itself: its annotations, on which later plans depend,
	// and our finalizer.
	Before, After Metadata
	Steps         []Step
	// Prune are live children of ours that were not rendered; of a resource
	// that goes, those that are to be deleted now.
	Prune []live.Object
	// Retained are children that nobody wants and that stay for now.
	Retained []Retained
	// Release are patches that were not rendered.
	Release []Release
	// Delayed are the deletions and releases that have to wait.
	Delayed map[Key]bool
	// Remaining are the children that must be gone before a resource that is being deleted may
	// go, and Orphaning is the decision about the children that outlive it.
	Remaining []Ref
	Orphaning Orphaning
	// Empty: nothing was rendered although there are children, and the kind
	// does not allow that; nothing is pruned.
	Empty bool
	// ConfirmAlive, ConfirmCurrent and Relist are questions that the API server has to answer
	// first: whether the resource is not being deleted, whether it is as the cache shows it, and
	// which objects there are. After a list, the resource has to be planned again.
	ConfirmAlive, ConfirmCurrent bool
	Relist                       []List
	// Problems are for the status. PruneProblems are too, once all steps have succeeded.
	Problems, PruneProblems []status.Problem
	// isHeldBack is true if nothing is carried out but Before.
	isHeldBack bool
	// SkipsStatus is true while a deletion is too young to be reported.
	SkipsStatus bool
	// Requeue is when to reconcile again without an event; 0 means never.
	Requeue time.Duration
	// Attempts are those of the input, with what this plan tries; earlier are
	// those of the input.
	Attempts, earlier Attempts
}

// An Applied is the outcome of the last write of a child by this process.
type Applied struct {
	// Hash is that of the document. Digest and Time are those of our entry in managedFields after
	// the write; Digest is empty if the API server kept no entry.
	Hash, Digest, Time string
}

// AppliedObjects are by uid of the child, and of the patched object with the subresource
// behind a slash.
type AppliedObjects map[types.UID]Applied

// Input is what a plan is made from. A plan is pure: all that
// it depends on is in here.
type Input struct {
	Owner Owner
	// Result is nil if nothing may be changed, or if nothing is known of what is rendered.
	Result *render.Result
	// Live are the objects that carry the owner's uid as label, of all kinds
	// that are known.
	Live []live.Object
	// State tells whether the live objects of a kind are known.
	State func(schema.GroupVersionKind) live.State
	// Patched are the objects that have fields of the owner's patch manager.
	Patched []live.Object
	// Object finds an object that is to be patched; nil: it is not there. An
	// error says that it is not known.
	Object func(c *unstructured.Unstructured) (*live.Object, error)
	// Patchers are the files that patch this kind and subresource.
	Patchers func(gvk schema.GroupVersionKind, subresource string) []string
	// Rendered reports whether children of a kind may be in a namespace only
	// because the same resource makes it; nil: none.
	Rendered func(gvk schema.GroupVersionKind, namespace string) bool
	// CanMake reports whether a file can make such an object, and whether by a
	// literal name; nil: it cannot.
	CanMake func(file string, l live.Object) (can, literal bool)
	// Draws reports whether the texts of a file's Secret are drawn once; nil: no
	// file's are.
	Draws func(file string) bool
	// Applied are the outcomes of earlier writes.
	Applied AppliedObjects
	// Attempts are earlier attempts. LastWrite is the time of the last write of anything of the
	// resource, and Cause identifies what changes its content for other reasons: the generation of
	// the resource and the revision of the folder.
	Attempts  Attempts
	LastWrite time.Time
	Cause     string
	Now       time.Time
	// SchemaOf identifies the schema of a kind's CRD, or returns an empty string.
	SchemaOf func(schema.GroupVersionKind) string
	// GeneratesText reports whether texts were generated just now for the Secret of a file, and
	// GeneratedFrom returns the files of the Secrets whose texts a file contains.
	GeneratesText func(file string) bool
	GeneratedFrom func(file string) []string
	// WasMade reports whether this process has written, or seen, a child before. IsCurrent is true
	// if the cached resource is known to be as new as the last write of the process before this
	// one.
	WasMade   func(Ref) bool
	IsCurrent bool
	// HasFinalizer is true if our finalizer is on the resource.
	HasFinalizer bool
	// Unknown describes what there may be of a resource with our finalizer that is not known.
	// Doubtful are lists of which the cache may lack objects: a write got no response, or another
	// process wrote to the resource after the kind was listed.
	Unknown  []string
	Doubtful []List
	// Recreations are the children that the API server refuses to change.
	Recreations map[Ref]Recreation
	// MayDelete returns an error if a child may not be deleted yet. If it is nil, all may.
	MayDelete func(gk schema.GroupKind, child metav1.Object) error
	// Replaced are the bodies of objects that were deleted to be created again: their values of
	// fields that are only set initially are taken over.
	Replaced map[Ref]map[string]any
	// Succeeded is the record of Jobs made once that have succeeded, and MakesOnce reports whether
	// a file makes such Jobs.
	Succeeded string
	MakesOnce func(file string) bool
	// AllowPrune are the entries of the annotation jacquard.dev/allow-prune: see Allowance.
	AllowPrune []string
	// DeletionOrder are the files whose children go one after the other.
	DeletionOrder []string
	AllowEmpty    bool
	// IsDeleting is true if the resource is being deleted, so that nothing is wanted.
	// DeletionSeenAt is when this process first saw that, by its own clock.
	IsDeleting     bool
	DeletionSeenAt time.Time
	// Propagation is how the resource is deleted, as far as a finalizer of the garbage
	// collector shows it: Orphan, Foreground, or empty.
	Propagation metav1.DeletionPropagation
	// RecordedOrphaning is the decision of an earlier pass about this deletion.
	RecordedOrphaning Orphaning
	// Reported are the children that the status names, and whether it says that they existed.
	// It is nil if the CRD does not declare them, or if the list was cut.
	Reported map[Ref]bool
	// KindsUnknown is true if there may be children that Live does not contain.
	KindsUnknown bool
	// ReportedReady is true if the status says that the resource is ready in its present
	// generation. IsReady reports whether a live child is ready. If it is nil, all are.
	ReportedReady bool
	IsReady       func(live.Object) bool
}

// Make plans one reconciliation. An error says which document cannot be finished.
func Make(in Input) (*Plan, error) {
	p := &Plan{Attempts: maps.Clone(in.Attempts), earlier: in.Attempts, Delayed: map[Key]bool{}}
	if p.Attempts == nil {
		p.Attempts = Attempts{}
	}
	m := &planner{in, p}
	switch {
	case in.IsDeleting:
		m.planDeletion()
	case in.Result == nil:
	case len(in.Result.Failed) > 0:
		m.planAllowedPrunes()
		m.planPrunes()
	default:
		if err := m.planChildren(); err != nil {
			return nil, err
		}
	}
	m.planMetadata()
	p.ConfirmCurrent = !in.IsCurrent && !in.IsDeleting && !(p.Same() && p.Before.IsEmpty() && p.After.IsEmpty())
	return p, nil
}

// A planner makes a plan.
type planner struct {
	Input
	plan *Plan
}

// planChildren plans what becomes of the children and patches of a resource that is rendered.
func (m *planner) planChildren() error {
	m.plan.IsRendered = true
	current := map[Ref]*live.Object{}
	for i := range m.Live {
		current[RefOf(m.Live[i])] = &m.Live[i]
	}
	wanted := map[Ref]bool{}
	for _, c := range m.Result.Children {
		step, err := m.planStep(c, current)
		if err != nil {
			return err
		}
		wanted[step.Ref()] = true
		m.plan.Steps = append(m.plan.Steps, step)
	}
	m.forgetAttempts()
	for i := range m.plan.Steps {
		m.holdBack(&m.plan.Steps[i])
	}
	m.plan.Release = m.listReleases(wanted)
	m.planUnwanted(wanted)
	if !m.plan.rendersChildren() && len(m.Result.Waiting) == 0 && len(m.plan.Prune)+len(m.plan.Retained) > 0 && !m.AllowEmpty {
		m.plan.Prune, m.plan.Retained, m.plan.Empty = nil, nil, true
		m.plan.Problems = append(m.plan.Problems, status.Problem{Severity: status.Stalled, Reason: api.ReasonEmptyRender,
			Message: "the templates render no children any more, so the present ones are kept; if that is meant, the folder says allowEmpty: true in kind.yaml"})
	}
	m.planPrunes()
	return nil
}

// RequeueAfter makes sure that the resource is reconciled again after d at the latest,
// unless d is 0.
func (p *Plan) RequeueAfter(d time.Duration) {
	if d > 0 && (p.Requeue == 0 || d < p.Requeue) {
		p.Requeue = d
	}
}

func (p *Plan) rendersChildren() bool {
	for i := range p.Steps {
		if !p.Steps[i].Child.Policy.Patch {
			return true
		}
	}
	return false
}

// planStep decides about one rendered document.
func (in *Input) planStep(c render.Child, all map[Ref]*live.Object) (Step, error) {
	s := Step{Child: c}
	if c.Policy.Patch {
		return in.planPatch(s)
	}
	s.Live = all[RefOfObject(c.Object)]
	var err error
	if s.Document, s.Hash, err = Document(in.Owner, c, s.Live); err != nil {
		return s, err
	}
	in.describeContent(&s)
	state := in.State(c.Object.GroupVersionKind())
	switch {
	case state.Phase == live.NotServed:
		s.Action, s.Why = Block, fmt.Sprintf("the cluster has no %s %s", c.Object.GetAPIVersion(), c.Object.GetKind())
	case state.Phase != live.Synced:
		s.Action, s.Why = Block, describeUnknown(c.Object.GetKind(), state.Err)
	case in.namespaceNotReady(c.Object, all) != "":
		s.Action, s.Why = Block, in.namespaceNotReady(c.Object, all)
	case s.Live == nil && c.Policy.Once && HasSucceeded(in.Succeeded, in.Owner, c.Object, s.Hash):
		s.Action = Done
	case s.Live == nil:
		s.Action = Create
		s.Document = Successor(s.Document, c, in.Replaced[s.Ref()])
	default:
		in.compareChild(&s)
	}
	if s.Action == Create || s.Action == Update {
		in.RecreateImmutable(&s)
	}
	return s, nil
}

// describeContent sets which generated texts the document of the step contains.
func (in *Input) describeContent(s *Step) {
	if in.GeneratesText != nil {
		s.GeneratesText = s.Document.GetKind() == "Secret" && in.GeneratesText(s.Child.File)
	}
	if in.GeneratedFrom != nil {
		s.GeneratedFrom = in.GeneratedFrom(s.Child.File)
	}
}

func describeUnknown(kind string, err error) string {
	if err == nil {
		return fmt.Sprintf("the live objects of kind %s are not known yet", kind)
	}
	return err.Error()
}

var namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// namespaceNotReady says why a child cannot be yet in the namespace that the same
// resource makes: it must be there, and ours.
func (in *Input) namespaceNotReady(o *unstructured.Unstructured, all map[Ref]*live.Object) string {
	namespace := o.GetNamespace()
	if in.Rendered == nil || !in.Rendered(o.GroupVersionKind(), namespace) {
		return ""
	}
	l := all[Ref{GroupKind: namespaces.GroupKind(), Name: namespace}]
	switch {
	case l == nil || !Ours(in.Owner, l.Meta):
		return fmt.Sprintf("Namespace %s does not exist yet, or is not a child of this resource", namespace)
	case l.Meta.GetDeletionTimestamp() != nil:
		return fmt.Sprintf("Namespace %s is being deleted", namespace)
	}
	return ""
}

// controllerOf returns the owner reference that controls an object, or nil.
func controllerOf(o metav1.Object) *metav1.OwnerReference { return metav1.GetControllerOfNoCopy(o) }

// Same reports whether the plan changes nothing, now or once the resource is ready.
func (p *Plan) Same() bool {
	for i := range p.Steps {
		if a := p.Steps[i].Action; a != Keep && a != Done {
			return false
		}
	}
	return len(p.Prune) == 0 && len(p.RetainedFor(StillUsed)) == 0 && len(p.Release) == 0 && !p.Empty
}
