package ownership

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// beforeFirstApply is the manager that the API server invents for the fields
// of an object that had no managedFields when it was first applied.
const beforeFirstApply = "before-first-apply"

// An Entry is one manager's entry in an object's metadata.managedFields.
type Entry struct {
	Manager, Operation, Subresource string
	Mark
	// Fields are the paths that the manager owns; nil in the zero Entry, which
	// owns nothing.
	Fields *fieldpath.Set

	// rest are the other managers' entries: they tell an atomic field from
	// one whose parts were taken away.
	rest []metav1.ManagedFieldsEntry
}

// A Mark tells two states of an entry apart, without its fields being read.
type Mark struct {
	// Digest is the hexadecimal SHA-256 of the entry's raw fieldsV1, Time when it
	// last changed, RFC 3339, or "".
	Digest, Time string
}

// MarkAt is the mark of manager's Apply entry for a subresource, or for the main
// resource (""); ok is false if there is none.
func MarkAt(managed []metav1.ManagedFieldsEntry, manager, subresource string) (m Mark, ok bool) {
	i := findEntry(managed, manager, subresource)
	if i < 0 {
		return Mark{}, false
	}
	return markOf(managed[i]), true
}

// OthersMark tells two states of what other managers own in the main resource apart,
// without their fields being read.
func OthersMark(managed []metav1.ManagedFieldsEntry, manager string) string {
	var marks []string
	for _, m := range managed {
		if m.Manager != manager && m.Subresource == "" {
			marks = append(marks, m.Manager+" "+markOf(m).Digest+" "+markOf(m).Time)
		}
	}
	return strings.Join(marks, ", ")
}

// findEntry returns the index of the Apply entry of a manager, or −1.
func findEntry(managed []metav1.ManagedFieldsEntry, manager, subresource string) int {
	return slices.IndexFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == manager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == subresource
	})
}

// markOf returns the mark of an entry.
func markOf(m metav1.ManagedFieldsEntry) (of Mark) {
	sum := sha256.Sum256(rawFields(m))
	of.Digest = hex.EncodeToString(sum[:])
	if m.Time != nil {
		of.Time = m.Time.UTC().Format(time.RFC3339)
	}
	return of
}

// Ours finds manager's Apply entry for the main resource; ok is false if there
// is none. The error says that the entry cannot be read.
func Ours(managed []metav1.ManagedFieldsEntry, manager string) (e Entry, ok bool, err error) {
	return OursAt(managed, manager, "")
}

// OursAt finds manager's Apply entry for a subresource, such as "status".
func OursAt(managed []metav1.ManagedFieldsEntry, manager, subresource string) (e Entry, ok bool, err error) {
	i := findEntry(managed, manager, subresource)
	if i < 0 {
		return Entry{}, false, nil
	}
	m := managed[i]
	fields, err := parse(m)
	if err != nil {
		return Entry{}, false, fmt.Errorf("reading managedFields of %s: %w", manager, err)
	}
	return Entry{
		Manager: m.Manager, Operation: string(m.Operation), Subresource: m.Subresource,
		Fields: fields, Mark: markOf(m),
		rest: slices.Concat(managed[:i], managed[i+1:]),
	}, true, nil
}

// CoOwner is the index in managed of an entry that owns fields beside our
// Apply entry and would keep them when we give them up: the server's
// "before-first-apply", or an earlier Update by manager. It is −1 if there is
// none.
func CoOwner(managed []metav1.ManagedFieldsEntry, manager string) int {
	return slices.IndexFunc(managed, func(m metav1.ManagedFieldsEntry) bool { return isCoOwner(m, manager) })
}

func isCoOwner(m metav1.ManagedFieldsEntry, manager string) bool {
	return m.Operation == metav1.ManagedFieldsOperationUpdate && m.Subresource == "" &&
		(m.Manager == manager || m.Manager == beforeFirstApply)
}

// WithoutCoOwner returns managedFields without the entries of co-owners, and whether that
// changes anything; it does not where manager has not applied yet. What an Update by manager
// owns outside of the metadata becomes part of its Apply entry, so that fields which it does
// not apply again go. An object may be a custom resource, too, whose finalizers and annotations
// are none of the child's.
func WithoutCoOwner(managed []metav1.ManagedFieldsEntry, manager string) (
	rest []metav1.ManagedFieldsEntry, changed bool, err error,
) {
	ours, found, err := Ours(managed, manager)
	if err != nil || !found || CoOwner(managed, manager) < 0 {
		return managed, false, err
	}
	for _, m := range managed {
		if !isCoOwner(m, manager) {
			rest = append(rest, m)
			continue
		}
		if m.Manager != manager {
			continue
		}
		fields, err := parse(m)
		if err != nil {
			return managed, false, fmt.Errorf("reading managedFields of %s: %w", m.Manager, err)
		}
		ours.Fields = ours.Fields.Union(fields.RecursiveDifference(metadata))
	}
	text, err := ours.Fields.ToJSON()
	if err != nil {
		return managed, false, fmt.Errorf("writing managedFields of %s: %w", manager, err)
	}
	rest[findEntry(rest, manager, "")].FieldsV1 = metav1.NewFieldsV1(string(text))
	return rest, true, nil
}

