package refusals

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// A Change is a write to an object that is there, and that was refused.
type Change struct {
	// Sent is the document, and Live the object.
	Sent, Live *unstructured.Unstructured
	// Fresh is the refusal of a dry run that would create the document under another
	// name; nil: it would be created.
	Fresh error
}

// Words by which the API server refuses a change. They decide only where the dry run
// does not: the name of the object matters, or a right or a quota is missing.
var (
	immutableField = regexp.MustCompile(`immutable|may not change once set|may not be changed|updates to .* are forbidden|updates may not change`)
	oneMember      = regexp.MustCompile(`may not specify more than (1|one)\b`)
	// mutableFields are those which it says may be changed all the same.
	mutableFields = regexp.MustCompile("['`]([A-Za-z][\\w.*\\[\\]]*)['`]|except ([\\w.]+)(?: and ([\\w.]+))?")
	listIndices   = regexp.MustCompile(`\[[^\]]*\]`)
)

// OfChange finds out what the refusal of a change means. If the content would be fine in
// a new object, the change is what is refused: a field is immutable, or something is in
// the way that the document does not have. The fields are then exact, with who else
// holds them.
func (r *Refusal) OfChange(c Change) *Refusal {
	if r.Kind != BadContent && r.Kind != DuplicateValue {
		return r
	}
	saysSo := slices.ContainsFunc(r.Fields, func(f Field) bool { return immutableField.MatchString(f.Text) })
	isFine, isUnfit := c.Fresh == nil, c.Fresh != nil && Classify(c.Fresh).Cause == Invalid
	if isUnfit && !saysSo {
		return r // the content is refused, whatever the object has
	}
	out := *r
	out.Kind, out.Fields = "", nil
	for _, f := range r.Fields {
		kind, fields := c.interpretField(cleanField(f, c.Live.Object))
		if kind == Immutable && !isFine && !saysSo {
			return r // nobody knows
		}
		if out.Kind == "" || out.Kind == Immutable { // what is in the way comes first
			out.Kind = kind
		}
		out.Fields = append(out.Fields, fields...)
	}
	if len(out.Fields) == 0 {
		return r
	}
	return &out
}

// interpretField returns what it means that a field of a change is refused, and the exact fields.
func (c Change) interpretField(f Field) (Kind, []Field) {
	if f.IsDuplicate {
		if found := c.foreignEntries(f); found != nil {
			return ForeignEntry, found
		}
	}
	if found := c.leftOver(f); found != nil && !immutableField.MatchString(f.Text) {
		return LeftOver, found
	}
	text := strings.TrimPrefix(f.Text, "Invalid value: ") // of the author of a CRD
	if immutableField.MatchString(text) || scheme.Scheme.Recognizes(c.Sent.GroupVersionKind()) {
		text = "this field is immutable"
	}
	var exact []Field
	for _, path := range c.changedBelow(f) {
		if _, isIndex := path[len(path)-1].(int); isIndex && len(path) > 1 { // it has no name of its own
			path = path[:len(path)-1]
		}
		exact = append(exact, Field{Path: path, Text: text, Holders: c.listHolders(path, c.Sent)})
	}
	return Immutable, exact
}

// foreignEntries are the entries of the document's list of which others have written
// one with the same value beside it.
func (c Change) foreignEntries(f Field) []Field {
	last := len(f.Path) - 1
	for last >= 0 {
		if _, isIndex := f.Path[last].(int); isIndex {
			break
		}
		last--
	}
	if last < 0 {
		return nil
	}
	list, below := f.Path[:last], f.Path[last+1:]
	ours, _ := valueAt(c.Sent.Object, list).([]any)
	theirs, _ := valueAt(c.Live.Object, list).([]any)
	var found []Field
	for i := range ours {
		path := slices.Concat(list, []any{i}, below)
		for j := range theirs {
			other := slices.Concat(list, []any{j}, below)
			holders := c.listHolders(other, c.Live)
			if v := valueAt(c.Sent.Object, path); v != nil && reflect.DeepEqual(v, valueAt(c.Live.Object, other)) && len(holders) > 0 {
				found = append(found, Field{Path: path, Text: "another entry of the live object has the same value", Holders: holders})
			}
		}
	}
	return found
}

