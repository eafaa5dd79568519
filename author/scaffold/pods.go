package scaffold

import (
	"slices"
)

// podSpec is the Pod's spec in a manifest of a workload, nil in others.
func podSpec(m *manifest) *node {
	switch {
	case m.gvk.Group == "" && m.gvk.Kind == "Pod":
		return findNode(m.node, "spec")
	case m.gvk.Group == "batch" && m.gvk.Kind == "CronJob":
		return findNode(m.node, "spec", "jobTemplate", "spec", "template", "spec")
	case m.gvk.Group == "apps", m.gvk.Group == "batch", m.gvk.Group == "" && m.gvk.Kind == "ReplicationController":
		return findNode(m.node, "spec", "template", "spec")
	}
	return nil
}

// isWorkload reports whether a manifest makes Pods.
func isWorkload(m *manifest) bool { return !m.patch && podSpec(m) != nil }

// podLabels are the labels of the Pods that a workload makes.
func podLabels(m *manifest) *node {
	switch m.gvk.Kind {
	case "Pod":
		return findNode(m.node, "metadata", "labels")
	case "CronJob":
		return findNode(m.node, "spec", "jobTemplate", "spec", "template", "metadata", "labels")
	}
	return findNode(m.node, "spec", "template", "metadata", "labels")
}

// podContainers returns the containers of a workload's Pods. Those that only prepare the Pods come
// last.
func podContainers(m *manifest) []*node {
	spec := podSpec(m)
	return slices.Concat(listItems(spec, "containers"), listItems(spec, "initContainers"))
}

// selectedWorkloads returns the workloads whose Pods a selector of labels matches.
func (w *making) selectedWorkloads(selector *node) []*manifest {
	if selector == nil || len(selector.Content) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.all), func(m *manifest) bool {
		matches := isWorkload(m)
		eachEntry(selector, func(key string, v *node) { matches = matches && textAt(podLabels(m), key) == v.Value })
		return !matches
	})
}

// workloadOf is the one workload that a manifest is about: that a Service or a
// policy selects, or an autoscaler scales; itself, if it is one; else nil.
func (w *making) workloadOf(m *manifest) *manifest {
	var found []*manifest
	target := findNode(m.node, "spec", "scaleTargetRef")
	switch {
	case isWorkload(m):
		return m
	case m.patch:
	case target != nil:
		found = slices.DeleteFunc(slices.Clone(w.all), func(o *manifest) bool {
			return !isWorkload(o) || o.gvk.Kind != textAt(target, "kind") || o.name != textAt(target, "name")
		})
	case m.gvk.Kind == "Service" && m.gvk.Group == "":
		found = w.selectedWorkloads(findNode(m.node, "spec", "selector"))
	case m.gvk.Kind == "NetworkPolicy":
		found = w.selectedWorkloads(findNode(m.node, "spec", "podSelector", "matchLabels"))
	case m.gvk.Kind == "PodDisruptionBudget":
		found = w.selectedWorkloads(findNode(m.node, "spec", "selector", "matchLabels"))
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
