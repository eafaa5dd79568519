package ownership

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A Comparison is a rendered document, and the live object that does not become as
// rendered by an apply alone.
type Comparison struct {
	// Document is what is to be applied, and Manager who applies it.
	Document map[string]any
	Manager  string
	Live     *unstructured.Unstructured
	// WasApplied is true if the document is the one that was applied last. Of another one
	// nobody knows whether an entry that is missing was there before.
	WasApplied bool
	// Excluded are fields that the document excludes by what it chooses.
	Excluded []Excluded
	// Refused are the fields for which the API server refused the apply.
	Refused []Refused
}

// An Excluded is a field that no new object with this document would have.
type Excluded struct {
	// Path has names of fields, and indexes of the document's lists.
	Path []any
	// Decides is the field beside it that decides, or "". Where the document does not
	// give it, and others own it, nothing is excluded.
	Decides string
	// Fits reports whether a new object would have this value all the same; nil means
	// that it would have none.
	Fits func(value any) bool
}

// A Refused is a field that the API server refused. IsDuplicate is true if its value is
// already taken.
type Refused struct {
	Path        []any
	IsDuplicate bool
}

// A Reason says why a part of a live object goes.
type Reason string

const (
	// TookPlace is an entry of a list that equals a rendered one but for its key, while
	// the rendered one is missing: somebody edited the key.
	TookPlace Reason = "TookPlace"
	// Collides is an entry because of which the API server refuses a rendered one.
	Collides Reason = "Collides"
	// LeftOver is a default that belongs to what the document chose before.
	LeftOver Reason = "LeftOver"
)

// A Correction is a part of a live object that goes, so that the object becomes as
// rendered.
type Correction struct {
	// Path is as people write it. It holds no values but keys of lists.
	Path   string
	Reason Reason
	// Managers own the part, sorted. A part without managers was defaulted, or added by
	// admission.
	Managers []string
}

// A Restoration is what Restore decided.
type Restoration struct {
	// Object is the live object with the document in place; nil if an apply alone does
	// the same.
	Object map[string]any
	// Corrections are the parts that are not in Object any more.
	Corrections []Correction
}

// Restore decides which parts of a live object go, so that the document can be there as
// rendered. What others own stays, with two exceptions: an entry of a list because of
// which the API server refuses a rendered one, and an entry that took the place of a
// rendered one. What nobody owns goes if the document excludes it.
func Restore(in Comparison) Restoration {
	r := restorer{in: in}
	all := holdersOf(in.Live.GetManagedFields(), in.Manager)
	if ours, found := all.ownHolder(); found {
		r.since = ours.since
	}
	live := in.Live.DeepCopy().Object
	if ours, found := all.ownHolder(); found {
		pruneFields(live, in.Document, ours.below, all)
	}
	for _, x := range in.Excluded {
		r.excludePath(x, live, all)
	}
	for _, x := range in.Refused {
		r.excludePath(Excluded{Path: x.Path}, live, all)
	}
	r.restoreFields(in.Document, live, all)
	slices.SortFunc(r.out.Corrections, func(a, b Correction) int { return strings.Compare(a.Path, b.Path) })
	if len(r.out.Corrections) > 0 {
		r.out.Object = live
	}
	return r.out
}

// A restorer puts a document into a live object.
type restorer struct {
	in   Comparison
	path fieldpath.Path
	// since is when our entry last changed; zero if we never applied the object.
	since time.Time
	out   Restoration
}

// walkInto does something one step further down the path.
func (r *restorer) walkInto(pe fieldpath.PathElement, do func()) {
	r.path = append(r.path, pe)
	do()
	r.path = r.path[:len(r.path)-1]
}

// addCorrection records that the part at the present path goes.
func (r *restorer) addCorrection(reason Reason, at holders) {
	r.out.Corrections = append(r.out.Corrections, Correction{Path: formatPath(r.path), Reason: reason, Managers: at.otherManagers()})
}

