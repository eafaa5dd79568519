package ownership

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Displacers returns the other managers that own an entry of a list which the document
// does not have, while our Apply entry lacks one that it has: theirs may have taken the
// place of ours. They are sorted; none means that no rendered entry is missing, or that
// none is beside it.
func Displacers(managed []metav1.ManagedFieldsEntry, doc map[string]any, manager string) []string {
	var found []string
	displacersIn(doc, holdersOf(managed, manager), nil, &found)
	slices.Sort(found)
	return slices.Compact(found)
}

func displacersIn(doc any, at holders, path fieldpath.Path, found *[]string) {
	switch d := doc.(type) {
	case map[string]any:
		for name, v := range d {
			if !isIgnoredField(path, name) && isCollection(v) {
				pe := fieldElement(name)
				displacersIn(v, at.atElement(pe), append(path, pe), found)
			}
		}
	case []any:
		keys := at.listKeys()
		if keys == nil && !at.isSet() {
			return
		}
		missing := false
		for _, item := range d {
			pe, owned := at.elementOfOurs(item, keys)
			if missing = missing || !owned; owned {
				displacersIn(item, at.atElement(pe), append(path, pe), found)
			}
		}
		if missing {
			*found = append(*found, at.holdersBeside(d)...)
		}
	}
}

// elementOfOurs is the element under which our entry owns an item of a list.
func (all holders) elementOfOurs(item any, keys []string) (fieldpath.PathElement, bool) {
	ours, found := all.ownHolder()
	if !found || ours.below == nil {
		return fieldpath.PathElement{}, false
	}
	for _, pe := range listElements(ours.below) {
		if isItem(pe, item) {
			return pe, true
		}
	}
	return elementFor(item, keys), false
}

// holdersBeside returns the other managers that own an item which is not in a list.
func (all holders) holdersBeside(list []any) []string {
	var names []string
	for _, h := range all {
		if h.ours || h.below == nil {
			continue
		}
		for _, pe := range listElements(h.below) {
			if !slices.ContainsFunc(list, func(item any) bool { return isItem(pe, item) }) {
				names = append(names, h.manager)
			}
		}
	}
	return names
}

// listElements returns the items of a list that a set names, by key or by value.
func listElements(set *fieldpath.Set) []fieldpath.PathElement {
	var found []fieldpath.PathElement
	add := func(pe fieldpath.PathElement) {
		if pe.Key != nil || pe.Value != nil {
			found = append(found, pe)
		}
	}
	set.Members.Iterate(add)
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		if !set.Members.Has(pe) {
			add(pe)
		}
	})
	return found
}

// isItem reports whether an element names an item. Keys that the item does not give are
// the server's defaults.
func isItem(pe fieldpath.PathElement, item any) bool {
	if pe.Value != nil {
		return valueElement(item).Equals(pe)
	}
	m, is := item.(map[string]any)
	return is && isCompatible(pe, m)
}

// A Foreign is an entry of a list that is in a live object beside ours.
type Foreign struct {
	// Path is as people write it.
	Path string
	// Managers own the entry, sorted. One without managers was added by admission, or
	// before anybody owned fields.
	Managers []string
}

// Beside lists, sorted by path, what others added to the lists of which manager applied
// entries, outside of metadata and status.
func Beside(body map[string]any, managed []metav1.ManagedFieldsEntry, manager string) []Foreign {
	var found []Foreign
	at := holdersOf(managed, manager)
	if ours, applied := at.ownHolder(); applied {
		besideIn(body, ours.below, at, nil, &found)
	}
	slices.SortFunc(found, func(a, b Foreign) int { return strings.Compare(a.Path, b.Path) })
	return found
}

func besideIn(live any, ours *fieldpath.Set, at holders, path fieldpath.Path, found *[]Foreign) {
	list, isList := live.([]any)
	if isList {
		keys := at.listKeys()
		if keys == nil {
			return
		}
		for _, item := range list {
			pe := elementFor(item, keys)
			if !ours.Members.Has(pe) && !hasChild(ours, pe) {
				*found = append(*found, Foreign{Path: formatPath(append(path, pe)), Managers: at.atElement(pe).otherManagers()})
			}
		}
	}
	ours.Children.Iterate(func(pe fieldpath.PathElement) {
		if len(path) == 0 && (isField(pe, "metadata") || isField(pe, "status")) {
			return
		}
		below, _ := ours.Children.Get(pe)
		besideIn(partAt(live, pe), below, at.atElement(pe), append(path, pe), found)
	})
}

func hasChild(set *fieldpath.Set, pe fieldpath.PathElement) bool {
	_, found := set.Children.Get(pe)
	return found
}
