package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Rule is an entry with its expressions compiled. It is immutable.
type Rule struct {
	Entry
	inProgress, failed, current, message *expression
	// existenceSuffices: current is the literal true.
	existenceSuffices bool
	reads             []Read
	emptyAlls         []EmptyAll
	need              live.Need
}

// An EmptyAll is a call of all on the result of filter, in an expression that does not
// ask whether filter finds anything. It is true for an object without conditions.
type EmptyAll struct {
	// Field is the expression of the entry, and Offset where in its text the call is,
	// in runes.
	Field  string
	Offset int
}

// A List is the compiled entries of one file, of which no two are for the same kinds.
type List []*Rule

// CompileList compiles entries. The errors, which are sorted by index, are all
// *EntryError.
func CompileList(entries []Entry) (List, []*EntryError) {
	var list List
	var errs []*EntryError
	seen := map[string]int{}
	for i, entry := range entries {
		rule, wrong := compileRule(entry)
		if first, twice := seen[entry.String()]; twice && len(wrong) == 0 {
			wrong = []*EntryError{{Field: "apiVersion", Err: fmt.Errorf("healthCheckExprs[%d] is for %s already: remove one of them, since versions are ignored",
				first, entry)}}
		}
		for _, err := range wrong {
			err.Index = i
		}
		if errs = append(errs, wrong...); len(wrong) == 0 {
			seen[entry.String()] = i
			list = append(list, rule)
		}
	}
	return list, errs
}

func compileRule(entry Entry) (*Rule, []*EntryError) {
	r := &Rule{Entry: entry, existenceSuffices: strings.TrimSpace(entry.Current) == "true"}
	var errs []*EntryError
	fail := func(field string, offset int, err error) {
		if err != nil {
			errs = append(errs, &EntryError{Field: field, Offset: offset, Err: err})
		}
	}
	fail("apiVersion", 0, checkAPIVersion(entry.APIVersion))
	fail("kind", 0, checkKind(entry))
	if entry.Current == "" {
		fail("current", 0, errors.New("it is missing: it is the expression that is true once the object is ready"))
	}
	for _, field := range []struct {
		name, text string
		result     *cel.Type
		into       **expression
	}{
		{"current", entry.Current, cel.BoolType, &r.current},
		{"inProgress", entry.InProgress, cel.BoolType, &r.inProgress},
		{"failed", entry.Failed, cel.BoolType, &r.failed},
		{"message", entry.Message, cel.StringType, &r.message},
	} {
		if field.text == "" {
			continue
		}
		compiled, err := compileExpression(field.text, field.result)
		if err != nil {
			fail(field.name, err.offset, err)
			continue
		}
		*field.into = compiled
		r.addReads(field.name, compiled)
	}
	paths := slices.Clone(messageFields)
	for _, read := range r.reads {
		paths = append(paths, read.Path.withoutItem())
	}
	r.need = live.NeedOf(paths...)
	return r, errs
}

func (r *Rule) addReads(field string, e *expression) {
	for _, read := range e.reads {
		read.Field = field
		r.reads = append(r.reads, read)
	}
	for _, offset := range e.emptyAlls {
		r.emptyAlls = append(r.emptyAlls, EmptyAll{field, offset})
	}
}

// Reads returns every place where an expression of the rule reads a field.
func (r *Rule) Reads() []Read { return r.reads }

// EmptyAlls returns the calls of all that are true for an empty list.
func (r *Rule) EmptyAlls() []EmptyAll { return r.emptyAlls }

// Need returns the fields of an object that Evaluate reads: from others its result is the
// same.
func (r *Rule) Need() live.Need { return r.need }

// Find returns the rule for a kind: that of the exact kind, else that of the group,
// else one with a wildcard; nil if there is none.
func (l List) Find(gk schema.GroupKind) *Rule {
	if gk == (schema.GroupKind{Kind: "Secret"}) {
		return nil
	}
	var found *Rule
	for _, r := range l {
		if r.matchesKind(gk) && (found == nil || r.precedenceOf() > found.precedenceOf()) {
			found = r
		}
	}
	return found
}

// Select returns the rules that decide at least one of these kinds, in the order of
// the list.
func (l List) Select(kinds []schema.GroupKind) List {
	used := map[*Rule]bool{}
	for _, gk := range kinds {
		used[l.Find(gk)] = true
	}
	var selected List
	for _, r := range l {
		if used[r] {
			selected = append(selected, r)
		}
	}
	return selected
}

// A Set is all rules that decide for the children of a folder. A nil Set has the
// built-in ones alone.
type Set struct {
	folder, root List
}

// NewSet returns the rules of a folder and of its root, either of which may be empty,
// above the built-in ones.
func NewSet(folder, root List) *Set { return &Set{folder: folder, root: root} }

// FindAuthored returns the rule that an author wrote for a kind: that of the folder,
// else that of the root; nil if there is none.
func (s *Set) FindAuthored(gk schema.GroupKind) *Rule {
	if s == nil {
		return nil
	}
	if r := s.folder.Find(gk); r != nil {
		return r
	}
	return s.root.Find(gk)
}

// Find returns the rule for a kind: that of the folder, else that of the root, else
// the built-in one; nil if there is none.
func (s *Set) Find(gk schema.GroupKind) *Rule {
	if r := s.FindAuthored(gk); r != nil {
		return r
	}
	return BuiltIn().Find(gk)
}
