package ownership

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Extra lists, sorted, the leaf paths which the entry owns and desired does
// not have: the next apply of desired gives them back. The annotation with the revision that
// wrote the object is none of them.
func (e Entry) Extra(desired map[string]any) []string {
	x := extras{}
	x.walk(e.fields(), desired)
	slices.Sort(x.found)
	return slices.Compact(x.found)
}

type extras struct {
	path  fieldpath.Path
	found []string
}

// walk looks up each path of set in v, which is nil where desired has nothing.
func (x *extras) walk(set *fieldpath.Set, v any) {
	for pe := range set.Members.All() {
		if _, deep := set.Children.Get(pe); deep {
			continue
		}
		if _, found := lookup(v, pe); found || pe.FieldName != nil && skipped(x.path, *pe.FieldName) {
			continue
		}
		x.found = append(x.found, show(append(x.path, pe)))
	}
	for pe := range set.Children.All() {
		below, _ := set.Children.Get(pe)
		part, _ := lookup(v, pe)
		x.path = append(x.path, pe)
		x.walk(below, part)
		x.path = x.path[:len(x.path)-1]
	}
}

// lookup finds the part of v that a path element names.
func lookup(v any, pe fieldpath.PathElement) (any, bool) {
	switch {
	case pe.FieldName != nil:
		m, _ := v.(map[string]any)
		part, ok := m[*pe.FieldName]
		return part, ok
	case pe.Key != nil:
		list, _ := v.([]any)
		return keyed(list, pe)
	case pe.Index != nil:
		list, _ := v.([]any)
		if *pe.Index < 0 || *pe.Index >= len(list) {
			return nil, false
		}
		return list[*pe.Index], true
	}
	list, _ := v.([]any)
	i := slices.IndexFunc(list, func(item any) bool { return valueElement(item).Equals(pe) })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// keyed finds the item of an associative list: by all keys, or else by those
// that the item gives.
func keyed(list []any, pe fieldpath.PathElement) (any, bool) {
	var partly any
	found := false
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if hasKeys(m, *pe.Key) {
			return m, true
		}
		if !found && fits(pe, m) {
			partly, found = m, true
		}
	}
	return partly, found
}
