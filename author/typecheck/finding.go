package typecheck

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// findings collects what is said, each once.
type findings struct {
	all  []Finding
	seen map[seen]bool
	// fine are the paths that some way could follow to the end.
	fine map[call]bool
}

// A call is a place as it is reached from another; the zero Place for none.
type call struct{ place, from template.Place }

type seen struct {
	class Class
	place template.Place
	text  string
}

func newFindings() *findings { return &findings{seen: map[seen]bool{}, fine: map[call]bool{}} }

func (f *findings) add(one Finding) {
	key := seen{one.Class, one.Place, one.Text}
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	f.all = append(f.all, one)
}

// currentMark returns the mark in front of all later findings.
func (f *findings) currentMark() int { return len(f.all) }

// revertFindings removes all findings that were added since a mark.
func (f *findings) revertFindings(mark int) {
	for _, one := range f.all[mark:] {
		delete(f.seen, seen{one.Class, one.Place, one.Text})
	}
	f.all = f.all[:mark]
}

// sortFindings returns the findings by place. A field that is missing on a few paths only is no
// finding. A variable may hold one thing or another, and reading what is not there is no error.
func (f *findings) sortFindings() []Finding {
	f.all = slices.DeleteFunc(f.all, func(one Finding) bool {
		return one.Class == UnknownField && f.fine[call{one.Place, one.Called}]
	})
	slices.SortStableFunc(f.all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column), cmp.Compare(a.Class, b.Class))
	})
	return f.all
}

// addFinding adds a finding at a node.
func (w *path) addFinding(class Class, n parse.Node, text string) {
	w.said.add(w.makeFinding(class, n, text))
}

// makeFinding returns a finding at a node.
func (w *path) makeFinding(class Class, n parse.Node, text string) Finding {
	return Finding{
		Class: class, Place: w.sketch.Place(w.frame.tree, n), Length: w.nodeLength(w.frame.tree, n), Text: text, Called: w.frame.called,
	}
}

// nodeLength returns how many characters a node takes. For fields behind parentheses, it counts
// only the fields.
func (w *walker) nodeLength(tree *parse.Tree, n parse.Node) int {
	if chain, ok := n.(*parse.ChainNode); ok {
		return utf8.RuneCountInString("." + strings.Join(chain.Field, "."))
	}
	return w.sketch.Length(tree, n)
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
