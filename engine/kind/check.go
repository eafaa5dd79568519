package kind

import (
	"errors"
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// check finds the paths that the schema does not declare: those of `.`, and
// what with, range, variables and templates make of it. What a function or the
// cluster returns has any type.
func (k *Kind) check() error {
	c := &checker{kind: k, defines: k.Templates.Defines(), done: map[string]map[*schema.Type]bool{}}
	root := schema.Root(k.Version)
	names := k.Files
	if k.HasStatus {
		names = append(names[:len(names):len(names)], statusFile)
	}
	for _, name := range names {
		c.text(k.Templates.Tree(name), root)
	}
	return errors.Join(c.errs...)
}

type checker struct {
	kind    *Kind
	defines map[string]*parse.Tree
	done    map[string]map[*schema.Type]bool
	tree    *parse.Tree
	// again are the variables of the tree that are set again somewhere: they
	// may hold anything.
	again map[string]bool
	errs  []error
}

// A scope is the types of dot and of the variables.
type scope struct {
	dot  *schema.Type
	vars map[string]*schema.Type
}

func (s scope) with(dot *schema.Type) scope {
	vars := make(map[string]*schema.Type, len(s.vars))
	for name, t := range s.vars {
		vars[name] = t
	}
	return scope{dot, vars}
}

// text checks one template with the type of its dot.
func (c *checker) text(tree *parse.Tree, dot *schema.Type) {
	if tree == nil {
		return
	}
	before, again := c.tree, c.again
	c.tree, c.again = tree, map[string]bool{}
	c.findAgain(tree.Root)
	c.list(tree.Root, scope{dot, map[string]*schema.Type{"$": dot}})
	c.tree, c.again = before, again
}

// findAgain finds the variables that are set again.
func (c *checker) findAgain(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.setAgain(n.Pipe)
		case *parse.IfNode:
			c.branchAgain(&n.BranchNode)
		case *parse.WithNode:
			c.branchAgain(&n.BranchNode)
		case *parse.RangeNode:
			c.branchAgain(&n.BranchNode)
		}
	}
}

func (c *checker) branchAgain(n *parse.BranchNode) {
	c.setAgain(n.Pipe)
	c.findAgain(n.List)
	c.findAgain(n.ElseList)
}

func (c *checker) setAgain(p *parse.PipeNode) {
	for _, d := range p.Decl {
		c.again[d.Ident[0]] = c.again[d.Ident[0]] || p.IsAssign
	}
}

func (c *checker) list(list *parse.ListNode, s scope) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.declare(n.Pipe, c.pipe(n.Pipe, s), s)
		case *parse.IfNode:
			inner := s.with(s.dot)
			c.declare(n.Pipe, c.pipe(n.Pipe, s), inner)
			c.list(n.List, inner.with(s.dot))
			c.list(n.ElseList, inner.with(s.dot))
		case *parse.WithNode:
			inner := s.with(s.dot)
			t := c.pipe(n.Pipe, s)
			c.declare(n.Pipe, t, inner)
			c.list(n.List, inner.with(t))
			c.list(n.ElseList, inner.with(s.dot))
		case *parse.RangeNode:
			c.rangeOver(n, s)
		case *parse.TemplateNode:
			c.call(n.Name, c.pipe(n.Pipe, s))
		}
	}
}

func (c *checker) rangeOver(n *parse.RangeNode, s scope) {
	over := c.pipe(n.Pipe, s)
	item := over.Elem()
	inner := s.with(item)
	if d := n.Pipe.Decl; len(d) > 0 {
		inner.vars[d[0].Ident[0]] = schema.Any
		inner.vars[d[len(d)-1].Ident[0]] = item
		for _, v := range d {
			if c.again[v.Ident[0]] {
				inner.vars[v.Ident[0]] = schema.Any
			}
		}
	}
	c.list(n.List, inner)
	c.list(n.ElseList, s.with(s.dot))
}

// declare gives variables their type; one that is set again may hold anything.
func (c *checker) declare(p *parse.PipeNode, t *schema.Type, s scope) {
	for _, d := range p.Decl {
		if p.IsAssign || c.again[d.Ident[0]] {
			t = schema.Any
		}
		s.vars[d.Ident[0]] = t
	}
}

// call checks a define with every type of dot that it is called with.
func (c *checker) call(name string, dot *schema.Type) {
	if c.done[name] == nil {
		c.done[name] = map[*schema.Type]bool{}
	}
	if c.done[name][dot] {
		return
	}
	c.done[name][dot] = true
	c.text(c.defines[name], dot)
}

func (c *checker) pipe(p *parse.PipeNode, s scope) *schema.Type {
	if p == nil {
		return schema.Any
	}
	var t *schema.Type
	for _, cmd := range p.Cmds {
		t = c.command(cmd, s)
	}
	if len(p.Cmds) > 1 {
		return schema.Any
	}
	return t
}

func (c *checker) command(cmd *parse.CommandNode, s scope) *schema.Type {
	types := make([]*schema.Type, len(cmd.Args))
	for i, a := range cmd.Args {
		types[i] = c.operand(a, s)
	}
	fn, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok {
		return types[0]
	}
	if fn.Ident == "include" && len(cmd.Args) == 3 {
		if name, literal := cmd.Args[1].(*parse.StringNode); literal {
			c.call(name.Text, types[2])
		}
	}
	return schema.Any
}

func (c *checker) operand(node parse.Node, s scope) *schema.Type {
	switch n := node.(type) {
	case *parse.DotNode:
		return s.dot
	case *parse.FieldNode:
		return c.path(n, s.dot, "", n.Ident)
	case *parse.VariableNode:
		return c.path(n, s.vars[n.Ident[0]], n.Ident[0], n.Ident[1:])
	case *parse.ChainNode:
		return c.path(n, c.operand(n.Node, s), "(…)", n.Field)
	case *parse.PipeNode:
		return c.pipe(n, s)
	}
	return schema.Any
}

// path follows fields through the schema.
func (c *checker) path(n parse.Node, t *schema.Type, from string, fields []string) *schema.Type {
	for i, name := range fields {
		next, found := t.Field(name)
		if !found {
			c.undeclared(n, t, from, fields[:i+1])
			return schema.Any
		}
		t = next
	}
	return t
}

func (c *checker) undeclared(n parse.Node, t *schema.Type, from string, fields []string) {
	parent, name := fields[:len(fields)-1], fields[len(fields)-1]
	written := func(path []string) string {
		text := from
		for i, p := range path {
			if i > 0 || from != "" {
				text += "."
			}
			text += p
		}
		return text
	}
	err := fmt.Errorf("%s %s has no field %s", c.kind.GVK.Kind, c.kind.GVK.Version, written(fields))
	if len(t.Fields()) == 0 {
		err = fmt.Errorf("%s, a %s, has no field %s", written(parent), t.Kind(), name)
	} else if near := schema.Suggest(name, t.Fields()); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, written(append(parent[:len(parent):len(parent)], near)))
	}
	c.errs = append(c.errs, &template.Error{Place: c.kind.Templates.Place(c.tree, n), Err: err})
}
