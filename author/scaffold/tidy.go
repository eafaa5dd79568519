package scaffold

import (
	"reflect"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// ofServer is metadata that belongs to the cluster or to tools, and no author
// writes.
var ofServer = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"managedFields", "selfLink", "ownerReferences", "finalizers", "generateName",
}

// ofTools are annotations and labels that tools write: whole keys, or what
// comes before the name.
var ofTools = []string{
	"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt",
	"deployment.kubernetes.io/", "deprecated.daemonset.template.generation",
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "batch.kubernetes.io/",
	"autoscaling.alpha.kubernetes.io/", "control-plane.alpha.kubernetes.io/", "endpoints.kubernetes.io/",
	"pod-template-hash", "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io/", "apps.kubernetes.io/pod-index",
	"k8s.v1.cni.cncf.io/network-status", "cni.projectcalico.org/",
	"meta.helm.sh/", "helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/",
	"controller-uid",
	api.LabelOwnerUID, api.AnnotationOwner, api.AnnotationFile, api.AnnotationDrawn, api.AnnotationDesired, api.AnnotationWrittenBy,
}

// A defaulted is a field that the API server fills in, and with what; a nil
// value means whatever stands there.
type defaulted struct {
	key   string
	value any
}

// ofService, ofPod and ofWorkload are what a live object of such a kind has
// that its author did not write. A container counts as part of its Pod.
var (
	ofService = []defaulted{
		{"clusterIP", nil}, {"clusterIPs", nil}, {"ipFamilies", nil}, {"ipFamilyPolicy", nil}, {"nodePort", nil}, {"healthCheckNodePort", nil},
		{"internalTrafficPolicy", "Cluster"}, {"externalTrafficPolicy", "Cluster"}, {"sessionAffinity", "None"}, {"protocol", "TCP"},
		{"type", "ClusterIP"}, {"allocateLoadBalancerNodePorts", true},
	}
	ofPod = []defaulted{
		{"terminationMessagePath", "/dev/termination-log"}, {"terminationMessagePolicy", "File"}, {"dnsPolicy", "ClusterFirst"},
		{"restartPolicy", "Always"}, {"schedulerName", "default-scheduler"}, {"securityContext", map[string]any{}},
		{"terminationGracePeriodSeconds", int64(30)}, {"protocol", "TCP"}, {"imagePullPolicy", "IfNotPresent"}, {"resources", map[string]any{}},
		{"creationTimestamp", nil}, {"serviceAccount", nil}, {"defaultMode", int64(420)}, {"apiVersion", "v1"}, {"nodeName", nil},
		{"enableServiceLinks", true}, {"preemptionPolicy", "PreemptLowerPriority"}, {"priority", int64(0)}, {"scheme", "HTTP"},
		{"failureThreshold", int64(3)}, {"successThreshold", int64(1)}, {"periodSeconds", int64(10)}, {"timeoutSeconds", int64(1)},
	}
	ofWorkload = []defaulted{
		{"progressDeadlineSeconds", int64(600)}, {"revisionHistoryLimit", int64(10)}, {"podManagementPolicy", "OrderedReady"},
		{"strategy", map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}}},
		{"updateStrategy", map[string]any{"type": "RollingUpdate",
			"rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)}}},
		{"updateStrategy", map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"partition": int64(0)}}},
		{"persistentVolumeClaimRetentionPolicy", map[string]any{"whenDeleted": "Retain", "whenScaled": "Retain"}},
		{"volumeMode", "Filesystem"}, {"volumeName", nil}, {"backoffLimit", int64(6)}, {"completionMode", "NonIndexed"}, {"suspend", false},
		{"parallelism", int64(1)}, {"completions", int64(1)}, {"podReplacementPolicy", "TerminatingOrFailed"}, {"concurrencyPolicy", "Allow"},
		{"successfulJobsHistoryLimit", int64(3)}, {"failedJobsHistoryLimit", int64(1)},
	}
)

