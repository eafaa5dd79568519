package scaffold

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// longestLabel is how many characters the name of a Namespace may have.
const longestLabel = 63

// plainName is what the author called the object.
func (m *manifest) plainName() string { return cmp.Or(m.plain, m.name) }

// separateNames gives objects that live in no namespace names that hold the resource's name. Then
// resources in two namespaces never claim one object. References to these objects follow.
func (w *making) separateNames() {
	home, name := cmp.Or(w.home, "default"), cmp.Or(w.stem, w.names.Singular+"-example")
	for _, m := range w.all {
		if m.patch || !schema.ClusterScoped(m.gvk.GroupKind()) {
			continue
		}
		apart := home + "." + m.name
		if m.gvk.Kind == "Namespace" { // whose name has no dots
			sum := sha256.Sum256([]byte(home + "/" + name))
			if apart = m.name + "-" + hex.EncodeToString(sum[:])[:16]; len(apart) > longestLabel {
				continue
			}
		}
		w.renameObject(m, apart)
		w.draft.Note(fmt.Sprintf("%s: it lives in no namespace, so its name now holds the resource's: resources in two namespaces would claim one %s", m, m.plain))
	}
}

// renameObject gives an object another name, also where manifests refer to it.
func (w *making) renameObject(m *manifest, name string) {
	m.plain, m.name = m.name, name
	findNode(m.node, "metadata", "name").Value = name
	for _, other := range w.all {
		withParents(other.node, func(path []string, parent, n *node) {
			within := m.gvk.Kind == "Namespace" && path[len(path)-1] == "namespace"
			if n.Value == m.plain && (within || referredKind(path, parent) == m.gvk.Kind) {
				n.Value = name
			}
		})
	}
}

// separateAction returns the action for the name of an object, given the action for its plain name.
func (m *manifest) separateAction(action string) string {
	switch {
	case m.plain == "":
		return action
	case m.gvk.Kind != "Namespace":
		return namespaceAction + "." + action
	}
	expression := strings.TrimSuffix(strings.TrimPrefix(action, "{{ "), " }}")
	if strings.Contains(expression, " ") {
		expression = "(" + expression + ")"
	}
	return "{{ childName " + expression + ` (printf "%s/%s" .metadata.namespace .metadata.name | sha256sum | trunc 16) }}`
}

// refusedEnds are the ends that a resource's name may not have: with one of them
// a child would be named as another one of the resource without it.
func (w *making) refusedEnds() []string {
	of := map[apischema.GroupKind][]string{}
	for _, m := range w.all {
		if rest, derived := cutStem(m.plainName(), w.stem); derived && rest != "" && !m.patch {
			of[m.gvk.GroupKind()] = append(of[m.gvk.GroupKind()], rest)
		}
	}
	var ends []string
	for _, rests := range of {
		for _, long := range rests {
			for _, short := range rests {
				if end, ok := strings.CutSuffix(long, "-"+short); ok && !strings.HasSuffix(w.stem, "-"+end) {
					ends = append(ends, end)
				}
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}
