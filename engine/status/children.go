package status

import (
	"cmp"
	"slices"
)

// maxChildMessage is the longest message of one child, in bytes: a hundred of
// them still leave room in a status.
const maxChildMessage = 256

// ordered are the children, those not ready first, then by kind, namespace,
// name and API version.
func ordered(children []Child) []Child {
	return slices.SortedFunc(slices.Values(children), func(a, b Child) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.APIVersion, b.APIVersion),
		)
	})
}

func rank(c Child) int {
	if c.Ready {
		return 1
	}
	return 0
}

func childList(children []Child) []any {
	children = ordered(children)
	l := make([]any, 0, min(len(children), maxChildren))
	for _, c := range children[:min(len(children), maxChildren)] {
		m := map[string]any{"apiVersion": c.APIVersion, "kind": c.Kind, "name": c.Name, "ready": c.Ready}
		if c.Namespace != "" {
			m["namespace"] = c.Namespace
		}
		if c.Message != "" {
			m["message"] = clip(c.Message, maxChildMessage)
		}
		l = append(l, m)
	}
	return l
}

// ChildrenOf reads the children that a status names. Cut is true if there are more of them
// than it lists.
func ChildrenOf(status map[string]any) (children []Child, cut bool) {
	list, _ := status["children"].([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		ready, _ := m["ready"].(bool)
		children = append(children, Child{APIVersion: text(m, "apiVersion"), Kind: text(m, "kind"), Namespace: text(m, "namespace"),
			Name: text(m, "name"), Ready: ready, Message: text(m, "message")})
	}
	total, counted := status["childrenTotal"].(int64)
	return children, counted && int(total) > len(list) || !counted && len(list) >= maxChildren
}

// about names a child in a message.
func about(c Child) string {
	s := c.Kind + " " + c.Name
	if c.Message == "" {
		return s + ": not ready"
	}
	return s + ": " + clip(c.Message, maxChildMessage)
}