// leftOver are the fields of the live object that are in the way of the document, which
// does not have them: the refused field itself, or other members of its union.
func (c Change) leftOver(f Field) []Field {
	var paths [][]any
	path := spellPath(f.Path, c.Live.Object)
	if valueAt(c.Sent.Object, path) == nil && valueAt(c.Live.Object, path) != nil && !c.isOurs(path) {
		paths = append(paths, path)
	}
	if parent := path[:max(len(path)-1, 0)]; oneMember.MatchString(f.Text) {
		there, _ := valueAt(c.Live.Object, parent).(map[string]any)
		for name := range there {
			if member := slices.Concat(parent, []any{name}); valueAt(c.Sent.Object, member) == nil {
				paths = append(paths, member)
			}
		}
	}
	var found []Field
	for _, path := range paths {
		left := Field{Path: path, Text: strings.TrimPrefix(f.Text, "Forbidden: "), Holders: c.listHolders(path, c.Live)}
		if len(left.Holders) == 0 {
			left.Text += "; the API server has filled it in"
		}
		found = append(found, left)
	}
	return found
}

// changedBelow are the fields at or below a refused one that differ in the object, or
// that it has of us and the document does not. Where the server says which may be
// changed, those are left out. Where nothing differs, it is the refused field; or what
// differs beside it, if the document does not have it.
func (c Change) changedBelow(f Field) [][]any {
	var all []string
	for _, d := range ownership.Differences(c.Sent.Object, c.Live.Object) {
		if !d.Normalised {
			all = append(all, d.Path)
		}
	}
	if entry, found, err := ownership.Ours(c.Live.GetManagedFields(), api.FieldManager); found && err == nil {
		all = append(all, entry.Extra(c.Sent.Object)...)
	}
	var changed, refused [][]any
	for _, text := range all {
		path := parsePath(text, c.Sent.Object)
		if !isBelow(path, f.Path) {
			continue
		}
		changed = append(changed, path)
		if !isMutable(text, f) {
			refused = append(refused, path)
		}
	}
	switch {
	case refused != nil:
		return refused
	case changed != nil:
		return changed
	case len(f.Path) > 1 && valueAt(c.Sent.Object, f.Path) == nil:
		if beside := c.changedBelow(Field{Path: f.Path[:len(f.Path)-1]}); len(beside[0]) > 1 {
			return beside
		}
	}
	return [][]any{f.Path}
}

// isMutable reports whether the server says of a refused field that this one below it
// may be changed.
func isMutable(path string, f Field) bool {
	path = listIndices.ReplaceAllString(path, "")
	for _, m := range mutableFields.FindAllStringSubmatch(f.Text, -1) {
		for _, name := range m[1:] {
			name = listIndices.ReplaceAllString(name, "")
			whole := strings.TrimPrefix(shownPath(f.Path)+"."+name, ".")
			if name != "" && (isWithin(path, name) || isWithin(path, whole)) {
				return true
			}
		}
	}
	return false
}

func isWithin(path, of string) bool { return path == of || strings.HasPrefix(path, of+".") }

// isBelow reports whether a path is another one, or below it.
func isBelow(path, of []any) bool {
	return len(path) >= len(of) && slices.Equal(path[:len(of)], of)
}

// listHolders returns the other managers that hold something at, above or below a path of
// one of the two documents.
func (c Change) listHolders(path []any, in *unstructured.Unstructured) []string {
	return c.listManagers(path, in, func(o ownership.Owner) bool { return o.Manager != api.FieldManager })
}

func (c Change) isOurs(path []any) bool {
	return len(c.listManagers(path, c.Live, func(o ownership.Owner) bool { return o.Manager == api.FieldManager })) > 0
}

func (c Change) listManagers(path []any, in *unstructured.Unstructured, which func(ownership.Owner) bool) []string {
	owners, err := ownership.Owners(c.Live.GetManagedFields())
	if err != nil {
		return nil
	}
	var found []string
	for _, o := range owners {
		if o.Subresource == "" && which(o) && slices.ContainsFunc(o.Paths, func(text string) bool {
			held := parsePath(text, in.Object)
			return len(held) > 0 && (isBelow(held, path) || isBelow(path, held))
		}) {
			found = append(found, o.Manager)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// spellPath returns a path with its names as the object has them: in some answers one begins
// with a capital letter.
func spellPath(path []any, object map[string]any) []any {
	var out []any
	var at any = object
	for _, step := range path {
		if name, is := step.(string); is && stepInto(at, name) == nil {
			fields, _ := at.(map[string]any)
			for key := range fields {
				if strings.EqualFold(key, name) {
					step = key
				}
			}
		}
		out = append(out, step)
		at = stepInto(at, step)
	}
	return out
}
