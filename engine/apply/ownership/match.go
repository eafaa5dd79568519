package ownership

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// A matching pairs the items of a document's list with those of a live one, by index;
// -1 stands for none.
type matching struct{ liveOf, docOf []int }

// matchItems pairs items with equal keys. Keys that a rendered item does not give are the server's
// defaults. Without keys the items are values.
func matchItems(doc, live []any, keys []string) matching {
	m := matching{slices.Repeat([]int{-1}, len(doc)), slices.Repeat([]int{-1}, len(live))}
	pair := func(same func(pe fieldpath.PathElement, item any) bool) {
		for j := range live {
			pe := elementFor(live[j], keys)
			for i := range doc {
				if m.docOf[j] < 0 && m.liveOf[i] < 0 && same(pe, doc[i]) {
					m.docOf[j], m.liveOf[i] = i, j
				}
			}
		}
	}
	if keys == nil {
		pair(func(pe fieldpath.PathElement, item any) bool { return valueElement(item).Equals(pe) })
		return m
	}
	pair(func(pe fieldpath.PathElement, item any) bool {
		d, is := item.(map[string]any)
		return is && pe.Key != nil && hasKeys(d, *pe.Key)
	})
	pair(func(pe fieldpath.PathElement, item any) bool {
		d, is := item.(map[string]any)
		return is && pe.Key != nil && isCompatible(pe, d)
	})
	return m
}

// elementFor is the path element of an item: by its keys, or by its value. The one key
// that lists of Kubernetes itself have a default for is a port's protocol.
func elementFor(item any, keys []string) fieldpath.PathElement {
	m, is := item.(map[string]any)
	if keys == nil || !is {
		return valueElement(item)
	}
	given := make(value.FieldList, 0, len(keys))
	for _, name := range keys {
		v := m[name]
		if v == nil && name == "protocol" {
			v = "TCP"
		}
		given = append(given, value.Field{Name: name, Value: value.NewValueInterface(v)})
	}
	return fieldpath.PathElement{Key: &given}
}
