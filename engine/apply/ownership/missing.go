package ownership

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Missing lists, sorted, the paths of desired's leaves which the entry does
// not cover; none means that the entry owns all of desired. apiVersion, kind
// and the fields of metadata that identify an object or are preconditions are
// not looked for.
//
// A field whose parts the entry does not list is a leaf or atomic, and covers
// all below it, unless another manager's entry lists parts of it: then it is a
// key of a free map whose parts were taken away. An empty list leaves no trace
// when it is associative; it is missing if another manager holds it whole.
//
// A gap that no entry shows: under a free map's key, in kinds that have maps
// of objects, the only field was deleted, not changed. Digest tells.
func (e Entry) Missing(desired map[string]any) []string {
	g := gaps{entry: e, path: make(fieldpath.Path, 0, 16)}
	g.addFields(e.fieldSet(), desired)
	slices.Sort(g.found)
	return g.found
}

// gaps walks a document beside a set of owned paths.
type gaps struct {
	entry Entry
	path  fieldpath.Path
	found []string
	// rivals are the other managers' paths, read when first needed.
	rivals     []*fieldpath.Set
	rivalsRead bool
}

// addFields looks for gaps in the fields of a map.
func (g *gaps) addFields(set *fieldpath.Set, m map[string]any) {
	for name, v := range m {
		if !isIgnoredField(g.path, name) {
			g.addValue(set, fieldElement(name), v)
		}
	}
}

// addValue looks for gaps in the value v at pe, below the path walked so far.
func (g *gaps) addValue(set *fieldpath.Set, pe fieldpath.PathElement, v any) {
	g.path = append(g.path, pe)
	defer func() { g.path = g.path[:len(g.path)-1] }()
	if below, deep := set.Children.Get(pe); deep {
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 0 {
				g.addFields(below, v)
				return
			}
		case []any:
			g.addItems(below, v)
			return
		}
	} else if set.Members.Has(pe) && g.ownsWhole(v) {
		return
	}
	if !set.Members.Has(pe) || !isEmpty(v) && isCollection(v) {
		g.reportLeaves(v)
	}
}

// ownsWhole reports whether owning the field at g.path, without parts of it, is owning the value v
// there.
func (g *gaps) ownsWhole(v any) bool {
	if !isCollection(v) || isEmpty(v) {
		return true
	}
	last := g.path[len(g.path)-1]
	if isField(g.path[0], "metadata") && last.FieldName != nil {
		return false // of metadata only an owner reference is atomic
	}
	return !slices.ContainsFunc(g.otherSets(), func(s *fieldpath.Set) bool {
		below, _ := followPath(s, g.path)
		return below != nil
	})
}

// reportLeaves records what is not covered, leaf by leaf. Lists count as leaves.
func (g *gaps) reportLeaves(v any) {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if isIgnoredField(g.path, name) {
				continue
			}
			g.path = append(g.path, fieldElement(name))
			g.reportLeaves(m[name])
			g.path = g.path[:len(g.path)-1]
		}
		return
	}
	if l, ok := v.([]any); ok && len(l) == 0 && !g.isTaken() {
		return
	}
	g.found = append(g.found, formatPath(g.path))
}

// isTaken reports whether another manager holds the field at g.path as a whole.
func (g *gaps) isTaken() bool {
	return slices.ContainsFunc(g.otherSets(), func(s *fieldpath.Set) bool {
		below, member := followPath(s, g.path)
		return member && below == nil
	})
}

// otherSets returns the paths that other managers own.
func (g *gaps) otherSets() []*fieldpath.Set {
	if g.rivalsRead {
		return g.rivals
	}
	g.rivalsRead = true
	for _, m := range g.entry.rest {
		if s, err := parse(m); err == nil {
			g.rivals = append(g.rivals, s)
		}
	}
	return g.rivals
}

// followPath follows a path in a set. below has the paths under it, or is nil if there are none.
// member reports whether path itself is in the set.
func followPath(s *fieldpath.Set, path fieldpath.Path) (below *fieldpath.Set, member bool) {
	for i, pe := range path {
		if i == len(path)-1 {
			member = s.Members.Has(pe)
		}
		next, ok := s.Children.Get(pe)
		if !ok {
			return nil, member
		}
		s = next
	}
	return s, member
}

// addItems looks for gaps in a list whose items the set names: by key, by value or by index.
func (g *gaps) addItems(set *fieldpath.Set, list []any) {
	elements := keyedElements(set)
	for i, item := range list {
		m, isMap := item.(map[string]any)
		switch {
		case isMap && elements != nil:
			g.addValue(set, elementOf(elements, list, m), item)
		case set.Members.Has(valueElement(item)):
			// a set list owns its items by their value
		default:
			g.addValue(set, fieldpath.PathElement{Index: &i}, item)
		}
	}
}

func valueElement(v any) fieldpath.PathElement {
	val := value.NewValueInterface(v)
	return fieldpath.PathElement{Value: &val}
}

func isCollection(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// isEmpty reports whether a value is nil, or a collection without items.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}
