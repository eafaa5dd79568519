package trace

import (
	"cmp"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Branch is one if, with or range that the author wrote; an `else if` or
// `else with` is one of its own.
type Branch struct {
	// Place is where its condition stands.
	Place template.Place
	// Text is the author's own text: {{ else if .spec.tls }}.
	Text string
	// Range: it is a range, which is taken if there is something to go through.
	Range bool
	// Define is the name of the define that it stands in, or "".
	Define string
	// Constant: its condition is made of nothing but literals, so that it always
	// goes the same way.
	Constant bool
}

// Outcome says in words what it means that the branch is taken or not.
func (b *Branch) Outcome(taken bool) string {
	switch {
	case b.Range && taken:
		return "with items"
	case b.Range:
		return "without items"
	case taken:
		return "taken"
	}
	return "not taken"
}

// Branches lists the branches of a set's files and of the defines that they call, in
// the order of the text.
func Branches(set *template.Set, files []string) []*Branch {
	called := map[string]bool{}
	w := branchWalker{set: set}
	for _, file := range files {
		w.walkTree(set.Tree(file), "")
		for _, name := range set.CallsOf(file) {
			called[name] = true
		}
	}
	for name, tree := range set.Defines() {
		if called[name] {
			w.walkTree(tree, name)
		}
	}
	slices.SortFunc(w.found, func(a, b *Branch) int { return comparePlaces(a.Place, b.Place) })
	return w.found
}

// FilesOf names the files of a kind that are executed: those of its children, and that
// of its status if there is one.
func FilesOf(k *kind.Kind) []string {
	if k.HasStatus {
		return append(slices.Clip(k.Files), "status")
	}
	return k.Files
}

// A Turn is one of the two arms of a branch: the text that it prints if it is
// taken, or if it is not.
type Turn struct {
	Branch *Branch
	Taken  bool
}

// TurnsOf returns the arms that a line of a file's own text stands in, outermost
// first. The line begins with text.
func TurnsOf(set *template.Set, file string, line int) []Turn {
	w := branchWalker{set: set, line: line}
	w.walkTree(set.Tree(file), "")
	return w.at
}

func comparePlaces(a, b template.Place) int {
	return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
}

// A branchWalker goes through parse trees in the order of the text.
type branchWalker struct {
	set    *template.Set
	tree   *parse.Tree
	define string
	found  []*Branch
	// turns are the arms that the node stands in, and at those of the last text that
	// begins at the beginning of the line, or before.
	turns, at []Turn
	line      int
}

func (w *branchWalker) walkTree(tree *parse.Tree, define string) {
	if tree == nil {
		return
	}
	w.tree, w.define = tree, define
	w.walkList(tree.Root)
}

func (w *branchWalker) walkList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			if place := w.set.Place(w.tree, n); place.Line < w.line || place.Line == w.line && place.Column == 1 {
				w.at = slices.Clone(w.turns)
			}
		case *parse.IfNode:
			w.walkBranch(&n.BranchNode)
		case *parse.WithNode:
			w.walkBranch(&n.BranchNode)
		case *parse.RangeNode:
			w.walkBranch(&n.BranchNode)
		}
	}
}

func (w *branchWalker) walkBranch(n *parse.BranchNode) {
	b := &Branch{
		Place: w.set.Place(w.tree, n.Pipe), Text: w.set.Quote(w.tree, n.Pipe),
		Range: n.NodeType == parse.NodeRange, Define: w.define, Constant: isConstant(n.Pipe),
	}
	w.found = append(w.found, b)
	outside := w.turns
	for i, list := range []*parse.ListNode{n.List, n.ElseList} {
		w.turns = append(slices.Clip(outside), Turn{b, i == 0})
		w.walkList(list)
	}
	w.turns = outside
}

// isConstant reports whether what a node comes to is known from the text alone.
func isConstant(node parse.Node) bool {
	switch n := node.(type) {
	case *parse.PipeNode:
		return !slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return !isConstant(c) })
	case *parse.CommandNode:
		return !slices.ContainsFunc(n.Args, func(a parse.Node) bool { return !isConstant(a) })
	case *parse.IdentifierNode:
		return n.Ident == "and" || n.Ident == "or" || !slices.Contains(template.Specials(), n.Ident)
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return true
	}
	return false
}