// excludePath removes a field that the document excludes, unless others own it, or something below
// it.
func (r *restorer) excludePath(x Excluded, live map[string]any, at holders) {
	r.path = r.path[:0]
	defer func() { r.path = r.path[:0] }()
	var doc, there any = r.in.Document, live
	for i, step := range x.Path {
		pe, found := stepElement(step, doc, there, at)
		if !found {
			return
		}
		if decides := fieldElement(x.Decides); x.Decides != "" && i == len(x.Path)-1 &&
			partAt(doc, decides) == nil && len(at.atElement(decides).otherManagers()) > 0 {
			return
		}
		r.path = append(r.path, pe)
		if at, doc = at.atElement(pe), partAt(doc, pe); i == len(x.Path)-1 {
			r.excludeField(x, there, doc, at)
		}
		there = partAt(there, pe)
	}
}

// excludeField is exclude for the field at the present path, in a live map.
func (r *restorer) excludeField(x Excluded, live, doc any, at holders) {
	last := r.path[len(r.path)-1]
	value, found := findPart(live, last)
	_, ours := at.ownHolder()
	switch {
	case !found || doc != nil || last.FieldName == nil || x.Fits != nil && x.Fits(value):
	case len(at.otherManagers()) > 0: // whoever owns it has to take it out
	default:
		removeField(live, last)
		if !ours { // what is ours goes by an apply alone
			r.addCorrection(LeftOver, at)
		}
	}
}

// stepElement returns the path element for a step through a document and a live object: the name of
// a field, or the live item that is the document's item of this index.
func stepElement(step, doc, live any, at holders) (fieldpath.PathElement, bool) {
	if name, is := step.(string); is {
		return fieldElement(name), true
	}
	docs, _ := doc.([]any)
	lives, _ := live.([]any)
	keys := at.listKeys()
	i, is := step.(int)
	if !is || i < 0 || i >= len(docs) || keys == nil {
		return fieldpath.PathElement{}, false
	}
	j := matchItems(docs, lives, keys).liveOf[i]
	if j < 0 {
		return fieldpath.PathElement{}, false
	}
	return elementFor(lives[j], keys), true
}

// partAt returns the part of a value that pe names, or nil.
func partAt(v any, pe fieldpath.PathElement) any {
	found, _ := findPart(v, pe)
	return found
}

// removeField removes a field of a map.
func removeField(v any, pe fieldpath.PathElement) {
	if m, is := v.(map[string]any); is && pe.FieldName != nil {
		delete(m, *pe.FieldName)
	}
}

// restoreFields puts the fields of a document into a live map.
func (r *restorer) restoreFields(doc, live map[string]any, at holders) {
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if r.isSkipped(name) || doc[name] == nil {
			continue
		}
		pe := fieldElement(name)
		there, found := live[name]
		if !found {
			live[name] = doc[name]
			continue
		}
		r.walkInto(pe, func() { live[name] = r.restoreValue(doc[name], there, at.atElement(pe)) })
	}
}

// isSkipped reports whether an apply alone sees to a field: what identifies the object,
// and of its metadata all but labels and annotations.
func (r *restorer) isSkipped(name string) bool {
	switch {
	case isIgnoredField(r.path, name), len(r.path) == 0 && name == "status":
		return true
	case len(r.path) == 1 && isField(r.path[0], "metadata"):
		return name != "labels" && name != "annotations"
	}
	return false
}

// restoreValue returns what becomes of a live value that the document has, too.
func (r *restorer) restoreValue(doc, live any, at holders) any {
	switch d := doc.(type) {
	case map[string]any:
		if l, is := live.(map[string]any); is {
			r.restoreFields(d, l, at)
			return l
		}
	case []any:
		if l, is := live.([]any); is {
			return r.restoreList(d, l, at)
		}
	}
	return doc
}