// dropForeign drops what no author wrote: what the server and tools add.
func (m *manifest) dropForeign() {
	live := m.isLive()
	dropKey(m.node, "status")
	for _, key := range ofServer {
		dropKey(m.node, "metadata", key)
	}
	walkNodes(m.node, nil, func(path []string, n *node) {
		if len(path) > 1 && path[len(path)-2] == "metadata" && slices.Contains([]string{"labels", "annotations"}, path[len(path)-1]) {
			dropTools(n)
		}
	})
	for _, path := range [][]string{{}, {"spec", "template"}, {"spec", "jobTemplate"}, {"spec", "jobTemplate", "spec", "template"}} {
		for _, field := range []string{"labels", "annotations"} {
			if n := findNode(m.node, append(path, "metadata", field)...); n != nil && len(n.Content) == 0 {
				dropKey(m.node, append(path, "metadata", field)...)
			}
		}
		dropKey(m.node, append(path, "metadata", "creationTimestamp")...)
	}
	if !m.patch {
		m.tidyControlled()
	}
	if live {
		m.tidyLive()
	}
	dropNulls(m.node)
}

func dropTools(n *node) {
	var keys []string
	eachEntry(n, func(key string, _ *node) {
		if slices.ContainsFunc(ofTools, func(tool string) bool {
			return key == tool || strings.HasSuffix(tool, "/") && strings.HasPrefix(key, tool)
		}) {
			keys = append(keys, key)
		}
	})
	for _, key := range keys {
		dropKey(n, key)
	}
}

// tidyLive takes away what the API server filled in.
func (m *manifest) tidyLive() {
	spec := findNode(m.node, "spec")
	if m.gvk.Kind == "Service" && m.gvk.Group == "" && textAt(spec, "clusterIP") != "None" {
		dropDefaults(spec, ofService)
	} else if m.gvk.Kind == "Service" && m.gvk.Group == "" {
		dropDefaults(spec, ofService[2:])
	}
	if pod := podSpec(m); pod != nil {
		dropDefaultsBelow(pod, ofPod)
		tidyPod(pod)
	}
	switch {
	case m.gvk.Group == "batch" && m.gvk.Kind == "Job":
		m.tidyJob()
	case m.gvk.Group == "" && m.gvk.Kind == "PersistentVolume":
		dropKey(spec, "claimRef", "uid")
		dropKey(spec, "claimRef", "resourceVersion")
	case m.gvk.Group == "" && m.gvk.Kind == "Namespace":
		dropKey(spec, "finalizers")
	}
	if m.gvk.Group == "apps" || m.gvk.Group == "batch" || m.gvk.Kind == "PersistentVolumeClaim" {
		dropDefaults(spec, ofWorkload)
		for _, claim := range listItems(spec, "volumeClaimTemplates") {
			dropKey(claim, "status")
			dropKey(claim, "apiVersion")
			dropKey(claim, "kind")
		}
	}
}

// dropDefaultsBelow drops defaults from a map and all maps below it. The texts of
// environment variables and the like are no maps, and stay.
func dropDefaultsBelow(n *node, defaults []defaulted) {
	walkNodes(n, nil, func(_ []string, n *node) {
		if n.Kind == yamlv3.MappingNode {
			dropDefaults(n, defaults)
		}
	})
}

func dropDefaults(n *node, defaults []defaulted) {
	for _, d := range defaults {
		if there := findNode(n, d.key); there != nil && (d.value == nil || reflect.DeepEqual(valueOf(there), d.value)) {
			dropKey(n, d.key)
		}
	}
	if ports := listItems(n, "ports"); n != nil && ports != nil {
		for _, port := range ports {
			dropDefaults(port, defaults)
		}
	}
}

// dropNulls takes out keys without a value: to apply them is to say nothing.
func dropNulls(n *node) {
	walkNodes(n, nil, func(_ []string, n *node) {
		var keys []string
		eachEntry(n, func(key string, v *node) {
			if v.Kind == yamlv3.ScalarNode && v.Tag == "!!null" {
				keys = append(keys, key)
			}
		})
		for _, key := range keys {
			dropKey(n, key)
		}
	})
}
