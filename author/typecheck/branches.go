package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A deadEnd is a side of a branch that no resource takes.
type deadEnd struct {
	node  parse.Node
	side  outcome
	found Finding
}

// recordSides records which sides of a branch can be taken at all.
func (w *path) recordSides(n *parse.BranchNode, at parse.Node, v *val) {
	yes, no := v.possibleTruth()
	for s, possible := range map[outcome]bool{holds: yes, fails: no} {
		key := turning{fork{node: at}, s}
		list := sideOf(n, s)
		if !possible {
			w.barred[key] = barred{w.sketch.Place(w.frame.tree, n.Pipe), w.frame.tree, list}
		}
		if possible || v.way || v.piece != nil || v.can == 0 {
			w.reached[key] = true
			w.open[key] = w.open[key] || possible || !isFullList(at, s, v)
			continue
		}
		if list == nil || w.isSharedTree(w.frame.tree) {
			continue
		}
		text := fmt.Sprintf("this branch is never taken: %s never holds", n.Pipe)
		if s == fails {
			text = fmt.Sprintf("the else of this is never taken: %s always holds", n.Pipe)
		}
		if _, ok := at.(*parse.RangeNode); ok {
			text = strings.Replace(strings.Replace(text, "never holds", "never has items", 1), "always holds", "always has items", 1)
		}
		w.dead[key] = deadEnd{at, s, w.makeFinding(Unreachable, n.Pipe, text)}
	}
}

// isFullList reports whether a side is that of a range without items, over a list that
// has some wherever the path comes to it.
func isFullList(at parse.Node, s outcome, v *val) bool {
	_, ranges := at.(*parse.RangeNode)
	return ranges && s == fails && v.piece == nil && v.can == signature.List
}

func sideOf(n *parse.BranchNode, s outcome) *parse.ListNode {
	if s == fails {
		return n.ElseList
	}
	return n.List
}

// A barred side is one that no resource takes, with what stands in it.
type barred struct {
	place template.Place
	tree  *parse.Tree
	list  *parse.ListNode
}

// findImpossibleSides returns the sides that no path can take, with all branches in them.
func (w *walker) findImpossibleSides() map[Outcome]bool {
	all := map[Outcome]bool{}
	for key, b := range w.barred {
		if w.open[key] {
			continue
		}
		all[Outcome{b.place, key.side == holds}] = true
		visitStatements(b.list, func(n parse.Node) {
			if inner := branchOf(n); inner.Pipe != nil {
				place := w.sketch.Place(b.tree, inner.Pipe)
				all[Outcome{place, true}], all[Outcome{place, false}] = true, true
			}
		})
	}
	return all
}

// isSharedTree reports whether a tree belongs to all kinds. Another kind may need what this one
// does not.
func (w *walker) isSharedTree(tree *parse.Tree) bool {
	return strings.Contains(tree.ParseName, "/_lib/")
}

// reportUnreachable adds a finding for each side that no path can take.
func (w *walker) reportUnreachable() {
	for key, d := range w.dead {
		if !w.reached[key] {
			w.said.add(d.found)
		}
	}
}

// areOnOnePath reports whether a path that reaches the inner one of two places also reaches the
// outer one.
func (w *walker) areOnOnePath(a, b template.Place) bool {
	x, y := w.chainTo(a), w.chainTo(b)
	if x == nil || y == nil || a.File != b.File {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	return slices.Equal(x, y[:len(x)])
}

// chainTo are the sides of the branches around a place, from the tree on.
func (w *walker) chainTo(at template.Place) []turning {
	for _, tree := range w.allTrees() {
		if tree.ParseName != at.File {
			continue
		}
		if chain := w.findInList(tree, tree.Root, at, []turning{{fork{node: tree.Root}, holds}}); chain != nil {
			return chain
		}
	}
	return nil
}

// findInList looks for a place in the texts and actions of a list, and returns the chain of
// turnings to it.
func (w *walker) findInList(tree *parse.Tree, l *parse.ListNode, at template.Place, chain []turning) []turning {
	if l == nil {
		return nil
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			start := w.sketch.Place(tree, n)
			if containsPlace(start, string(n.Text), at) {
				return chain
			}
		case *parse.IfNode, *parse.WithNode, *parse.RangeNode:
			if c := w.findInSides(tree, n, at, chain); c != nil {
				return c
			}
		}
	}
	return nil
}

// findInSides looks for a place on both sides of a branch, and returns the chain of turnings to it.
func (w *walker) findInSides(tree *parse.Tree, n parse.Node, at template.Place, chain []turning) []turning {
	b := branchOf(n)
	for s, l := range []*parse.ListNode{b.List, b.ElseList} {
		inner := append(slices.Clone(chain), turning{fork{node: n}, outcome(s)})
		if c := w.findInList(tree, l, at, inner); c != nil {
			return c
		}
	}
	return nil
}

// branchOf is what if, with and range have in common.
func branchOf(n parse.Node) *parse.BranchNode {
	switch n := n.(type) {
	case *parse.IfNode:
		return &n.BranchNode
	case *parse.WithNode:
		return &n.BranchNode
	case *parse.RangeNode:
		return &n.BranchNode
	}
	return &parse.BranchNode{}
}

// containsPlace reports whether a text that starts at one place contains another place.
func containsPlace(start template.Place, text string, at template.Place) bool {
	lines := strings.Split(text, "\n")
	line := at.Line - start.Line
	if line < 0 || line >= len(lines) {
		return false
	}
	from := 1
	if line == 0 {
		from = start.Column
	}
	return at.Column >= from && at.Column < from+len([]rune(lines[line]))
}

// falsyBranch finds if and with that take 0 or false for absent.
func (w *path) falsyBranch(p *parse.PipeNode, v *val, with bool) {
	if len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return
	}
	n := p.Cmds[0].Args[0]
	if _, call := n.(*parse.IdentifierNode); call || !v.exact {
		return
	}
	switch {
	case with && v.isSurely(signature.Bool):
		w.addFinding(Falsy, n, fmt.Sprintf("%s may be false, and `with` passes over false: use `if`", w.describeValue(n, v)))
	case v.isSurely(signature.Number) && v.optional && v.can&signature.Nil != 0 && v.mayBeZero():
		word := "if"
		if with {
			word = "with"
		}
		w.addFinding(Falsy, n, fmt.Sprintf(
			"%s may be 0, which `%s` takes for absent: write `if ne %s nil`, or give it a minimum of 1 in the schema",
			w.describeValue(n, v), word, n))
	}
}

// falsyDefault finds default that replaces 0 or false.
func (w *path) falsyDefault(fn *parse.IdentifierNode, fallback, v arg) {
	if !v.exact || fallback.known && !isTruthy(fallback.constant) && fallback.constant != nil {
		return
	}
	n := w.argNode(fn, v)
	switch {
	case v.isSurely(signature.Bool):
		w.addFinding(Falsy, fn, fmt.Sprintf("%s may be false, which default replaces: use ifNil", w.describeValue(n, v.val)))
	case v.isSurely(signature.Number) && v.mayBeZero():
		w.addFinding(Falsy, fn, fmt.Sprintf("%s may be 0, which default replaces: use ifNil", w.describeValue(n, v.val)))
	}
}
