package typecheck

import (
	"fmt"
	"text/template/parse"
)

// allTrees returns all trees of the folder.
func (w *walker) allTrees() []*parse.Tree {
	var all []*parse.Tree
	for _, name := range w.in.Files {
		if tree := w.in.Set.Tree(name); tree != nil {
			all = append(all, tree)
		}
	}
	for _, name := range sortedKeys(w.defines) {
		if w.defines[name] != nil {
			all = append(all, w.defines[name])
		}
	}
	return all
}

// A declared is a variable that is in scope while unused ones are looked for.
type declared struct {
	node *parse.VariableNode
	used bool
	// quiet: nobody need use it.
	quiet bool
}

// reportUnusedVars adds a finding for each variable that nothing reads.
func (w *walker) reportUnusedVars() {
	for _, tree := range w.allTrees() {
		if !w.isSharedTree(tree) {
			s := &scopes{walker: w, tree: tree}
			s.list(tree.Root)
		}
	}
}

// scopes are the variables in scope.
type scopes struct {
	*walker
	tree *parse.Tree
	vars []*declared
}

// findDeclared returns the innermost variable of that name, or nil.
func (s *scopes) findDeclared(name string) *declared {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].node.Ident[0] == name {
			return s.vars[i]
		}
	}
	return nil
}

// scanScope runs a scan in a scope of its own, and reports the variables of the scope that were not
// used.
func (s *scopes) scanScope(look func()) {
	depth := len(s.vars)
	look()
	for i := depth; i < len(s.vars); i++ {
		s.reportUnused(s.vars[i], i)
	}
	s.vars = s.vars[:depth]
}

// reportUnused adds a finding if nothing uses a variable.
func (s *scopes) reportUnused(d *declared, i int) {
	name := d.node.Ident[0]
	if d.used || d.quiet || name == "$_" {
		return
	}
	text := fmt.Sprintf("nothing uses the variable %s: take it out", name)
	for _, outer := range s.vars[:i] {
		if outer.node.Ident[0] == name {
			text = fmt.Sprintf("nothing uses this %s, a new variable beside the one of outside: write %s = … to change that one", name, name)
		}
	}
	s.said.add(Finding{Class: UnusedVar, Place: s.sketch.Place(s.tree, d.node), Length: len([]rune(name)), Text: text})
}

func (s *scopes) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	s.scanScope(func() {
		for _, n := range l.Nodes {
			s.scanNode(n)
		}
	})
}

// scanNode scans one statement.
func (s *scopes) scanNode(n parse.Node) {
	switch n := n.(type) {
	case *parse.ActionNode:
		s.scanPipe(n.Pipe, false)
	case *parse.TemplateNode:
		s.scanPipe(n.Pipe, false)
	case *parse.IfNode:
		s.scanBranch(&n.BranchNode, false)
	case *parse.WithNode:
		s.scanBranch(&n.BranchNode, false)
	case *parse.RangeNode:
		s.scanBranch(&n.BranchNode, true)
	}
}

// scanBranch scans a branch or loop in a scope of its own.
func (s *scopes) scanBranch(n *parse.BranchNode, loop bool) {
	s.scanScope(func() {
		s.scanPipe(n.Pipe, loop)
		s.list(n.List)
		s.list(n.ElseList)
	})
}

// scanPipe scans a pipeline, and enters the variables that it declares.
func (s *scopes) scanPipe(p *parse.PipeNode, loop bool) {
	if p == nil {
		return
	}
	s.markUsed(p)
	if p.IsAssign {
		return
	}
	fn, _ := p.Cmds[0].Args[0].(*parse.IdentifierNode)
	ends := fn != nil && fn.Ident == "fail"
	for i, d := range p.Decl {
		s.vars = append(s.vars, &declared{node: d, quiet: ends || loop && i == 0 && len(p.Decl) == 2})
	}
}

// markUsed marks the variables that a pipeline uses.
func (s *scopes) markUsed(p *parse.PipeNode) {
	visitOperands(p, func(n parse.Node) {
		if v, ok := n.(*parse.VariableNode); ok {
			if d := s.findDeclared(v.Ident[0]); d != nil {
				d.used = true
			}
		}
	})
}

// visitOperands goes through all operands of a pipeline.
func visitOperands(n parse.Node, f func(parse.Node)) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, cmd := range n.Cmds {
			visitOperands(cmd, f)
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			visitOperands(a, f)
		}
	case *parse.ChainNode:
		visitOperands(n.Node, f)
	default:
		f(n)
	}
}

// visitCalls goes through all function calls below a list.
func visitCalls(l *parse.ListNode, f func(fn *parse.IdentifierNode, args []parse.Node)) {
	var in func(n parse.Node)
	in = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.PipeNode:
			for _, cmd := range n.Cmds {
				in(cmd)
			}
		case *parse.CommandNode:
			if fn, ok := n.Args[0].(*parse.IdentifierNode); ok {
				f(fn, n.Args[1:])
			}
			for _, a := range n.Args {
				in(a)
			}
		case *parse.ChainNode:
			in(n.Node)
		}
	}
	visitStatements(l, func(n parse.Node) {
		if p := pipeOf(n); p != nil {
			in(p)
		}
	})
}
