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

// about names a child in a message.
func about(c Child) string {
	s := c.Kind + " " + c.Name
	if c.Message == "" {
		return s + ": not ready"
	}
	return s + ": " + clip(c.Message, maxChildMessage)
}
