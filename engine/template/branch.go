package template

import (
	"slices"
	"strings"
	"text/template/parse"
)

// A Branch is one if, with or range that the author wrote; an `else if` or
// `else with` is one of its own.
type Branch struct {
	// Place is where its condition stands.
	Place Place
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

// Branches lists the branches of the folder's files and of the defines that
// they call, in the order of the text.
func (s *Set) Branches() []*Branch { return s.branches }

// A Turn is one of the two arms of a branch: the text that it prints if it is
// taken, or if it is not.
type Turn struct {
	Branch *Branch
	Taken  bool
}

// A stretch is a text between actions that begins at an offset, and the arms
// that it stands in, outermost first.
type stretch struct {
	from  int
	turns []Turn
}

// Turns are the arms that a line of a file's own text stands in, outermost
// first. The line begins with text.
func (s *Set) Turns(name string, line int) []Turn {
	file := s.files[name]
	if file == nil {
		return nil
	}
	begins := 0
	for text := range strings.Lines(file.src.text) {
		if line--; line < 1 {
			break
		}
		begins += len(text)
	}
	var turns []Turn
	for _, t := range file.texts { // in the order of the text
		if t.from <= begins {
			turns = t.turns
		}
	}
	return turns
}

// arm compiles one arm of a branch.
func (c *compiler) arm(t Turn, n *parse.ListNode) (b block) {
	c.turns = append(c.turns, t)
	c.scoped(func() { b = c.list(n) })
	c.turns = c.turns[:len(c.turns)-1]
	return b
}

// note enters a branch of the routine that is being compiled.
func (c *compiler) note(n *parse.BranchNode) *Branch {
	at := c.at(n.Pipe)
	b := &Branch{Place: at.place(), Text: at.quote(), Range: n.NodeType == parse.NodeRange, Constant: constantNode(n.Pipe)}
	if c.set.files[c.into.name] != c.into {
		b.Define = c.into.name
	}
	c.into.branches = append(c.into.branches, b)
	return b
}

// constantNode reports whether what a node comes to is known from the text alone.
func constantNode(node parse.Node) bool {
	switch n := node.(type) {
	case *parse.PipeNode:
		return !slices.ContainsFunc(n.Cmds, func(c *parse.CommandNode) bool { return !constantNode(c) })
	case *parse.CommandNode:
		return !slices.ContainsFunc(n.Args, func(a parse.Node) bool { return !constantNode(a) })
	case *parse.IdentifierNode:
		return specials[n.Ident].call == nil
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return true
	}
	return false
}
