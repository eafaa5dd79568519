package scaffold

import (
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
)

// firstKeys are in the order in which people write them.
var firstKeys = []string{
	"apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "type", "immutable",
	"image", "imagePullPolicy", "command", "args", "workingDir", "ports", "env", "envFrom", "resources", "volumeMounts",
	"schedule", "serviceName", "replicas", "strategy", "updateStrategy", "selector", "rules", "spec",
}

// lastKeys come after all others.
var lastKeys = []string{"template", "volumeClaimTemplates", "volumes", "data", "binaryData", "status"}

// inOrder puts the keys of a document, of all metadata and of containers into
// the order in which people write them; the others stand between, as they are.
func inOrder(n *node) *node {
	walkNodes(n, nil, func(path []string, n *node) {
		known := len(path) == 0 || path[len(path)-1] == "metadata" || keyIndex(n, "image") >= 0
		if n.Kind != yamlv3.MappingNode || !known {
			return
		}
		inRank(n, rankKey)
	})
	return n
}

// inRank puts the entries of a map in order; those of equal rank stay as they are.
func inRank(n *node, rank func(key string) int) {
	var entries [][2]*node
	for i := 0; i < len(n.Content); i += 2 {
		entries = append(entries, [2]*node{n.Content[i], n.Content[i+1]})
	}
	slices.SortStableFunc(entries, func(a, b [2]*node) int { return rank(a[0].Value) - rank(b[0].Value) })
	n.Content = n.Content[:0]
	for _, e := range entries {
		n.Content = append(n.Content, e[0], e[1])
	}
}

// bySort reports whether the keys of all maps below a node are sorted, as programs
// print them and people do not.
func bySort(n *node) bool {
	sorted := true
	walkNodes(n, nil, func(_ []string, n *node) {
		last := ""
		eachEntry(n, func(key string, _ *node) {
			sorted = sorted && last <= key
			last = key
		})
	})
	return sorted
}

// rankKey returns the rank of a key: below 0 for keys that come first, above 0 for keys that come
// last.
func rankKey(key string) int {
	if i := slices.Index(firstKeys, key); i >= 0 {
		return i - len(firstKeys)
	}
	return slices.Index(lastKeys, key) + 1
}
