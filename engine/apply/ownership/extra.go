package ownership

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Extra returns, sorted, the leaf paths that the entry owns and that desired does not have.
// The next apply of desired releases them. The annotation with the revision that wrote the
// object is not among them.
func (e Entry) Extra(desired map[string]any) []string {
	x := extras{}
	x.collectExtra(e.fieldSet(), desired)
	slices.Sort(x.found)
	return slices.Compact(x.found)
}

// extras collects the paths that Extra returns.
type extras struct {
	path  fieldpath.Path
	found []string
}

// collectExtra collects the paths of set that v lacks. It is nil where desired has nothing.
func (x *extras) collectExtra(set *fieldpath.Set, v any) {
	for pe := range set.Members.All() {
		if _, deep := set.Children.Get(pe); deep {
			continue
		}
		if _, found := findPart(v, pe); found || pe.FieldName != nil && isIgnoredField(x.path, *pe.FieldName) {
			continue
		}
		x.found = append(x.found, formatPath(append(x.path, pe)))
	}
	for pe := range set.Children.All() {
		below, _ := set.Children.Get(pe)
		part, _ := findPart(v, pe)
		x.path = append(x.path, pe)
		x.collectExtra(below, part)
		x.path = x.path[:len(x.path)-1]
	}
}

// findPart returns the part of v that a path element names.
func findPart(v any, pe fieldpath.PathElement) (any, bool) {
	switch {
	case pe.FieldName != nil:
		m, _ := v.(map[string]any)
		part, ok := m[*pe.FieldName]
		return part, ok
	case pe.Key != nil:
		list, _ := v.([]any)
		return findByKeys(list, pe)
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

// findByKeys returns the item of an associative list that has all keys, or else one that
// has no other values of them.
func findByKeys(list []any, pe fieldpath.PathElement) (any, bool) {
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
		if !found && isCompatible(pe, m) {
			partly, found = m, true
		}
	}
	return partly, found
}
