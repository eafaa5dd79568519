package api

// Reasons of conditions, events and problems. Reasons has what each means.
const (
	ReasonReady                   = "Ready"
	ReasonChildrenNotReady        = "ChildrenNotReady"
	ReasonStatusNotReady          = "StatusNotReady"
	ReasonChildFailed             = "ChildFailed"
	ReasonReadOnly                = "ReadOnly"
	ReasonPaused                  = "Paused"
	ReasonNotApplied              = "NotApplied"
	ReasonWaiting                 = "Waiting"
	ReasonChildWaiting            = "ChildWaiting"
	ReasonChildChanged            = "ChildChanged"
	ReasonRecreating              = "Recreating"
	ReasonRejectedByTemplate      = "RejectedByTemplate"
	ReasonRenderFailed            = "RenderFailed"
	ReasonEmptyRender             = "EmptyRender"
	ReasonStatusRenderFailed      = "StatusRenderFailed"
	ReasonStatusInvalid           = "StatusInvalid"
	ReasonInvalid                 = "Invalid"
	ReasonForbidden               = "Forbidden"
	ReasonQuotaExceeded           = "QuotaExceeded"
	ReasonPodSecurityViolated     = "PodSecurityViolated"
	ReasonDeniedByPolicy          = "DeniedByPolicy"
	ReasonDeniedByWebhook         = "DeniedByWebhook"
	ReasonDeniedByAdmission       = "DeniedByAdmission"
	ReasonConflict                = "Conflict"
	ReasonScopeMismatch           = "ScopeMismatch"
	ReasonOwnedByOthers           = "OwnedByOthers"
	ReasonNotServed               = "NotServed"
	ReasonNamespaceTerminating    = "NamespaceTerminating"
	ReasonApplyFailed             = "ApplyFailed"
	ReasonPruned                  = "Pruned"
	ReasonPruneFailed             = "PruneFailed"
	ReasonReleaseFailed           = "ReleaseFailed"
	ReasonPruneBlocked            = "PruneBlocked"
	ReasonContended               = "Contended"
	ReasonUnknownAnnotation       = "UnknownAnnotation"
	ReasonOscillating             = "Oscillating"
	ReasonRecordFailed            = "RecordFailed"
	ReasonChildrenUnknown         = "ChildrenUnknown"
	ReasonDeleting                = "Deleting"
	ReasonOrphaningInferred       = "OrphaningInferred"
	ReasonChildrenNotDeleted      = "ChildrenNotDeleted"
	ReasonOwnerReferencesRemoved  = "OwnerReferencesRemoved"
	ReasonOwnerReferencesRestored = "OwnerReferencesRestored"
	ReasonFolderInvalid           = "FolderInvalid"
	ReasonFolderValid             = "FolderValid"
	ReasonFolderRemoved           = "FolderRemoved"
	ReasonRolloutPending          = "RolloutPending"
	ReasonPreviewFailed           = "PreviewFailed"
	ReasonApprovalRequired        = "ApprovalRequired"
	ReasonRolloutRunning          = "RolloutRunning"
	ReasonRolloutStopped          = "RolloutStopped"
	ReasonRolloutComplete         = "RolloutComplete"
	ReasonRolledBack              = "RolledBack"
	ReasonDuplicateFolder         = "DuplicateFolder"
	ReasonServedElsewhere         = "ServedElsewhere"
)

// A Reason describes a reason to the people who read it in the cluster.
type Reason struct {
	Name string
	// About is what carries the reason: AboutResource, AboutCRD or AboutBoth.
	About string
	// Meaning and Remedy are Markdown for a table, with links as in
	// docs/operations/alerts-and-troubleshooting.md. Remedy is empty if there is nothing to say.
	Meaning, Remedy string
}

// What a reason is about. One about a resource is in a condition and in an event unless
// Meaning says otherwise, one about a CRD only in an event.
const (
	AboutResource = "resource"
	AboutCRD      = "CRD"
	AboutBoth     = "both"
)

