package scaffold

import (
	"slices"
)

// podSpec is the Pod's spec in a manifest of a workload, nil in others.
func podSpec(m *manifest) *node {
	switch {
	case m.gvk.Group == "" && m.gvk.Kind == "Pod":
		return at(m.node, "spec")
	case m.gvk.Group == "batch" && m.gvk.Kind == "CronJob":
		return at(m.node, "spec", "jobTemplate", "spec", "template", "spec")
	case m.gvk.Group == "apps", m.gvk.Group == "batch", m.gvk.Group == "" && m.gvk.Kind == "ReplicationController":
		return at(m.node, "spec", "template", "spec")
	}
	return nil
}

// isWorkload reports whether a manifest makes Pods.
func isWorkload(m *manifest) bool { return !m.patch && podSpec(m) != nil }

// podLabels are the labels of the Pods that a workload makes.
func podLabels(m *manifest) *node {
	switch m.gvk.Kind {
	case "Pod":
		return at(m.node, "metadata", "labels")
	case "CronJob":
		return at(m.node, "spec", "jobTemplate", "spec", "template", "metadata", "labels")
	}
	return at(m.node, "spec", "template", "metadata", "labels")
}

// containers are the containers of a workload's Pods, those that only
// prepare them last.
func containers(m *manifest) []*node {
	spec := podSpec(m)
	return slices.Concat(items(spec, "containers"), items(spec, "initContainers"))
}

// selected are the workloads whose Pods a selector of labels matches.
func (w *making) selected(selector *node) []*manifest {
	if selector == nil || len(selector.Content) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.all), func(m *manifest) bool {
		matches := isWorkload(m)
		pairs(selector, func(key string, v *node) { matches = matches && text(podLabels(m), key) == v.Value })
		return !matches
	})
}

// workloadOf is the one workload that a manifest is about: that a Service or a
// policy selects, or an autoscaler scales; itself, if it is one; else nil.
func (w *making) workloadOf(m *manifest) *manifest {
	var found []*manifest
	target := at(m.node, "spec", "scaleTargetRef")
	switch {
	case isWorkload(m):
		return m
	case m.patch:
	case target != nil:
		found = slices.DeleteFunc(slices.Clone(w.all), func(o *manifest) bool {
			return !isWorkload(o) || o.gvk.Kind != text(target, "kind") || o.name != text(target, "name")
		})
	case m.gvk.Kind == "Service" && m.gvk.Group == "":
		found = w.selected(at(m.node, "spec", "selector"))
	case m.gvk.Kind == "NetworkPolicy":
		found = w.selected(at(m.node, "spec", "podSelector", "matchLabels"))
	case m.gvk.Kind == "PodDisruptionBudget":
		found = w.selected(at(m.node, "spec", "selector", "matchLabels"))
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
