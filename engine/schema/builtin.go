package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// builtIn lists the kinds of Kubernetes itself by group and version. A test
// compares it with the client's own list.
var builtIn = map[string]string{
	"admissionregistration.k8s.io/v1":       "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"admissionregistration.k8s.io/v1alpha1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1":  "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apps/v1":                               "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
	"apps/v1beta1":                          "ControllerRevision Deployment Scale StatefulSet",
	"apps/v1beta2":                          "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
	"authentication.k8s.io/v1":              "SelfSubjectReview TokenRequest TokenReview",
	"authentication.k8s.io/v1alpha1":        "SelfSubjectReview",
	"authentication.k8s.io/v1beta1":         "SelfSubjectReview TokenReview",
	"authorization.k8s.io/v1":               "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"authorization.k8s.io/v1beta1":          "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling/v1":                        "HorizontalPodAutoscaler Scale",
	"autoscaling/v2":                        "HorizontalPodAutoscaler",
	"batch/v1":                              "CronJob Job",
	"batch/v1beta1":                         "CronJob",
	"certificates.k8s.io/v1":                "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"certificates.k8s.io/v1alpha1":          "ClusterTrustBundle",
	"certificates.k8s.io/v1beta1":           "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io/v1":                "Lease",
	"coordination.k8s.io/v1alpha2":          "LeaseCandidate",
	"coordination.k8s.io/v1beta1":           "Lease LeaseCandidate",
	"discovery.k8s.io/v1":                   "EndpointSlice",
	"discovery.k8s.io/v1beta1":              "EndpointSlice",
	"events.k8s.io/v1":                      "Event",
	"events.k8s.io/v1beta1":                 "Event",
	"extensions/v1beta1":                    "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet Scale",
	"flowcontrol.apiserver.k8s.io/v1":       "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta1":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta2":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta3":  "FlowSchema PriorityLevelConfiguration",
	"internal.apiserver.k8s.io/v1alpha1":    "StorageVersion",
	"lifecycle.k8s.io/v1alpha1":             "Eviction EvictionRequest",
	"networking.k8s.io/v1":                  "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
	"networking.k8s.io/v1beta1":             "IPAddress Ingress IngressClass ServiceCIDR",
	"node.k8s.io/v1":                        "RuntimeClass",
	"node.k8s.io/v1alpha1":                  "RuntimeClass",
	"node.k8s.io/v1beta1":                   "RuntimeClass",
	"policy/v1":                             "Eviction PodDisruptionBudget",
	"policy/v1beta1":                        "Eviction PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1":          "ClusterRole ClusterRoleBinding Role RoleBinding",
	"rbac.authorization.k8s.io/v1alpha1":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"rbac.authorization.k8s.io/v1beta1":     "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io/v1":                    "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
	"resource.k8s.io/v1alpha3":              "DeviceTaintRule ResourcePoolStatusRequest",
	"resource.k8s.io/v1beta1":               "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
	"resource.k8s.io/v1beta2":               "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
	"scheduling.k8s.io/v1":                  "PriorityClass",
	"scheduling.k8s.io/v1alpha3":            "CompositePodGroup PodGroup Workload",
	"scheduling.k8s.io/v1beta1":             "PodGroup PriorityClass Workload",
	"storage.k8s.io/v1":                     "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storage.k8s.io/v1alpha1":               "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
	"storage.k8s.io/v1beta1":                "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io/v1":            "StorageVersionMigration",
	"storagemigration.k8s.io/v1beta1":       "StorageVersionMigration",
	"v1":                                    "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate RangeAllocation ReplicationController ResourceQuota Secret Service ServiceAccount",
}

var stable = regexp.MustCompile(`^(?:.*/)?v\d+$`)

// builtInKinds is builtIn for quick answers: children are looked up in it on
// every render.
var builtInKinds = sync.OnceValue(func() map[apischema.GroupVersionKind]bool {
	all := map[apischema.GroupVersionKind]bool{}
	for gv, kinds := range BuiltIns() {
		for _, kind := range kinds {
			all[apischema.FromAPIVersionAndKind(gv, kind)] = true
		}
	}
	return all
})

// BuiltIns are the kinds of Kubernetes itself by apiVersion.
func BuiltIns() map[string][]string {
	all := map[string][]string{}
	for gv, kinds := range builtIn {
		all[gv] = strings.Fields(kinds)
	}
	return all
}

// BuiltIn reports whether Kubernetes itself has this kind.
func BuiltIn(gvk apischema.GroupVersionKind) bool { return builtInKinds()[gvk] }

// Misplaced says what is wrong with a kind that Kubernetes itself does not have
// in this group and version, where another is meant: "Deployment is in apps/v1".
// It is "" for kinds that exist, and for those that may: a newer Kubernetes has
// more.
func Misplaced(gvk apischema.GroupVersionKind) string {
	gv := gvk.GroupVersion().String()
	kinds := strings.Fields(builtIn[gv])
	if len(kinds) == 0 || BuiltIn(gvk) {
		return ""
	}
	var homes []string
	for _, other := range slices.Sorted(maps.Keys(builtIn)) {
		if !slices.Contains(strings.Fields(builtIn[other]), gvk.Kind) {
			continue
		}
		if home, err := apischema.ParseGroupVersion(other); err == nil && home.Group == gvk.Group {
			return "" // a newer Kubernetes has it in more versions of its group
		}
		homes = append(homes, other)
	}
	if len(homes) > 0 {
		best := slices.IndexFunc(homes, stable.MatchString)
		return gvk.Kind + " is in " + homes[max(best, 0)] + ", not in " + gv
	}
	if near := Suggest(gvk.Kind, kinds); near != "" {
		return gv + " has no kind " + gvk.Kind + "; did you mean " + near + "?"
	}
	return ""
}