// Reasons has every reason, in the order of the documents.
var Reasons = []Reason{
	{
		ReasonReady, AboutResource,
		"everything is applied, and all children are ready",
		"",
	},
	{
		ReasonChildrenNotReady, AboutResource,
		"everything is applied; the message names a child that is not ready yet",
		"check that child: `jacquard tree`",
	},
	{
		ReasonStatusNotReady, AboutResource,
		"everything is applied; the folder's `status.yaml` reports that the resource is not ready",
		"follow the message; ask the folder's author",
	},
	{
		ReasonChildFailed, AboutResource,
		"a child, such as a Job, has failed; waiting does not help. Or a [health " +
			"entry](../reference.md#health-expressions) has reported for 60 seconds that it failed",
		"read the message and the child's log, and fix the cause. A Job has to be deleted: it is recreated",
	},
	{
		ReasonReadOnly, AboutResource,
		"an event only: the operator is read-only; the message lists what it would do",
		"[pausing and emergency stop](kinds.md#pausing-and-emergency-stop)",
	},
	{
		ReasonPaused, AboutResource,
		"the resource or its kind is paused. The condition `Paused` is True. If the present spec is applied, the reason " +
			"of this condition is `Paused`. If not, its reason is `NotApplied`; the condition `Ready` is then Unknown, and " +
			"its reason is `Paused`",
		"remove `jacquard.dev/paused` from the resource or from the CRD",
	},
	{
		ReasonNotApplied, AboutResource,
		"the reason of the condition `Paused`, if the present spec is not applied",
		"`jacquard diff` shows the pending changes",
	},
	{
		ReasonWaiting, AboutResource,
		"a template waits for something that does not exist yet. In the condition `ChildrenKept`, the reason means: some " +
			"existing children are kept, because a file that may render them is waiting. The message lists them",
		"create what the message names",
	},
	{
		ReasonChildWaiting, AboutResource,
		"a child cannot be written yet: its namespace or kind does not exist, or another object with its name is being " +
			"deleted",
		"create the namespace or CRD; if the object is not deleted, somebody's finalizer is on it",
	},
	{
		ReasonChildChanged, AboutResource,
		"a child changed while it was written; the operator checks it again",
		"nothing",
	},
	{
		ReasonRecreating, AboutResource,
		"a child was deleted and will be created again",
		"nothing; if this persists, somebody's finalizer is on the child",
	},
	{
		ReasonRejectedByTemplate, AboutResource,
		"a template refuses the resource; the message comes from the folder",
		"change the resource as the message says",
	},
	{
		ReasonRenderFailed, AboutResource,
		"a template failed; the message names file and line. In the condition `ChildrenKept`, the reason means: a file " +
			"failed, so nothing is deleted. The message lists the children that would otherwise be deleted",
		"fix the folder, or the value that causes the error; `jacquard render` shows the same error",
	},
	{
		ReasonEmptyRender, AboutResource,
		"the templates no longer render any child, so the existing children are kept",
		"if this is intended, set `allowEmpty` in kind.yaml; otherwise fix the folder",
	},
	{
		ReasonStatusRenderFailed, AboutResource,
		"`status.yaml` failed",
		"fix the folder; children are still served",
	},
	{
		ReasonStatusInvalid, AboutResource,
		"the output of `status.yaml` is refused",
		"fix the folder, or the status in the CRD's schema",
	},
	{
		ReasonInvalid, AboutResource,
		"the API server refuses the content of a child",
		"change the value or the folder. The message names the field, its place in the template, other field managers " +
			"that hold it, and what to do; see [refused children](#refused-children)",
	},
	{
		ReasonForbidden, AboutResource,
		"the operator lacks a permission; the message has the missing rule",
		"[JacquardPermissionsMissing](#jacquardpermissionsmissing)",
	},
	{
		ReasonQuotaExceeded, AboutResource,
		"a ResourceQuota has no room for a child, or demands requests or limits that it does not have; the message names " +
			"the quota",
		"raise the quota, or let the child ask for less",
	},
	{
		ReasonPodSecurityViolated, AboutResource,
		"Pod Security refuses a child; the message names the containers and what they must set",
		"change the Pod, or the label `pod-security.kubernetes.io/enforce` of the namespace",
	},
	{
		ReasonDeniedByPolicy, AboutResource,
		"a ValidatingAdmissionPolicy refuses a child; the message names the policy and its binding",
		"change the child, or exclude it from the policy",
	},
	{
		ReasonDeniedByWebhook, AboutResource,
		"an admission webhook refuses a child; the message names the webhook",
		"change the child, or exclude it from the webhook",
	},
	{
		ReasonDeniedByAdmission, AboutResource,
		"another admission plugin refuses a child, for example because of a LimitRange, or because a ServiceAccount or " +
			"PriorityClass does not exist",
		"the message says what is missing or too much",
	},
	{
		ReasonConflict, AboutResource,
		"a field that a patch sets belongs to another field manager",
		"decide who owns the field: patches are never forced",
	},
	{
		ReasonScopeMismatch, AboutResource,
		"a child has a namespace although its kind is cluster-scoped in this cluster, or the reverse",
		"fix the file, or `children` in kind.yaml",
	},
	{
		ReasonOwnedByOthers, AboutResource,
		"an object with this name already exists; it is not changed",
		"rename the resource, or delete or rename the object. To take it over, run [`jacquard adopt " +
			"NAME/NAMESPACE/RESOURCE`](../tools.md#jacquard-adopt), or annotate it with `jacquard.dev/owner: " +
			"NAME/NAMESPACE/RESOURCE`",
	},
	{
		ReasonNotServed, AboutResource,
		"the cluster does not serve the kind of a child at present",
		"install its CRD, or repair its API service",
	},
	{
		ReasonNamespaceTerminating, AboutResource,
		"the namespace of a child is being deleted",
		"wait, or find what blocks the deletion",
	},
	{
		ReasonApplyFailed, AboutResource,
		"a write failed for another reason; the operator tries again",
		"[JacquardReconcileErrors](#jacquardreconcileerrors)",
	},
	{
		ReasonPruned, AboutResource,
		"an event only: the message lists children that are no longer rendered and were deleted",
		"",
	},
	{
		ReasonPruneFailed, AboutResource,
		"a child that is no longer rendered could not be deleted, or the fields of a patch could not be released; the " +
			"operator tries again",
		"the message names the cause, such as a permission or a webhook",
	},
	{
		ReasonReleaseFailed, AboutResource,
		"the operator wanted to remove the fields of a patch, but the API server refuses the object without them, so " +
			"they stay. This is reported for ten minutes, and as an event",
		"look at the object that the message names; remove the fields yourself if necessary",
	},
	{
		ReasonPruneBlocked, AboutResource,
		"a PersistentVolumeClaim, Namespace, CRD or Secret with `stable` values is no longer rendered, or such a Secret " +
			"has to be recreated. Deleting it would lose data, so the operator keeps it until an annotation of the resource " +
			"allows the deletion",
		"save the data, then set `jacquard.dev/allow-prune` as the message says; see " +
			"[resources.md](../resources.md#allow-a-deletion)",
	},
	{
		ReasonContended, AboutResource,
		"another field manager keeps changing applied fields",
		"[JacquardFieldsContended](#jacquardfieldscontended)",
	},
	{
		ReasonUnknownAnnotation, AboutResource,
		"the reason of the condition `AnnotationsIgnored`: an annotation of `jacquard.dev` has no effect on this " +
			"resource, or an entry of `allow-prune` names no child, or one that is gone",
		"the message names it, and the annotation that is probably meant, or the form of an entry",
	},
	{
		ReasonOscillating, AboutResource,
		"a field of a child, or of the output of `status.yaml`, changes with each write: the folder reads what it writes",
		"the message names file and field. Change the template so that it does not read its own output, or stop the " +
			"controller that copies the output back. [Meanwhile](../resources.md#children) the operator writes the field " +
			"less and less often. [`jacquard lint`](../tools.md#jacquard-lint) finds most of these cases beforehand",
	},
	{
		ReasonRecordFailed, AboutResource,
		"a record on the resource could not be written, or nothing can act as the account of its folder; the operator tries again",
		"grant the permission to patch the resource, or to impersonate the account",
	},
	{
		ReasonChildrenUnknown, AboutResource,
		"the state of the cluster cannot be read at present",
		"grant the permission to list or watch, or repair the API that does not answer; the message says which. If the " +
			"message names a kind that only an earlier version of the folder rendered, add this kind to " +
			"[`retired`](../reference.md#retired-kinds): the operator then keeps the permission",
	},
	{
		ReasonDeleting, AboutResource,
		"the resource is being deleted; the message names what must be gone first",
		"look at that object: usually somebody's finalizer is on it",
	},
	{
		ReasonOrphaningInferred, AboutResource,
		"an event only: the resource was deleted, and none of its children has an owner reference, [as after " +
			"`--cascade=orphan`](../resources.md#deleting). So the children are kept, except Roles and bindings outside of " +
			"the namespace. The message names both",
		"if you did not orphan the children, find out who removed their owner references, and delete what the message " +
			"names",
	},
	{
		ReasonChildrenNotDeleted, AboutResource,
		"an event only: the resource was deleted, and these objects in its namespace look like its children but have no " +
			"owner reference",
		"if they are not needed, delete them: `jacquard sweep NAME`",
	},
	{
		ReasonOwnerReferencesRemoved, AboutResource,
		"an event only: `jacquard.dev/on-delete: keep` was set, and no child has an owner reference any more. The " +
			"children stay when the resource is deleted",
		"",
	},
	{
		ReasonOwnerReferencesRestored, AboutResource,
		"an event only: `jacquard.dev/on-delete: keep` was removed, and all children have their owner reference again. " +
			"They are deleted with the resource",
		"",
	},
	{
		ReasonFolderInvalid, AboutBoth,
		"the folder does not load. An event on the CRD reports this. The last valid version continues to run. If there " +
			"is none, the condition of each resource reports it too: the resource is not served, and its children stay " +
			"unchanged",
		"[JacquardFolderInvalid](#jacquardfolderinvalid)",
	},
	{
		ReasonFolderValid, AboutCRD,
		"the folder loads again after `FolderInvalid`",
		"nothing",
	},
	{
		ReasonFolderRemoved, AboutBoth,
		"the kind's folder was removed, which an event on the CRD reports; the children stay, and the resource can be " +
			"deleted",
		"add the folder again, delete the resource, or [eject](install.md#uninstalling) the kind",
	},
	{
		ReasonRolloutPending, AboutResource,
		"the folder changed, and its rollout has not reached the resource. There is also a condition of this name: see " +
			"the next row",
		"wait; if the rollout stopped: [JacquardRolloutStopped](#jacquardrolloutstopped)",
	},
	{
		ReasonPreviewFailed, AboutResource,
		"the reason of the condition `RolloutPending`: the changed folder cannot be rendered for the resource, so it " +
			"stays on the old version",
		"fix the folder or the resource; the operator tries again every minute",
	},
	{
		ReasonApprovalRequired, AboutResource,
		"the rollout waits for approval to delete or recreate a child",
		"`jacquard approve NAME`, or roll back the folder",
	},
	{
		ReasonRolloutRunning, AboutCRD,
		"a wave of a rollout has started",
		"nothing",
	},
	{
		ReasonRolloutStopped, AboutCRD,
		"a rollout has stopped; the message gives the reason and the ways to continue",
		"[JacquardRolloutStopped](#jacquardrolloutstopped)",
	},
	{
		ReasonRolloutComplete, AboutCRD,
		"a changed folder has reached all resources",
		"nothing",
	},
	{
		ReasonRolledBack, AboutCRD,
		"the rollout of a folder with `onFailure: rollback` failed, and the operator rolled it back; the message says why",
		"[JacquardRolledBack](#jacquardrolledback)",
	},
	{
		ReasonDuplicateFolder, AboutCRD,
		"the kind has a second folder",
		"[JacquardDuplicateFolder](#jacquardduplicatefolder)",
	},
	{
		ReasonServedElsewhere, AboutCRD,
		"another operator serves the kind",
		"[JacquardKindServedElsewhere](#jacquardkindservedelsewhere)",
	},
}