// metadata is the set of all of an object's metadata.
var metadata = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"))

// Rest are the fields of another entry that this one does not own, as they
// stand in managedFields.
func (e Entry) Rest(other metav1.ManagedFieldsEntry) (*metav1.FieldsV1, error) {
	return remainingFields(other, func(theirs *fieldpath.Set) *fieldpath.Set { return theirs.Difference(e.fieldSet()) })
}

// remainingFields returns what a function leaves of the fields of an entry.
func remainingFields(m metav1.ManagedFieldsEntry, of func(*fieldpath.Set) *fieldpath.Set) (*metav1.FieldsV1, error) {
	fields, err := parse(m)
	if err != nil {
		return nil, fmt.Errorf("reading managedFields of %s: %w", m.Manager, err)
	}
	text, err := of(fields).ToJSON()
	if err != nil {
		return nil, fmt.Errorf("writing managedFields of %s: %w", m.Manager, err)
	}
	return metav1.NewFieldsV1(string(text)), nil
}

// PlainText is the index in managed of another manager's Apply entry that owns keys of a
// Secret's stringData, −1 if there is none. The API server puts the values into data
// without noting that, so our entry looks as if nobody had changed the Secret.
// See https://github.com/kubernetes/kubernetes/issues/118519.
func PlainText(managed []metav1.ManagedFieldsEntry, manager string) int {
	return slices.IndexFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		if m.Operation != metav1.ManagedFieldsOperationApply || m.Manager == manager || !bytes.Contains(rawFields(m), []byte(`"f:stringData"`)) {
			return false
		}
		fields, err := parse(m)
		return err == nil && Entry{Fields: fields}.Reaches("stringData")
	})
}

// WithoutPlainText are the fields of an entry but for stringData, as they stand in
// managedFields.
func WithoutPlainText(m metav1.ManagedFieldsEntry) (*metav1.FieldsV1, error) {
	return remainingFields(m, func(theirs *fieldpath.Set) *fieldpath.Set {
		return theirs.RecursiveDifference(fieldpath.NewSet(fieldpath.MakePathOrDie("stringData")))
	})
}

// Takers are the names of the other managers that hold a field of desired
// which the entry does not cover, sorted.
func (e Entry) Takers(desired map[string]any) []string {
	missing := e.Missing(desired)
	var names []string
	for _, m := range e.rest {
		fields, err := parse(m)
		if err != nil {
			continue
		}
		theirs := Entry{Fields: fields}.Missing(desired)
		if slices.ContainsFunc(missing, func(path string) bool { return !slices.Contains(theirs, path) }) {
			names = append(names, m.Manager)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Owns reports whether the entry owns the field at path, given by field names
// such as "metadata", "labels", "app". Outside metadata, owning a field whose
// parts nobody lists is owning all below it; metadata has no such field that
// could prove a label.
func (e Entry) Owns(path ...string) bool {
	set := e.Fields
	for i := range path {
		if set == nil {
			return false
		}
		pe := fieldpath.PathElement{FieldName: &path[i]}
		below, deep := set.Children.Get(pe)
		member := set.Members.Has(pe)
		if i == len(path)-1 {
			return member
		}
		if member && !deep {
			return path[0] != "metadata"
		}
		set = below
	}
	return false
}

// Reaches reports whether the entry owns the field at path or anything below it.
func (e Entry) Reaches(path ...string) bool {
	set := e.fieldSet()
	for i := range path {
		pe := fieldpath.PathElement{FieldName: &path[i]}
		if set.Members.Has(pe) {
			return true
		}
		below, deep := set.Children.Get(pe)
		if !deep {
			return false
		}
		set = below
	}
	return true
}

// fieldSet returns the entry's paths, never nil.
func (e Entry) fieldSet() *fieldpath.Set {
	if e.Fields == nil {
		return &fieldpath.Set{}
	}
	return e.Fields
}

// parse reads an entry's paths.
func parse(m metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if m.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
		return nil, err
	}
	return set, nil
}

// rawFields returns the text of an entry's fieldsV1, or nil if it has none.
func rawFields(m metav1.ManagedFieldsEntry) []byte {
	if m.FieldsV1 == nil {
		return nil
	}
	return m.FieldsV1.GetRawBytes()
}
