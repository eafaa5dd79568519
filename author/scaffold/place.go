package scaffold

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// abbreviations are other words for kinds that names end in.
var abbreviations = map[string][]string{
	"deployment": {"deploy"}, "service": {"svc"}, "configmap": {"config", "cm"}, "statefulset": {"sts"}, "daemonset": {"ds"},
	"ingress": {"ing"}, "horizontalpodautoscaler": {"hpa"}, "poddisruptionbudget": {"pdb"}, "persistentvolumeclaim": {"pvc", "data"},
	"serviceaccount": {"sa"},
}

// partName returns what distinguishes the name of a manifest from others: what it has beyond the
// stem, or the whole name.
func (w *making) partName(m *manifest) string {
	if rest, ok := cutStem(m.name, w.stem); ok {
		return rest
	}
	return m.name
}

// relateManifests finds out what belongs together, while the labels are still texts.
func (w *making) relateManifests() {
	for _, m := range w.all {
		m.about = w.workloadOf(m)
	}
	for _, m := range w.all {
		m.group = w.groupOf(m)
		w.findBackends(m)
	}
}

// A backend is where a manifest says by number a port of a Service.
type backend struct {
	service *manifest
	port    *node
}

// findBackends finds the ports of Services that a manifest leads to.
func (w *making) findBackends(m *manifest) {
	walkNodes(m.node, nil, func(path []string, n *node) {
		if len(path) == 0 || n.Kind != yamlv3.MappingNode {
			return
		}
		to := findNode(n, "port")
		switch path[len(path)-1] {
		case "service":
			to = findNode(n, "port", "number")
		case "backendRefs":
		default:
			return
		}
		for _, other := range w.all {
			if to != nil && other.gvk.Kind == "Service" && other.gvk.Group == "" && other.name == textAt(n, "name") {
				w.backends = append(w.backends, backend{other, to})
			}
		}
	})
}

// groupOf is the group of the spec that holds what is lifted out of a manifest:
// nil for the spec itself. Parts of the resource that run have a group each,
// if there are several; what belongs to one of them is in its group.
func (w *making) groupOf(m *manifest) []string {
	runs := 0
	for _, other := range w.all {
		if isWorkload(other) {
			runs++
		}
	}
	about := m.about
	if about == nil {
		about = m
	}
	kind := strings.ToLower(about.gvk.Kind)
	part := w.partName(about)
	_, derived := cutStem(about.name, w.stem)
	switch {
	case part == "", part == kind, slices.Contains(abbreviations[kind], part), isWorkload(about) && runs == 1:
		return nil
	case !derived && w.countKind(about) == 1:
		return nil
	}
	return []string{camelCase(part)}
}

// countKind returns how many manifests are of the same kind.
func (w *making) countKind(m *manifest) int {
	n := 0
	for _, other := range w.all {
		if other.gvk.Kind == m.gvk.Kind && other.subresource == m.subresource {
			n++
		}
	}
	return n
}

var unfit = regexp.MustCompile(`[^a-z0-9-]+`)

// nameFiles gives each manifest a file of its own, named after its kind and,
// among several of the kind, after its part.
func (w *making) nameFiles() {
	taken := map[string]bool{"status": true, "kind": true, "config": true}
	for _, m := range w.all {
		words := []string{strings.ToLower(m.gvk.Kind)}
		if part := w.partName(m); w.countKind(m) > 1 && part != "" {
			words = []string{part, strings.ToLower(m.gvk.Kind)}
		}
		if m.subresource != "" {
			words = append(words, m.subresource)
		}
		name := strings.Trim(unfit.ReplaceAllString(strings.ToLower(strings.Join(words, "-")), "-"), "-")
		m.file = name
		for n := 2; taken[m.file]; n++ {
			m.file = name + "-" + strconv.Itoa(n)
		}
		taken[m.file] = true
	}
}
