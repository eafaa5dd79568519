package template

import (
	"slices"
	"text/template/parse"
)

// changers are the functions that change their first argument in Helm. Here
// they return a changed copy.
var changers = []string{"set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"}

// checkLost refuses {{ $_ := set $m … }}: the changed copy would be lost.
func (c *compiler) checkLost(p *parse.PipeNode) {
	fn, ok := p.Cmds[len(p.Cmds)-1].Args[0].(*parse.IdentifierNode)
	if ok && p.Decl[0].Ident[0] == "$_" && slices.Contains(changers, fn.Ident) {
		c.addError(fn, "%s returns a changed copy, which is lost here: keep it, as in {{ $map = %s $map … }}", fn.Ident, fn.Ident)
	}
}

// checkBlanks wants the number of blanks in writing: it decides structure,
// which no value may.
func checkBlanks(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	if len(args) == 0 {
		return
	}
	if _, ok := args[0].(*parse.NumberNode); !ok {
		c.addError(fn, "the number of blanks must be written out: %s 4", fn.Ident)
	}
}
