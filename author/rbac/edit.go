package rbac

import (
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// edited are the kinds that the cluster's own role edit lets people make, by
// group, in every Kubernetes since 1.31. What else it may make in a cluster, such
// as kinds of CRDs, nobody knows who writes a role for many clusters.
var edited = map[string][]string{
	"":                  {"ConfigMap", "PersistentVolumeClaim", "Pod", "ReplicationController", "Secret", "Service", "ServiceAccount"},
	"apps":              {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"autoscaling":       {"HorizontalPodAutoscaler"},
	"batch":             {"CronJob", "Job"},
	"networking.k8s.io": {"Ingress", "NetworkPolicy"},
	"policy":            {"PodDisruptionBudget"},
}

// EditMakes reports whether who has the cluster's own role edit may make objects of
// a kind by themselves.
func EditMakes(gk apischema.GroupKind) bool { return slices.Contains(edited[gk.Group], gk.Kind) }
