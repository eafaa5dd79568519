package chart

import (
	"slices"
	"strconv"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// rewrite turns what only Helm has into what the engine has, in all that is
// still there.
func (v *conversion) rewrite() {
	v.readTexts()
	for _, s := range v.sources {
		if s.left {
			continue
		}
		r := &rewriter{conversion: v, source: s}
		r.list(s.tree.Root)
		for _, name := range sortedKeys(s.defines) {
			r.list(s.defines[name].Root)
		}
	}
	v.prune()
}

// A rewriter walks the parse trees of one source and edits its text.
type rewriter struct {
	*conversion
	*source
}

func (r *rewriter) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			r.pipe(n.Pipe)
			r.plain(n)
		case *parse.IfNode:
			r.branch(&n.BranchNode)
		case *parse.WithNode:
			r.branch(&n.BranchNode)
		case *parse.RangeNode:
			r.branch(&n.BranchNode)
			r.guardRange(n)
		case *parse.TemplateNode:
			r.pipe(n.Pipe)
		}
	}
}

func (r *rewriter) branch(n *parse.BranchNode) {
	r.pipe(n.Pipe)
	r.list(n.List)
	r.list(n.ElseList)
}

func (r *rewriter) pipe(p *parse.PipeNode) {
	if p == nil || r.gone(r.pipeSpan(p).from) {
		return
	}
	r.keepChange(p)
	if r.lost(p) {
		return
	}
	for i := 0; i < len(p.Cmds); i++ {
		if r.roundTrip(p, i) {
			i++
			continue
		}
		r.command(p, i)
	}
}

// changers are the functions that change a map of Helm's in place.
var changers = []string{"set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"}

// keepChange makes `$_ := set $map …` keep the changed copy.
func (r *rewriter) keepChange(p *parse.PipeNode) {
	cmd := p.Cmds[len(p.Cmds)-1]
	fn, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok || len(p.Decl) != 1 || p.Decl[0].Ident[0] != "$_" || !slices.Contains(changers, fn.Ident) || len(cmd.Args) < 2 {
		return
	}
	into, ok := cmd.Args[1].(*parse.VariableNode)
	if !ok || len(into.Ident) != 1 || into.Ident[0] == "$" {
		r.refuse(p, len(p.Cmds)-1, fn.Ident+" changes what it is given in place",
			"a template cannot change the resource: keep the changed copy in a variable and read that")
		return
	}
	r.replace(span{r.start(p.Decl[0]), r.pipeSpan(p).from}, into.Ident[0]+" = ")
}

// lost refuses a pipeline as a whole where what comes later in it is unknown.
func (r *rewriter) lost(p *parse.PipeNode) bool {
	first, last := -1, -1
	for i, cmd := range p.Cmds {
		fn, ok := cmd.Args[0].(*parse.IdentifierNode)
		if ok && specials[fn.Ident] == nil && unknown(fn.Ident) != "" {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if last < 1 {
		return false
	}
	name := p.Cmds[first].Args[0].(*parse.IdentifierNode).Ident
	r.refuse(p, last, "the function "+name, unknown(name))
	return true
}

// roundTrip takes out `toJson | fromJson`, which only copies.
func (r *rewriter) roundTrip(p *parse.PipeNode, i int) bool {
	if i == 0 || i+1 >= len(p.Cmds) {
		return false
	}
	to, from := only(p.Cmds[i]), only(p.Cmds[i+1])
	if !(to == "toJson" && from == "fromJson" || to == "toYaml" && from == "fromYaml") {
		return false
	}
	r.delete(span{r.commandSpan(p.Cmds[i-1]).to, r.commandSpan(p.Cmds[i+1]).to})
	return true
}

// only is the function that a command without arguments calls, or "".
func only(cmd *parse.CommandNode) string {
	if fn, ok := cmd.Args[0].(*parse.IdentifierNode); ok && len(cmd.Args) == 1 {
		return fn.Ident
	}
	return ""
}

// command rewrites the i-th command of a pipeline.
func (r *rewriter) command(p *parse.PipeNode, i int) {
	cmd := p.Cmds[i]
	if fn, ok := cmd.Args[0].(*parse.IdentifierNode); ok {
		if special := specials[fn.Ident]; special != nil && special(r, p, i) {
			return
		}
		if why := unknown(fn.Ident); why != "" {
			r.refuse(p, i, "the function "+fn.Ident, why)
			return
		}
	} else if r.method(p, i) {
		return
	}
	for _, arg := range cmd.Args {
		r.operand(arg, len(cmd.Args) == 1)
	}
}

// unknown says why the engine does not have a function; "" if it does.
func unknown(name string) string {
	switch {
	case funcs.Table()[name] != nil, slices.Contains(template.Specials(), name):
		return ""
	case funcs.Refused()[name] != "":
		return "it " + funcs.Refused()[name]
	}
	return "there is no such function: write what it gives into the template, or take it from the spec"
}

// operand rewrites one operand; alone says that its command has no other.
func (r *rewriter) operand(node parse.Node, alone bool) {
	switch n := node.(type) {
	case *parse.FieldNode:
		r.field(n, n.Ident, alone)
	case *parse.VariableNode:
		r.field(n, n.Ident, alone)
	case *parse.ChainNode:
		if !r.chain(n, alone) {
			r.operand(n.Node, false)
		}
	case *parse.PipeNode:
		r.pipe(n)
	}
}

// refuse puts `fail` in the place of a command, or of the pipeline if the
// command is given the value of another, and notes why.
func (r *rewriter) refuse(p *parse.PipeNode, i int, what, do string) {
	at := r.commandSpan(p.Cmds[i])
	if i > 0 {
		at = r.pipeSpan(p)
	}
	r.fail(at, false, what, do)
}

// fail puts `fail` in the place of a span, in parentheses for an argument. An
// annotation that is a line by itself is left out instead: what is printed
// again for every release serves to restart Pods at every release, which a
// resource does not have.
func (r *rewriter) fail(at span, argument bool, what, do string) {
	if line, ok := r.annotation(at.from); ok {
		r.replace(line, "")
		r.conversion.note(Note{File: r.name, Line: r.line(at.from), What: what, Do: do + "; the annotation is left out"})
		return
	}
	r.source.note(at.from, what, do)
	call := "fail " + strconv.Quote(what+": "+do)
	if argument {
		call = "(" + call + ")"
	}
	r.replace(at, call)
}
