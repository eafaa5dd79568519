package ownership

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A holder is a field manager and what it owns at one place of an object.
type holder struct {
	manager string
	// ours is true for the Apply entry of the manager that asks.
	ours bool
	// since is when the entry last changed.
	since time.Time
	// owns is true if the manager owns the place itself, and below has what it owns
	// below the place; nil for none.
	owns  bool
	below *fieldpath.Set
}

// holders are the managers that own the place, or something below it.
type holders []holder

// holdersOf reads managedFields as manager sees them: its own Apply entry is ours. Its
// Update entry, and the one that the API server invents, belong to nobody: each
// apply drops them. Entries that cannot be read are skipped.
func holdersOf(managed []metav1.ManagedFieldsEntry, manager string) holders {
	var all holders
	for _, m := range managed {
		fields, err := parse(m)
		if err != nil || isCoOwner(m, manager) {
			continue
		}
		h := holder{manager: m.Manager, below: fields}
		h.ours = m.Manager == manager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
		if m.Time != nil {
			h.since = m.Time.Time
		}
		all = append(all, h)
	}
	return all
}

// IsHeldByOthers reports whether another manager owns a field, given by the names on the
// way to it, or something below it.
func IsHeldByOthers(managed []metav1.ManagedFieldsEntry, manager string, path ...string) bool {
	at := holdersOf(managed, manager)
	for _, name := range path {
		at = at.atElement(fieldElement(name))
	}
	return len(at.otherManagers()) > 0
}

// atElement returns the holders of the part of this place that pe names. A manager that owns the
// place as a whole, and lists no parts, owns every part.
func (all holders) atElement(pe fieldpath.PathElement) holders {
	var parts holders
	for _, h := range all {
		switch {
		case h.below == nil && h.owns:
			parts = append(parts, h)
			continue
		case h.below == nil:
			continue
		}
		below, deep := h.below.Children.Get(pe)
		owns := h.below.Members.Has(pe)
		if !deep {
			below = nil
		}
		if owns || deep {
			h.owns, h.below = owns, below
			parts = append(parts, h)
		}
	}
	return parts
}

// otherManagers returns the managers but ours, sorted.
func (all holders) otherManagers() []string {
	var names []string
	for _, h := range all {
		if !h.ours {
			names = append(names, h.manager)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownHolder returns our own holder, and whether there is one.
func (all holders) ownHolder() (holder, bool) {
	i := slices.IndexFunc(all, func(h holder) bool { return h.ours })
	if i < 0 {
		return holder{}, false
	}
	return all[i], true
}

// listKeys returns the names of the fields by which the items of the list at this place are told
// apart, or nil if no manager lists items by key.
func (all holders) listKeys() []string {
	for _, h := range all {
		if h.below == nil {
			continue
		}
		if elements := keyedElements(h.below); len(elements) > 0 {
			return fieldNames(*elements[0].Key)
		}
	}
	return nil
}

// isSet reports whether the list at this place is a set: managers list its items by
// value.
func (all holders) isSet() bool {
	return slices.ContainsFunc(all, func(h holder) bool {
		found := false
		if h.below != nil {
			h.below.Members.Iterate(func(pe fieldpath.PathElement) { found = found || pe.Value != nil })
		}
		return found
	})
}
