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
	g.fields(e.fields(), desired)
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

func (g *gaps) fields(set *fieldpath.Set, m map[string]any) {
	for name, v := range m {
		if !isIgnoredField(g.path, name) {
			g.node(set, fieldElement(name), v)
		}
	}
}

// node looks at the value v at pe, below the path walked so far.
func (g *gaps) node(set *fieldpath.Set, pe fieldpath.PathElement, v any) {
	g.path = append(g.path, pe)
	defer func() { g.path = g.path[:len(g.path)-1] }()
	if below, deep := set.Children.Get(pe); deep {
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 0 {
				g.fields(below, v)
				return
			}
		case []any:
			g.items(below, v)
			return
		}
	} else if set.Members.Has(pe) && g.whole(v) {
		return
	}
	if !set.Members.Has(pe) || !empty(v) && isCollection(v) {
		g.report(v)
	}
}

// whole reports whether owning the field at g.path, without parts of it, is
// owning the value v there.
func (g *gaps) whole(v any) bool {
	if !isCollection(v) || empty(v) {
		return true
	}
	last := g.path[len(g.path)-1]
	if isField(g.path[0], "metadata") && last.FieldName != nil {
		return false // of metadata only an owner reference is atomic
	}
	return !slices.ContainsFunc(g.others(), func(s *fieldpath.Set) bool {
		below, _ := descend(s, g.path)
		return below != nil
	})
}

// report records what is not covered, leaf by leaf; lists count as leaves.
func (g *gaps) report(v any) {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if isIgnoredField(g.path, name) {
				continue
			}
			g.path = append(g.path, fieldElement(name))
			g.report(m[name])
			g.path = g.path[:len(g.path)-1]
		}
		return
	}
	if l, ok := v.([]any); ok && len(l) == 0 && !g.taken() {
		return
	}
	g.found = append(g.found, formatPath(g.path))
}

// taken reports whether another manager holds the field at g.path as a whole.
func (g *gaps) taken() bool {
	return slices.ContainsFunc(g.others(), func(s *fieldpath.Set) bool {
		below, member := descend(s, g.path)
		return member && below == nil
	})
}

func (g *gaps) others() []*fieldpath.Set {
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

// descend follows path in s: below are the paths under it, nil if none, and
// member reports whether path itself is in s.
func descend(s *fieldpath.Set, path fieldpath.Path) (below *fieldpath.Set, member bool) {
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

// items looks at a list whose items the set names: by key, by value or index.
func (g *gaps) items(set *fieldpath.Set, list []any) {
	elements := keyedElements(set)
	for i, item := range list {
		m, isMap := item.(map[string]any)
		switch {
		case isMap && elements != nil:
			g.node(set, elementOf(elements, list, m), item)
		case set.Members.Has(valueElement(item)):
			// a set list owns its items by their value
		default:
			g.node(set, fieldpath.PathElement{Index: &i}, item)
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

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}
