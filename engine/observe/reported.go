package observe

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// IsEdited reports whether the status is about an earlier generation of the resource:
// nobody has served what it says now.
func (s *Subject) IsEdited() bool {
	of, told := status.Condition(s.Resource.Object, "Ready")["observedGeneration"].(int64)
	return told && of != s.Resource.GetGeneration()
}

// ReadyReason returns the reason of the condition Ready.
func (s *Subject) ReadyReason() string {
	reason, _ := status.Condition(s.Resource.Object, "Ready")["reason"].(string)
	return reason
}

// ReportedReady reports whether the status says that the resource is ready in its present
// generation, but for a deletion that failed. Without a status, only the children can tell.
func (s *Subject) ReportedReady() bool {
	ready, _ := status.ReadyOf(s.Resource)
	isReady := ready.Status == "True" || ready.Reason == api.ReasonPruneFailed
	return !s.Version.HasStatus() || isReady && ready.Observed == s.Resource.GetGeneration()
}

// What the status says of a child that does not exist.
const (
	// NotThere is said of a child that was never created.
	NotThere = "not there yet"
	// NotKnown is said of a child that nobody knows whether it exists.
	NotKnown = "not known"
	// GoneWhilePaused and GoneWhileFrozen are said of a child that existed, and is not created
	// again now.
	GoneWhilePaused = "it is gone, and not made again while paused"
	GoneWhileFrozen = "it is gone, and made again when the rollout of the changed folder reaches this resource"
)

// ListReported returns the children that the status names.
func (s *Subject) ListReported() (children []status.Child, cut bool) {
	fields, _ := s.Resource.Object["status"].(map[string]any)
	return status.ChildrenOf(fields)
}

// HasSucceeded reports whether a child is a Job that is made once and has succeeded.
func (s *Subject) HasSucceeded(c status.Child) bool {
	record := s.Resource.GetAnnotations()[api.AnnotationSucceeded]
	return GroupKindOf(c) == plan.JobKind.GroupKind() && plan.HasSucceededOnce(record, plan.OnceName(s.Owner(), c.Namespace, c.Name))
}

// ReportedChildren are the children that the status names, and whether it says that they
// existed; nil if the CRD does not declare them, or the list was cut.
func (s *Subject) ReportedChildren() map[plan.Ref]bool {
	children, cut := s.ListReported()
	if cut || !s.Version.declaresChildren() {
		return nil
	}
	all := map[plan.Ref]bool{}
	for _, c := range children {
		absent := !c.Ready && slices.Contains([]string{NotThere, GoneWhilePaused, GoneWhileFrozen}, c.Message)
		all[plan.Ref{GroupKind: GroupKindOf(c), Namespace: c.Namespace, Name: c.Name}] = !absent && !s.HasSucceeded(c)
	}
	return all
}

// RecordedOrphaning returns the decision of an earlier pass about the children, if there is one.
func (s *Subject) RecordedOrphaning() plan.Orphaning {
	return plan.ParseOrphaning(s.Resource.GetAnnotations()[api.AnnotationOrphaned], s.Resource.GetUID())
}

// A LiveStatus is the status of a resource as it was seen, and what our own entry in
// managedFields covers of it.
type LiveStatus struct {
	Fields map[string]any
	entry  ownership.Entry
	owned  bool // there is such an entry
	err    error
}

// ReadStatus returns the status of the resource.
func (s *Subject) ReadStatus() LiveStatus {
	var l LiveStatus
	l.Fields, _ = s.Resource.Object["status"].(map[string]any)
	l.entry, l.owned, l.err = ownership.OursAt(s.Resource.GetManagedFields(), api.FieldManager, "status")
	return l
}

// OwnFields returns the fields that our entry covers.
func (l LiveStatus) OwnFields() map[string]any {
	if l.err != nil || !l.owned {
		return nil
	}
	kept := map[string]any{}
	for field, v := range l.Fields {
		if l.entry.Reaches("status", field) {
			kept[field] = v
		}
	}
	return kept
}

// isAs reports whether the live status is what is desired, with nothing of ours
// left over.
func (l LiveStatus) isAs(desired map[string]any) bool {
	return status.Same(desired, l.Fields) && l.err == nil &&
		(!l.owned || len(l.entry.Extra(map[string]any{"status": desired})) == 0)
}

// DesiredStatus returns what of a status the CRD has, and whether the live one says it already:
// then there was nothing to prune.
func (s *Subject) DesiredStatus(made map[string]any, current LiveStatus) (desired map[string]any, same bool) {
	if same = current.isAs(made); same {
		return made, same
	}
	shown := s.Version.ShownVersion()
	if shown == nil {
		return made, same
	}
	desired, _ = shown.PruneStatus(made)
	return desired, current.isAs(desired)
}

// GroupKindOf returns the kind of a child, without its version.
func GroupKindOf(c status.Child) schema.GroupKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
}
