// Package api holds the names that users and other programs rely on: labels,
// annotations, field managers and the finalizer of the domain jacquard.dev.
//
// Without it, users lose one place that has every name on the wire; an upgrade that
// loses no name rests on it.
package api

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Domain is the label, annotation and API group domain.
const Domain = "jacquard.dev"

// FieldManager is the manager under which owned children and statuses are
// server-side applied.
const FieldManager = "jacquard"

// LabelOwnerUID is the label of every owned child: the uid of its custom
// resource. It finds children again; it does not by itself prove ownership.
const LabelOwnerUID = "jacquard.dev/owner-uid"

// Annotations that the engine writes on owned children.
const (
	// AnnotationOwner names the custom resource: <name>/<namespace>/<resource>,
	// where <name> is the CRD's name.
	AnnotationOwner = "jacquard.dev/owner"
	// AnnotationFile is the template file, without .yaml, that made the child.
	AnnotationFile = "jacquard.dev/file"
	// AnnotationDrawn is on a Secret with texts that stable draws, also when
	// no file speaks of it any more: "true".
	AnnotationDrawn = "jacquard.dev/drawn"
	// AnnotationDesired is the hash of what is applied, "v1:" and SHA-256.
	AnnotationDesired = "jacquard.dev/desired"
	// AnnotationWrittenBy is the revision of the folder that last wrote the child. Later
	// versions of the operator write it; this one neither writes nor removes it.
	AnnotationWrittenBy = "jacquard.dev/written-by"
)

// PatchManager is the field manager of the patches of one custom resource: it
// finds the patched objects again.
func PatchManager(uid types.UID) string { return FieldManager + "-" + string(uid) }

// Finalizer is on a custom resource while something of it is left that the
// garbage collector does not reach, or that must go in order.
const Finalizer = "jacquard.dev/cleanup"

// Annotations that a template's author writes as literal text. Those about
// deletion stay on the child, the others are taken off before it is applied.
const (
	AnnotationOwnership     = "jacquard.dev/ownership"      // patch
	AnnotationSubresource   = "jacquard.dev/subresource"    // with patch
	AnnotationOnImmutable   = "jacquard.dev/on-immutable"   // recreate, recreate-keeping-dependents
	AnnotationOnFailed      = "jacquard.dev/on-failed"      // recreate
	AnnotationOnDelete      = "jacquard.dev/on-delete"      // keep, delete
	AnnotationRunOnce       = "jacquard.dev/run-once"       // true
	AnnotationInitialFields = "jacquard.dev/initial-fields" // paths of fields, comma-separated
	AnnotationAdopt         = "jacquard.dev/adopt"          // true
)

// AuthorAnnotations are the annotations that a template's author may write.
var AuthorAnnotations = []string{
	AnnotationAdopt, AnnotationInitialFields, AnnotationOnDelete, AnnotationOnFailed,
	AnnotationOnImmutable, AnnotationRunOnce, AnnotationOwnership, AnnotationSubresource,
}

// RenamedAnnotations are the present names of annotations of documents, by the name that they had
// before the first release. The earlier name does nothing.
var RenamedAnnotations = map[string]string{
	Domain + "/initial": AnnotationInitialFields,
	Domain + "/once":    AnnotationRunOnce,
}

// Annotations that people write on a custom resource; Paused also on a CRD.
const (
	AnnotationPaused      = "jacquard.dev/paused"       // true
	AnnotationReconcileAt = "jacquard.dev/reconcile-at" // anything new
	AnnotationAllowPrune  = "jacquard.dev/allow-prune"  // KIND[.GROUP]/[NAMESPACE/]NAME/UID, comma-separated
	AnnotationProtect     = "jacquard.dev/protect"      // true; a policy of the chart heeds it
)

// ResourceAnnotations are all that mean something on a custom resource: what
// people write, what we record, and what stands on it if it is a child itself.
var ResourceAnnotations = []string{
	AnnotationPaused, AnnotationReconcileAt, AnnotationAllowPrune, AnnotationProtect, AnnotationSucceeded, AnnotationOrphaned,
	AnnotationOwner, AnnotationFile, AnnotationDesired, AnnotationWrittenBy, AnnotationOnDelete,
}

// AnnotationChildKinds is the engine's record on a CRD of every kind of child
// that there may be of its resources: sorted "kind.group", comma-separated.
const AnnotationChildKinds = "jacquard.dev/child-kinds"

// AnnotationPatchedKinds is the same of every kind of object that may be patched.
const AnnotationPatchedKinds = "jacquard.dev/patched-kinds"

// AnnotationLeaving is the engine's record on a CRD of what deleting resources
// needs of the folder's settings, as JSON.
const AnnotationLeaving = "jacquard.dev/leaving"

// AnnotationSucceeded is the engine's record on a custom resource of the Jobs
// made once that have succeeded, the oldest first: name=hash, comma-separated.
const AnnotationSucceeded = "jacquard.dev/succeeded"

// AnnotationOrphaned is the engine's record on a custom resource that is being
// deleted: whether its children outlive it, and its uid.
const AnnotationOrphaned = "jacquard.dev/orphaned"

// LabelKind is on ConfigMaps that hold a folder: the kind's name.
const LabelKind = "jacquard.dev/kind"

// LabelAggregateTo is on ClusterRoles that an installation's own ClusterRole
// takes up: its name.
const LabelAggregateTo = "jacquard.dev/aggregate-to"

// Reserved reports whether a label or annotation key belongs to this domain.
func Reserved(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && (prefix == Domain || strings.HasSuffix(prefix, "."+Domain))
}

// trackers are prefixes of keys that other tools use to track objects; they
// are not shown to templates and so never reach a child.
// Nor are those by which other tools divide objects among their own processes.
var trackers = []string{"argocd.argoproj.io/", "meta.helm.sh/", "kubectl.kubernetes.io/last-applied-configuration", "sharding.fluxcd.io/"}

// Hidden reports whether a template does not see this label or annotation of the
// custom resource: ours, and those of tools that track objects.
func Hidden(key string) bool {
	if Reserved(key) {
		return true
	}
	for _, t := range trackers {
		if strings.HasPrefix(key, t) {
			return true
		}
	}
	prefix, _, found := strings.Cut(key, "/")
	return found && (strings.HasSuffix(prefix, "toolkit.fluxcd.io") || strings.HasSuffix(prefix, ".timebertt.dev"))
}

// Owner is the value of AnnotationOwner: which custom resource a child is of.
type Owner struct{ Kind, Namespace, Name string }

// String returns <name>/<namespace>/<resource>.
func (o Owner) String() string { return o.Kind + "/" + o.Namespace + "/" + o.Name }

// ParseOwner reads AnnotationOwner; ok is false for anything else.
func ParseOwner(s string) (o Owner, ok bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] == "" || parts[2] == "" {
		return Owner{}, false
	}
	return Owner{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, true
}
