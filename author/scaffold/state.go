package scaffold

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// childRules returns the lines of kind.yaml that declare objects that are cluster-scoped or in
// another namespace.
func (w *making) childRules() []string {
	where := map[string]map[string]bool{}
	for _, m := range w.all {
		kind := fmt.Sprintf("apiVersion: %s, kind: %s", m.gvk.GroupVersion(), m.gvk.Kind)
		namespace, _ := m.said["metadata"].(map[string]any)["namespace"].(string)
		switch {
		case m.patch:
		case schema.ClusterScoped(m.gvk.GroupKind()):
			where[kind] = map[string]bool{}
		case findNode(m.node, "metadata", "namespace") != nil:
			if where[kind] == nil {
				where[kind] = map[string]bool{}
			}
			where[kind][namespace] = true
		}
	}
	var rules []string
	for _, kind := range slices.Sorted(maps.Keys(where)) {
		namespaces := slices.Sorted(maps.Keys(where[kind]))
		rule := ""
		if len(namespaces) > 0 {
			rule = ", namespaces: [" + strings.Join(namespaces, ", ") + "]"
			if w.refs["Namespace/"+namespaces[0]] != "" {
				rule = ", namespaces: rendered"
			}
		}
		rules = append(rules, "- {"+kind+rule+"}\n")
	}
	return rules
}

// counters are the fields of a workload's status that are worth showing, and
// what they say, by its kind.
var counters = map[string][][2]string{
	"Deployment":  {{"replicas", "How many Pods there are."}, {"readyReplicas", "How many of them are ready."}},
	"StatefulSet": {{"replicas", "How many Pods there are."}, {"readyReplicas", "How many of them are ready."}},
	"ReplicaSet":  {{"replicas", "How many Pods there are."}, {"readyReplicas", "How many of them are ready."}},
	"DaemonSet":   {{"desiredNumberScheduled", "On how many nodes it should run."}, {"numberReady", "On how many nodes it is ready."}},
	"Job":         {{"succeeded", "How many Pods succeeded."}, {"failed", "How many Pods failed."}},
	"CronJob":     {{"lastScheduleTime", "When it ran last."}},
}

// writeStatus adds status.yaml, which says how far the workloads are, and
// returns the status' fields.
func (w *making) writeStatus() (*field, error) {
	root := &field{}
	var b strings.Builder
	for _, flat := range []bool{true, false} { // groups come last
		for _, m := range w.all {
			if isWorkload(m) && len(counters[m.gvk.Kind]) > 0 && flat == (len(m.group) == 0) {
				w.stateOf(m, root, &b)
			}
		}
	}
	if m := w.scaledWorkload(root); m != nil {
		root.add(field{name: "selector", note: "Selects the Pods: a label selector as text, read by the scale subresource.",
			schema: map[string]any{"type": "string"}}, false)
		var labels []string
		eachEntry(findNode(m.node, "spec", "selector", "matchLabels"), func(key string, v *node) { labels = append(labels, key+"="+v.Value) })
		fmt.Fprintf(&b, "selector: %s\n", w.tokens.replaceTokens(strings.Join(labels, ",")))
	}
	if b.Len() > 0 {
		w.draft.AddTemplate("status.yaml", "# How far it is.\n"+b.String())
	}
	return root, nil
}

// stateOf prints what the status says of one workload.
func (w *making) stateOf(m *manifest, root *field, b *strings.Builder) {
	within, blanks := root, ""
	for _, name := range m.group {
		within = within.ensureGroup(name, "How far "+name+" is.")
		fmt.Fprintf(b, "%s%s:\n", blanks, within.name)
		blanks += "  "
	}
	for _, counter := range counters[m.gvk.Kind] {
		leaf := field{name: counter[0], note: counter[1], schema: map[string]any{"type": "integer", "format": "int32"}}
		or := " | ifNil 0"
		if strings.HasSuffix(counter[0], "Time") {
			leaf.schema, or = map[string]any{"type": "string", "format": "date-time"}, ""
		}
		name := within.add(leaf, false)
		fmt.Fprintf(b, "%s%s: {{ (child %q).status.%s%s }}\n", blanks, name, m.file, counter[0], or)
	}
}

// scaledWorkload returns the workload that kubectl scale is about. That is the one that has the
// replicas of the spec itself, if no autoscaler sets them.
func (w *making) scaledWorkload(status *field) *manifest {
	var found *manifest
	for _, m := range w.all {
		n := findNode(m.node, "spec", "replicas")
		if !isWorkload(m) || n == nil || w.tokens.replaceTokens(n.Value) != "{{ .spec.replicas }}" {
			continue
		}
		selector := findNode(m.node, "spec", "selector", "matchLabels")
		_, initial := w.annotationsOf(m)["jacquard.dev/initial-fields"]
		if found != nil || selector == nil || initial || findNode(m.node, "spec", "selector", "matchExpressions") != nil {
			return nil
		}
		found = m
	}
	if found == nil || !slices.ContainsFunc(status.kids, func(f *field) bool { return f.name == "replicas" }) {
		return nil
	}
	return found
}

// annotationsOf returns the annotations of a manifest.
func (w *making) annotationsOf(m *manifest) map[string]any {
	meta, _ := m.said["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	return notes
}

// statusAPI is the schema of a part of the status, which has no defaults.
func (f *field) statusAPI() map[string]any {
	s := map[string]any{"description": f.note}
	if f.schema != nil {
		maps.Copy(s, f.schema)
		return s
	}
	s["type"] = "object"
	properties := map[string]any{}
	for _, kid := range f.kids {
		properties[kid.name] = kid.statusAPI()
	}
	s["properties"] = properties
	return s
}
