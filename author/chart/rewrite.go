package chart

import (
	"slices"
	"strconv"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// rewriteSources turns what only Helm has into what the engine has, in all text that is still
// there.
func (v *conversion) rewriteSources() {
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
	v.pruneDefines()
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
			r.rewritePipe(n.Pipe)
			r.inlineText(n)
		case *parse.IfNode:
			r.rewriteBranch(&n.BranchNode)
		case *parse.WithNode:
			r.rewriteBranch(&n.BranchNode)
		case *parse.RangeNode:
			r.rewriteBranch(&n.BranchNode)
			r.guardRange(n)
		case *parse.TemplateNode:
			r.rewritePipe(n.Pipe)
		}
	}
}

// rewriteBranch rewrites a branch or loop.
func (r *rewriter) rewriteBranch(n *parse.BranchNode) {
	r.rewritePipe(n.Pipe)
	r.list(n.List)
	r.list(n.ElseList)
}

// rewritePipe rewrites a pipeline that is still there.
func (r *rewriter) rewritePipe(p *parse.PipeNode) {
	if p == nil || r.isGone(r.pipeSpan(p).from) {
		return
	}
	r.keepChange(p)
	if r.refusePipe(p) {
		return
	}
	for i := 0; i < len(p.Cmds); i++ {
		if r.roundTrip(p, i) {
			i++
			continue
		}
		r.rewriteCommand(p, i)
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
		r.refuseCommand(p, len(p.Cmds)-1, fn.Ident+" changes what it is given in place",
			"a template cannot change the resource: keep the changed copy in a variable and read that")
		return
	}
	r.replaceSpan(span{r.start(p.Decl[0]), r.pipeSpan(p).from}, into.Ident[0]+" = ")
}

// refusePipe refuses a pipeline as a whole if one of its later functions is unknown. It reports
// whether it did.
func (r *rewriter) refusePipe(p *parse.PipeNode) bool {
	first, last := -1, -1
	for i, cmd := range p.Cmds {
		fn, ok := cmd.Args[0].(*parse.IdentifierNode)
		if ok && specials[fn.Ident] == nil && whyUnknown(fn.Ident) != "" {
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
	r.refuseCommand(p, last, "the function "+name, whyUnknown(name))
	return true
}

// roundTrip takes out `toJson | fromJson`, which only copies.
func (r *rewriter) roundTrip(p *parse.PipeNode, i int) bool {
	if i == 0 || i+1 >= len(p.Cmds) {
		return false
	}
	to, from := onlyFunction(p.Cmds[i]), onlyFunction(p.Cmds[i+1])
	if !(to == "toJson" && from == "fromJson" || to == "toYaml" && from == "fromYaml") {
		return false
	}
	r.delete(span{r.commandSpan(p.Cmds[i-1]).to, r.commandSpan(p.Cmds[i+1]).to})
	return true
}

// onlyFunction returns the function that a command without arguments calls, or "".
func onlyFunction(cmd *parse.CommandNode) string {
	if fn, ok := cmd.Args[0].(*parse.IdentifierNode); ok && len(cmd.Args) == 1 {
		return fn.Ident
	}
	return ""
}

// rewriteCommand rewrites the i-th command of a pipeline.
func (r *rewriter) rewriteCommand(p *parse.PipeNode, i int) {
	cmd := p.Cmds[i]
	if fn, ok := cmd.Args[0].(*parse.IdentifierNode); ok {
		if special := specials[fn.Ident]; special != nil && special(r, p, i) {
			return
		}
		if why := whyUnknown(fn.Ident); why != "" {
			r.refuseCommand(p, i, "the function "+fn.Ident, why)
			return
		}
	} else if r.rewriteMethod(p, i) {
		return
	}
	for _, arg := range cmd.Args {
		r.rewriteOperand(arg, len(cmd.Args) == 1)
	}
}

// whyUnknown returns why the engine does not have a function, or "" if it has it.
func whyUnknown(name string) string {
	switch {
	case funcs.Table()[name] != nil, slices.Contains(template.Specials(), name):
		return ""
	case funcs.Refused()[name] != "":
		return "it " + funcs.Refused()[name]
	}
	return "there is no such function: write what it gives into the template, or take it from the spec"
}

// rewriteOperand rewrites one operand. alone is true if its command has no other.
func (r *rewriter) rewriteOperand(node parse.Node, alone bool) {
	switch n := node.(type) {
	case *parse.FieldNode:
		r.rewriteField(n, n.Ident, alone)
	case *parse.VariableNode:
		r.rewriteField(n, n.Ident, alone)
	case *parse.ChainNode:
		if !r.rewriteChain(n, alone) {
			r.rewriteOperand(n.Node, false)
		}
	case *parse.PipeNode:
		r.rewritePipe(n)
	}
}

// refuseCommand puts `fail` in the place of a command, or of the pipeline if the command takes the
// value of another. It notes the reason.
func (r *rewriter) refuseCommand(p *parse.PipeNode, i int, what, do string) {
	at := r.commandSpan(p.Cmds[i])
	if i > 0 {
		at = r.pipeSpan(p)
	}
	r.replaceByFail(at, false, what, do)
}

// replaceByFail puts `fail` in the place of a span, in parentheses for an argument. An annotation
// that is a line by itself is taken out instead. A text that changes with every release serves to
// restart Pods at every release, and a resource has no releases.
func (r *rewriter) replaceByFail(at span, argument bool, what, do string) {
	if line, ok := r.annotationLine(at.from); ok {
		r.replaceSpan(line, "")
		r.conversion.addNote(Note{File: r.name, Line: r.lineAt(at.from), What: what, Do: do + "; the annotation is left out"})
		return
	}
	r.source.noteAt(at.from, what, do)
	call := "fail " + strconv.Quote(what+": "+do)
	if argument {
		call = "(" + call + ")"
	}
	r.replaceSpan(at, call)
}