// restoreList returns what becomes of a live list. An item that goes because of a rendered one that
// is missing is replaced where it stands.
func (r *restorer) restoreList(doc, live []any, at holders) []any {
	keys := at.listKeys()
	if keys == nil && !at.isSet() {
		return doc
	}
	m := matchItems(doc, live, keys)
	goes := map[int]bool{}
	for j, item := range live {
		if m.docOf[j] >= 0 {
			continue
		}
		pe := elementFor(item, keys)
		parts := at.atElement(pe)
		r.walkInto(pe, func() {
			i, reason := r.findRival(doc, item, m, parts, keys)
			if reason == "" {
				return
			}
			r.addCorrection(reason, parts)
			if goes[j] = true; m.liveOf[i] < 0 {
				m.liveOf[i], m.docOf[j] = j, i
			}
		})
	}
	var out []any
	for j, item := range live {
		i := m.docOf[j]
		switch {
		case i < 0 && goes[j]:
		case i < 0:
			out = append(out, item)
		default:
			if goes[j] {
				dropKeys(item, keys)
			}
			r.walkInto(elementFor(doc[i], keys), func() { out = append(out, r.restoreValue(doc[i], item, at.atElement(elementFor(doc[i], keys)))) })
		}
	}
	for i, item := range doc {
		if m.liveOf[i] < 0 {
			out = append(out, item)
		}
	}
	return out
}

// dropKeys removes the keys of an item that is to have others, and what was derived from them: the
// target of a Service's port is the port, if nobody says otherwise.
func dropKeys(item any, keys []string) {
	entry, _ := item.(map[string]any)
	old := map[any]bool{}
	for _, name := range keys {
		old[scalarKey(entry[name])] = true
	}
	maps.DeleteFunc(entry, func(name string, v any) bool {
		_, isNumber := toNumber(v)
		return slices.Contains(keys, name) || isNumber && old[scalarKey(v)]
	})
}

// findRival returns the rendered item because of which a live item goes, and why, or "" if it
// stays.
func (r *restorer) findRival(doc []any, live any, m matching, at holders, keys []string) (int, Reason) {
	for i := range doc {
		if m.liveOf[i] < 0 && r.tookPlace(doc[i], live, at, keys) {
			return i, TookPlace
		}
	}
	for i := range doc {
		if r.isCollision(doc[i], live) {
			return i, Collides
		}
	}
	return -1, ""
}

// tookPlace reports whether a live item equals a missing one but for its key. It has to
// be younger than our last apply, which had the missing one: what was there before stood
// beside ours, and a new item of the document is in nobody's place. Of an object that we
// never applied nothing is known but what the items say.
func (r *restorer) tookPlace(doc, live any, at holders, keys []string) bool {
	want := withoutKeys(doc, keys)
	younger := r.in.WasApplied && slices.ContainsFunc(at, func(h holder) bool { return !h.ours && !h.since.Before(r.since) })
	if r.since.IsZero() {
		younger = len(want) > 0
	}
	if !younger {
		return false
	}
	l, _ := live.(map[string]any)
	c := comparison{path: slices.Clone(r.path)}
	c.compareFields(r.goFieldAt(), want, l)
	return !slices.ContainsFunc(c.found, func(d Difference) bool { return !d.Normalised && !d.Unset })
}

// goFieldAt is the present path as a goField.
func (r *restorer) goFieldAt() goField {
	f := goFieldOf(r.in.Document)
	for _, pe := range r.path {
		if pe.FieldName != nil {
			f = f.fieldNamed(*pe.FieldName)
		} else {
			f = f.itemField()
		}
	}
	return f
}

// withoutKeys returns an item without its keys.
func withoutKeys(item any, keys []string) map[string]any {
	m, _ := item.(map[string]any)
	rest := maps.Clone(m)
	maps.DeleteFunc(rest, func(name string, _ any) bool { return slices.Contains(keys, name) })
	return rest
}

// isCollision reports whether a live item has the value of a rendered one in a field that was
// refused as a duplicate.
func (r *restorer) isCollision(doc, live any) bool {
	d, _ := doc.(map[string]any)
	l, _ := live.(map[string]any)
	return slices.ContainsFunc(r.in.Refused, func(x Refused) bool {
		names := fieldNamesOf(x.Path)
		if !x.IsDuplicate || len(names) == 0 || !slices.Equal(names[:len(names)-1], namesIn(r.path)) {
			return false
		}
		wanted, found := d[names[len(names)-1]]
		return found && sameScalar(wanted, l[names[len(names)-1]])
	})
}

