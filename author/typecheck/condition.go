package typecheck

import (
	"strings"
	"text/template/parse"
)

// conditions are outcomes by the text of what was asked. Equal texts are taken for equal
// conditions, in whatever file they stand.
type conditions map[string]outcome

// conditionsOf are those of the sides of branches.
func conditionsOf(sides []turning) conditions {
	all := conditions{}
	for _, t := range sides {
		all.add(branchOf(t.fork.node).Pipe, t.side)
	}
	return all
}

// add adds a condition, and those of its parts that follow from it.
func (c conditions) add(n parse.Node, side outcome) {
	n, side = withoutNot(n, side)
	c[textOf(n)] = side
	name, args := callOf(n)
	if every, joins := joiners[name]; joins && every == (side == holds) {
		for _, a := range args {
			c.add(a, side)
		}
	}
}

// findOutcome returns the outcome of a condition, if it is known.
func (c conditions) findOutcome(n parse.Node) (side outcome, known bool) {
	n, flipped := withoutNot(n, holds)
	if side, known = c[textOf(n)]; known {
		return side ^ flipped, true
	}
	name, args := callOf(n)
	every, joins := joiners[name]
	if !joins || len(args) == 0 {
		return holds, false
	}
	decides, all := fails, true // the side of one part that decides for the whole
	if !every {
		decides = holds
	}
	for _, a := range args {
		part, known := c.findOutcome(a)
		if known && part == decides {
			return decides ^ flipped, true
		}
		all = all && known
	}
	return 1 - decides ^ flipped, all
}

// joiners are the functions that join conditions, and whether every one has to hold.
var joiners = map[string]bool{"and": true, "all": true, "or": false, "any": false}

// withoutNot returns what a condition negates, and which side of that is taken.
func withoutNot(n parse.Node, side outcome) (parse.Node, outcome) {
	for {
		name, args := callOf(n)
		if name != "not" && name != "empty" || len(args) != 1 {
			return n, side
		}
		n, side = args[0], 1-side
	}
}

// callOf is the function that a node calls, with all of its arguments; "" if it is no
// call.
func callOf(n parse.Node) (name string, args []parse.Node) {
	p, ok := n.(*parse.PipeNode)
	if !ok || len(p.Cmds) != 1 {
		return "", nil
	}
	first := p.Cmds[0].Args[0]
	if inner, ok := first.(*parse.PipeNode); ok {
		return callOf(inner)
	}
	if fn, ok := first.(*parse.IdentifierNode); ok {
		return fn.Ident, p.Cmds[0].Args[1:]
	}
	return "", nil
}

// textOf is a condition as it is written, without the variable that keeps it and
// without the $ of the resource.
func textOf(n parse.Node) string {
	p, ok := n.(*parse.PipeNode)
	if !ok {
		return strings.ReplaceAll(n.String(), "$.", ".")
	}
	if inner, ok := p.Cmds[0].Args[0].(*parse.PipeNode); ok && len(p.Cmds) == 1 && len(p.Cmds[0].Args) == 1 {
		return textOf(inner)
	}
	texts := make([]string, len(p.Cmds))
	for i, cmd := range p.Cmds {
		texts[i] = cmd.String()
	}
	return strings.ReplaceAll(strings.Join(texts, " | "), "$.", ".")
}
