package readiness

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// A rule judges an object of one kind that its controller has observed.
type rule func(obj map[string]any) Verdict

var rules = map[schema.GroupKind]rule{
	{Kind: "Pod"}:                   pod,
	{Kind: "Service"}:               service,
	{Kind: "PersistentVolumeClaim"}: claim,
	{Kind: "PersistentVolume"}:      volume,
	{Kind: "ReplicationController"}: replicas,

	{Group: "apps", Kind: "Deployment"}:  deployment,
	{Group: "apps", Kind: "StatefulSet"}: statefulSet,
	{Group: "apps", Kind: "ReplicaSet"}:  replicas,
	{Group: "apps", Kind: "DaemonSet"}:   daemonSet,
	{Group: "batch", Kind: "Job"}:        job,

	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: autoscaler,
	{Group: "route.openshift.io", Kind: "Route"}:            route,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:   apiService,
}

// observed are the kinds whose controller always sets
// status.observedGeneration: without it, it has not looked at the object yet.
var observed = map[schema.GroupKind]bool{
	{Kind: "ReplicationController"}:                true,
	{Group: "apps", Kind: "Deployment"}:            true,
	{Group: "apps", Kind: "StatefulSet"}:           true,
	{Group: "apps", Kind: "ReplicaSet"}:            true,
	{Group: "apps", Kind: "DaemonSet"}:             true,
	{Group: "policy", Kind: "PodDisruptionBudget"}: true,
}

// bodiless are the kinds that are ready once they exist: their metadata says
// all there is to know.
var bodiless = kindSet(map[string][]string{
	"": {
		"ConfigMap", "Secret", "ServiceAccount", "LimitRange", "ResourceQuota", "Namespace",
		"Endpoints", "PodTemplate",
	},
	"rbac.authorization.k8s.io": {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"},
	"networking.k8s.io":         {"Ingress", "IngressClass", "NetworkPolicy"},
	"scheduling.k8s.io":         {"PriorityClass"},
	"storage.k8s.io":            {"StorageClass", "CSIDriver", "VolumeAttributesClass"},
	"discovery.k8s.io":          {"EndpointSlice"},
	"node.k8s.io":               {"RuntimeClass"},
	"coordination.k8s.io":       {"Lease"},
	"batch":                     {"CronJob"},
	"apps":                      {"ControllerRevision"},
	"admissionregistration.k8s.io": {
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
	},
})

func kindSet(kinds map[string][]string) map[schema.GroupKind]bool {
	set := map[schema.GroupKind]bool{}
	for group, names := range kinds {
		for _, name := range names {
			set[schema.GroupKind{Group: group, Kind: name}] = true
		}
	}
	return set
}

// NeedsBody reports whether readiness of this kind needs more than metadata.
// Kinds that are not known here do, and those for which an author wrote an entry.
func NeedsBody(set *health.Set, gk schema.GroupKind) bool {
	return !bodiless[gk] || set.FindAuthored(gk) != nil
}

// Needs returns which fields of the children of a kind are needed: those that its health
// entry reads, or by which the engine's own rules judge it, and what says of a workload
// which Pods it has, whether it runs them now, and whether it ended.
func Needs(set *health.Set, gk schema.GroupKind) live.Need {
	rule := RuleFor(set, gk)
	switch {
	case rule == nil && bodiless[gk]:
		return live.Metadata
	case rule == nil && HasPods(gk):
		return workloadNeed
	case rule == nil:
		return live.Readiness
	case HasPods(gk):
		return rule.Need().Merge(workloadNeed)
	}
	return rule.Need().Merge(runningNeed)
}

// runningNeed is what says whether an object of any kind runs Pods now or ended, and
// workloadNeed what the rules of workloads and PodSelector read, too. Templates of Pods,
// which are most of a workload, are not needed.
var (
	runningNeed  = needOf("spec.replicas", "spec.suspend", "status.conditions", "status.phase")
	workloadNeed = runningNeed.Merge(needOf("spec.completions", "spec.selector", "spec.updateStrategy", "status"))
)

// needOf is the need of paths as people write them.
func needOf(paths ...string) live.Need {
	var all [][]string
	for _, path := range paths {
		all = append(all, strings.Split(path, "."))
	}
	return live.NeedOf(all...)
}

// HasRule reports whether readiness of a kind is decided by a rule of the engine.
func HasRule(gk schema.GroupKind) bool { return rules[gk] != nil || observed[gk] || bodiless[gk] }

// RuleFor returns the health entry that decides for a kind: what an author wrote, or
// what is built in for a kind that has no rule here; nil if there is none.
func RuleFor(set *health.Set, gk schema.GroupKind) *health.Rule {
	if rule := set.FindAuthored(gk); rule != nil || HasRule(gk) {
		return rule
	}
	return health.BuiltIn().Find(gk)
}
