package ownership

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// keyedElements are how the set names the items of an associative list.
// Iterate and not All: SetNodeMap.All of structured-merge-diff 6.4 panics when
// its loop is left early.
func keyedElements(set *fieldpath.Set) []fieldpath.PathElement {
	var found []fieldpath.PathElement
	add := func(pe fieldpath.PathElement) {
		if pe.Key != nil {
			found = append(found, pe)
		}
	}
	set.Children.Iterate(add)
	if found == nil {
		set.Members.Iterate(add)
	}
	return found
}

func fieldNames(keys value.FieldList) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// elementOf is the element for an item of an associative list. Key fields that
// the item does not give are the server's defaults, so any element that agrees
// with those given fits, unless another item of list names it in full. Without
// such an element it is one of the keys given.
func elementOf(elements []fieldpath.PathElement, list []any, item map[string]any) fieldpath.PathElement {
	names := fieldNames(*elements[0].Key)
	given := givenKeys(item, names)
	if len(given) < len(names) {
		for _, pe := range elements {
			if isCompatible(pe, item) && !namedInFull(*pe.Key, list) {
				return pe
			}
		}
	}
	return fieldpath.PathElement{Key: &given}
}

// givenKeys are the key fields that an item has, in the order of names.
func givenKeys(item map[string]any, names []string) value.FieldList {
	keys := make(value.FieldList, 0, len(names))
	for _, name := range names {
		if v, ok := item[name]; ok && v != nil {
			keys = append(keys, value.Field{Name: name, Value: value.NewValueInterface(v)})
		}
	}
	return keys
}

// isCompatible reports whether an item may be the element: at least one key field is given and all
// given ones are equal. The one default that lists of Kubernetes itself have is a port's protocol,
// TCP.
func isCompatible(pe fieldpath.PathElement, item map[string]any) bool {
	agreed := false
	for _, k := range *pe.Key {
		v, ok := item[k.Name]
		if !ok || v == nil {
			if k.Name == "protocol" && k.Value.Unstructured() != "TCP" {
				return false
			}
			continue
		}
		if !sameScalar(v, k.Value.Unstructured()) {
			return false
		}
		agreed = true
	}
	return agreed
}

// namedInFull reports whether an item of list gives all of these keys.
func namedInFull(keys value.FieldList, list []any) bool {
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && hasKeys(m, keys) {
			return true
		}
	}
	return false
}

func hasKeys(item map[string]any, keys value.FieldList) bool {
	for _, k := range keys {
		if v, ok := item[k.Name]; !ok || !sameScalar(v, k.Value.Unstructured()) {
			return false
		}
	}
	return true
}
