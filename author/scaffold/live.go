package scaffold

import (
	"regexp"
	"slices"
	"strings"
)

// isLive reports whether a manifest was taken from a cluster: it has what only the API
// server or a controller writes.
func (m *manifest) isLive() bool {
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		if n := findNode(m.node, "metadata", key); n != nil && n.Tag != "!!null" {
			return true
		}
	}
	if status := findNode(m.node, "status"); status != nil && len(status.Content) > 0 {
		return true
	}
	found := false
	eachEntry(findNode(m.node, "metadata", "annotations"), func(key string, _ *node) {
		found = found || strings.HasPrefix(key, "deployment.kubernetes.io/") || strings.HasPrefix(key, "pv.kubernetes.io/")
	})
	return found || slices.ContainsFunc(listItems(podSpec(m), "volumes"), isTokenVolume)
}

var (
	tokenVolume = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)
	tokenSecret = regexp.MustCompile(`^-(token|dockercfg)-[a-z0-9]{5}$`)
)

// isTokenVolume reports whether a volume, or the mount of one, is that which the API server
// adds to each Pod for the token of its ServiceAccount.
func isTokenVolume(n *node) bool { return tokenVolume.MatchString(textAt(n, "name")) }

// isToken reports whether a manifest is the token of a ServiceAccount.
func (m *manifest) isToken() bool {
	return m.gvk.Group == "" && m.gvk.Kind == "Secret" && textAt(m.node, "type") == "kubernetes.io/service-account-token"
}

// tidyControlled drops fields that a controller fills in, from live manifests and others.
func (m *manifest) tidyControlled() {
	switch {
	case m.gvk.Group == "" && m.gvk.Kind == "ServiceAccount":
		dropItems(m.node, "secrets", func(n *node) bool {
			rest, found := strings.CutPrefix(textAt(n, "name"), m.name)
			return found && tokenSecret.MatchString(rest)
		})
	case m.gvk.Group == "rbac.authorization.k8s.io" && findNode(m.node, "aggregationRule") != nil:
		dropKey(m.node, "rules")
	}
}

// tidyJob drops the selector of a live Job, and its labels, which name its uid.
func (m *manifest) tidyJob() {
	if textAt(m.node, "spec", "manualSelector") == "true" {
		return
	}
	dropKey(m.node, "spec", "manualSelector")
	dropKey(m.node, "spec", "selector")
	dropKey(m.node, "metadata", "labels", "job-name")
	dropKey(podLabels(m), "job-name")
}

// tidyPod drops what admission adds to a live Pod, or to Pods that are made of a template
// that was copied from one.
func tidyPod(pod *node) {
	dropItems(pod, "volumes", isTokenVolume)
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range listItems(pod, field) {
			dropItems(c, "volumeMounts", isTokenVolume)
		}
	}
	dropItems(pod, "tolerations", func(n *node) bool {
		return slices.Contains([]string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}, textAt(n, "key")) &&
			textAt(n, "effect") == "NoExecute" && textAt(n, "tolerationSeconds") == "300"
	})
}

// dropItems drops items of a list, and the list if none is left.
func dropItems(n *node, field string, isDropped func(*node) bool) {
	list := findNode(n, field)
	if list == nil {
		return
	}
	if list.Content = slices.DeleteFunc(list.Content, isDropped); len(list.Content) == 0 {
		dropKey(n, field)
	}
}
