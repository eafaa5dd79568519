package reconcile

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A subject is a custom resource, the version of its kind that serves it, and the
// cluster that it is in.
type subject struct {
	name    string
	gvk     schema.GroupVersionKind
	cluster *Cluster
	version *Version
	// resource is as it was seen, or as our last write of it was answered.
	resource *unstructured.Unstructured
}

// isEdited reports whether the status is about an earlier generation of the resource:
// nobody has served what it says now.
func (s *subject) isEdited() bool {
	of, told := status.Condition(s.resource.Object, "Ready")["observedGeneration"].(int64)
	return told && of != s.resource.GetGeneration()
}

func (s *subject) readyReason() string {
	reason, _ := status.Condition(s.resource.Object, "Ready")["reason"].(string)
	return reason
}

// makesOnce reports whether a file makes Jobs once.
func (v *Version) makesOnce(file string) bool {
	if v.Kind == nil {
		return false
	}
	for _, d := range v.Kind.Documents {
		if d.File == file && d.Marks[api.AnnotationOnce] != "" {
			return true
		}
	}
	return false
}

// drawsTexts reports whether the texts of a file's Secret are drawn once.
func (v *Version) drawsTexts(file string) bool {
	return v.Kind != nil && v.Kind.Draws(file)
}

func (s *subject) planOwner() plan.Owner {
	return plan.Owner{
		Owner: api.Owner{Kind: s.name, Namespace: s.resource.GetNamespace(), Name: s.resource.GetName()},
		GVK:   s.gvk, UID: s.resource.GetUID(), Keeps: plan.KeepsChildren(s.resource),
	}
}

// isDeleting reports whether the resource is being deleted.
func (s *subject) isDeleting() bool { return s.resource.GetDeletionTimestamp() != nil }

// isPaused reports whether the resource, or its whole kind, is observed and not
// changed.
func (s *subject) isPaused() bool {
	crd := s.readCRD()
	return s.resource.GetAnnotations()[api.AnnotationPaused] == "true" || crd != nil && crd.GetAnnotations()[api.AnnotationPaused] == "true"
}

// kindSettings returns the settings of the folder; without one, as far as they are recorded,
// since deleting needs them.
func (s *subject) kindSettings() kind.Settings {
	if s.version.Kind != nil {
		return s.version.Kind.Settings
	}
	var recorded kind.Settings
	if crd := s.readCRD(); crd != nil {
		l := finalizationOf(crd, s.cluster.Shard)
		recorded.DeleteOrder, recorded.ServiceAccountName = l.DeleteOrder, l.ServiceAccountName
	}
	return recorded
}

// otherNamespaces returns the namespaces that children may be in besides their resource's,
// by the folder or, without one, by the record.
func (s *subject) otherNamespaces() (all []string) {
	if s.version.Kind == nil {
		if crd := s.readCRD(); crd != nil {
			all = finalizationOf(crd, s.cluster.Shard).Elsewhere
		}
		return all
	}
	for _, rule := range s.version.Kind.Settings.Children {
		all = append(all, rule.Namespaces.Listed...)
		if rule.Namespaces.Rendered {
			all = append(all, anywhere)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parseAllowances returns the entries by which the resource allows that children are deleted.
func (s *subject) parseAllowances() []string {
	return plan.ParseAllowances(s.resource.GetAnnotations()[api.AnnotationAllowPrune])
}

// reportedReady reports whether the status says that the resource is ready in its present
// generation, but for a deletion that failed. Without a status, only the children can tell.
func (s *subject) reportedReady() bool {
	ready, _ := status.ReadyOf(s.resource)
	isReady := ready.Status == "True" || ready.Reason == api.ReasonPruneFailed
	return !s.version.hasStatus() || isReady && ready.Observed == s.resource.GetGeneration()
}

// mayPatch reports whether the kind may patch such an object in its place: anybody
// can write under our name, wherever they may write. Of a kind that the folder
// does not patch any more nobody knows where it did.
func (s *subject) mayPatch(l live.Object) bool {
	k := s.version.Kind
	return k == nil || !slices.ContainsFunc(k.Patches(), func(p kind.Patch) bool { return p.GroupKind() == l.GVK.GroupKind() }) ||
		k.MayBeIn(l.GVK, s.resource.GetNamespace(), l.Meta.GetNamespace())
}

// readCRD returns the metadata of the kind's CRD as last seen, or nil.
func (s *subject) readCRD() metav1.Object { return s.cluster.CRD(s.name) }

// namespacesOf returns the namespaces that the resource's objects of a kind may be in, as
// its folder says; none: any.
func (s *subject) namespacesOf(gvk schema.GroupVersionKind) []string {
	own, k := s.resource.GetNamespace(), s.version.Kind
	if own == "" || k == nil || !slices.ContainsFunc(k.Children, func(c kind.Child) bool { return c.GroupVersionKind == gvk }) &&
		!slices.ContainsFunc(k.Patches(), func(p kind.Patch) bool { return p.GroupVersionKind == gvk }) {
		return nil // it is on record alone
	}
	where, _ := k.Placement(gvk)
	if where.Rendered {
		return nil
	}
	return append([]string{own}, where.Listed...)
}

// childWriter writes children as the account that the folder says.
func (s *subject) childWriter() (*apply.Writer, error) {
	account := s.kindSettings().ServiceAccountName
	if account == "" {
		return s.cluster.Writer, nil
	}
	return s.cluster.Writer.As(s.resource.GetNamespace(), account)
}

// A liveStatus is the status of a resource as it was seen, and what our own entry in
// managedFields covers of it.
type liveStatus struct {
	fields map[string]any
	entry  ownership.Entry
	owned  bool // there is such an entry
	err    error
}

func (s *subject) readStatus() liveStatus {
	var l liveStatus
	l.fields, _ = s.resource.Object["status"].(map[string]any)
	l.entry, l.owned, l.err = ownership.OursAt(s.resource.GetManagedFields(), api.FieldManager, "status")
	return l
}

// ownFields returns the fields that our entry covers.
func (l liveStatus) ownFields() map[string]any {
	if l.err != nil || !l.owned {
		return nil
	}
	kept := map[string]any{}
	for field, v := range l.fields {
		if l.entry.Reaches("status", field) {
			kept[field] = v
		}
	}
	return kept
}

// isAs reports whether the live status is what is desired, with nothing of ours
// left over.
func (l liveStatus) isAs(desired map[string]any) bool {
	return status.Same(desired, l.fields) && l.err == nil &&
		(!l.owned || len(l.entry.Extra(map[string]any{"status": desired})) == 0)
}

// desiredStatus returns what of a status the CRD has, and whether the live one says it already:
// then there was nothing to prune.
func (s *subject) desiredStatus(made map[string]any, current liveStatus) (desired map[string]any, same bool) {
	if same = current.isAs(made); same {
		return made, same
	}
	shown := s.version.shownVersion()
	if shown == nil {
		return made, same
	}
	desired, _ = shown.PruneStatus(made)
	return desired, current.isAs(desired)
}

// hasFinalizer reports whether our finalizer is on the resource.
func (s *subject) hasFinalizer() bool {
	return slices.Contains(s.resource.GetFinalizers(), api.Finalizer)
}