// fieldNamesOf returns the names of fields in a path, without indexes.
func fieldNamesOf(path []any) []string {
	var names []string
	for _, step := range path {
		if name, is := step.(string); is {
			names = append(names, name)
		}
	}
	return names
}

func namesIn(path fieldpath.Path) []string {
	var names []string
	for _, pe := range path {
		if pe.FieldName != nil {
			names = append(names, *pe.FieldName)
		}
	}
	return names
}

// pruneFields removes from a live object what an apply of the document gives back: what we own, and
// the document has no more, unless others own it, or something below it.
func pruneFields(live, doc any, ours *fieldpath.Set, at holders) {
	if ours == nil {
		return
	}
	goes := func(pe fieldpath.PathElement) bool {
		_, wanted := findPart(doc, pe)
		return !wanted && len(at.atElement(pe).otherManagers()) == 0
	}
	var names []fieldpath.PathElement
	ours.Members.Iterate(func(pe fieldpath.PathElement) { names = append(names, pe) })
	ours.Children.Iterate(func(pe fieldpath.PathElement) { names = append(names, pe) })
	for _, pe := range names {
		below, deep := ours.Children.Get(pe)
		switch {
		case pe.FieldName == nil: // items go with their list, below
		case goes(pe):
			removeField(live, pe)
		case deep:
			m, _ := live.(map[string]any)
			if list, is := m[*pe.FieldName].([]any); is {
				m[*pe.FieldName] = pruneItems(list, partAt(doc, pe), below, at.atElement(pe))
				continue
			}
			pruneFields(partAt(live, pe), partAt(doc, pe), below, at.atElement(pe))
		}
	}
}

// pruneItems does the same for a list.
func pruneItems(live []any, doc any, ours *fieldpath.Set, at holders) []any {
	keys := at.listKeys()
	if keys == nil && !at.isSet() {
		return live
	}
	return slices.DeleteFunc(live, func(item any) bool {
		pe := elementFor(item, keys)
		below, deep := ours.Children.Get(pe)
		_, wanted := findPart(doc, pe)
		if wanted && deep {
			pruneFields(item, partAt(doc, pe), below, at.atElement(pe))
		}
		return !wanted && (deep || ours.Members.Has(pe)) && len(at.atElement(pe).otherManagers()) == 0
	})
}

// Relinquished returns managedFields in which no other manager owns what a document has,
// and whether that changes anything. Were it somebody else's too, a field that is later
// rendered no more would stay, and so would an entry of a list whose key changes.
// Entries of subresources stay as they are.
func Relinquished(managed []metav1.ManagedFieldsEntry, doc map[string]any, manager string) (
	rest []metav1.ManagedFieldsEntry, changed bool,
) {
	for _, m := range managed {
		fields, err := parse(m)
		ours := m.Manager == manager && m.Operation == metav1.ManagedFieldsOperationApply
		if err != nil || ours || m.Subresource != "" {
			rest = append(rest, m)
			continue
		}
		left := withoutDocument(fields, doc)
		if left.Equals(fields) {
			rest = append(rest, m)
			continue
		}
		changed = true
		if text, err := left.ToJSON(); err == nil && !left.Empty() {
			m.FieldsV1 = metav1.NewFieldsV1(string(text))
			rest = append(rest, m)
		}
	}
	if changed && len(rest) == 0 { // that is how the API server is told that there are none
		rest = []metav1.ManagedFieldsEntry{{}}
	}
	return rest, changed
}

// withoutDocument returns the paths of a set that a document does not have.
func withoutDocument(set *fieldpath.Set, doc any) *fieldpath.Set {
	left := &fieldpath.Set{}
	set.Members.Iterate(func(pe fieldpath.PathElement) {
		if _, found := findPart(doc, pe); !found {
			left.Members.Insert(pe)
		}
	})
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		below, _ := set.Children.Get(pe)
		if rest := withoutDocument(below, partAt(doc, pe)); !rest.Empty() {
			*left.Children.Descend(pe) = *rest
		}
	})
	return left
}
