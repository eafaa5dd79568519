package kind

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// check finds the paths that the schema does not declare: those of `.`, and
// what with, range, variables and templates make of it. What a function or the
// cluster returns has any type.
func (k *Kind) check() error {
	c := &checker{kind: k, defines: k.Templates.Defines(), done: map[string]map[*schema.Type]bool{}}
	root := typed{Type: schema.Root(k.Version)}
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
	// from is where the tree is called, of a partial.
	from template.Place
	errs []error
}

// A typed is the type of a value and, unless it is Any, the value's path from
// the root of the resource, such as spec.env[].
type typed struct {
	*schema.Type
	path string
}

var unknown = typed{Type: schema.Any}

// field is the value of a field.
func (t typed) field(name string) (typed, bool) {
	next, found := t.Field(name)
	return typed{next, below(t.path, name)}, found
}

// item is a value of a list or of a map.
func (t typed) item() typed {
	if t.Kind() == schema.KindFreeMap {
		return typed{t.Elem(), t.path + ".*"}
	}
	return typed{t.Elem(), t.path + "[]"}
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// A scope is the types of dot and of the variables.
type scope struct {
	dot  typed
	vars map[string]typed
}

func (s scope) with(dot typed) scope {
	vars := make(map[string]typed, len(s.vars))
	for name, t := range s.vars {
		vars[name] = t
	}
	return scope{dot, vars}
}

// text checks one template with the type of its dot.
func (c *checker) text(tree *parse.Tree, dot typed) {
	if tree == nil {
		return
	}
	before, again := c.tree, c.again
	c.tree, c.again = tree, map[string]bool{}
	c.findAgain(tree.Root)
	c.list(tree.Root, scope{dot, map[string]typed{"$": dot}})
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
			c.call(n, n.Name, c.pipe(n.Pipe, s))
		}
	}
}

func (c *checker) rangeOver(n *parse.RangeNode, s scope) {
	over := c.pipe(n.Pipe, s)
	item := over.item()
	inner := s.with(item)
	if d := n.Pipe.Decl; len(d) > 0 {
		inner.vars[d[0].Ident[0]] = unknown
		inner.vars[d[len(d)-1].Ident[0]] = item
		for _, v := range d {
			if c.again[v.Ident[0]] {
				inner.vars[v.Ident[0]] = unknown
			}
		}
	}
	c.list(n.List, inner)
	c.list(n.ElseList, s.with(s.dot))
}

// declare gives variables their type; one that is set again may hold anything.
func (c *checker) declare(p *parse.PipeNode, t typed, s scope) {
	for _, d := range p.Decl {
		if p.IsAssign || c.again[d.Ident[0]] {
			t = unknown
		}
		s.vars[d.Ident[0]] = t
	}
}

// call checks a define with every type of dot that it is called with.
func (c *checker) call(n parse.Node, name string, dot typed) {
	if c.done[name] == nil {
		c.done[name] = map[*schema.Type]bool{}
	}
	if c.done[name][dot.Type] {
		return
	}
	c.done[name][dot.Type] = true
	before := c.from
	c.from = c.kind.Templates.Place(c.tree, n)
	c.text(c.defines[name], dot)
	c.from = before
}

func (c *checker) pipe(p *parse.PipeNode, s scope) typed {
	if p == nil {
		return unknown
	}
	var t typed
	for _, cmd := range p.Cmds {
		t = c.command(cmd, s)
	}
	if len(p.Cmds) > 1 {
		return unknown
	}
	return t
}

func (c *checker) command(cmd *parse.CommandNode, s scope) typed {
	types := make([]typed, len(cmd.Args))
	for i, a := range cmd.Args {
		types[i] = c.operand(a, s)
	}
	fn, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok {
		return types[0]
	}
	if fn.Ident == "include" && len(cmd.Args) == 3 {
		if name, literal := cmd.Args[1].(*parse.StringNode); literal {
			c.call(fn, name.Text, types[2])
		}
	}
	return unknown
}

func (c *checker) operand(node parse.Node, s scope) typed {
	switch n := node.(type) {
	case *parse.DotNode:
		return s.dot
	case *parse.FieldNode:
		return c.path(n, s, s.dot, n.Ident)
	case *parse.VariableNode:
		return c.path(n, s, s.vars[n.Ident[0]], n.Ident[1:])
	case *parse.ChainNode:
		return c.path(n, s, c.operand(n.Node, s), n.Field)
	case *parse.PipeNode:
		return c.pipe(n, s)
	}
	return unknown
}

// path follows fields through the schema.
func (c *checker) path(n parse.Node, s scope, t typed, fields []string) typed {
	for _, name := range fields {
		next, found := t.field(name)
		if !found {
			c.fail(n, c.undeclared(s, t, name))
			return unknown
		}
		t = next
	}
	return t
}

// undeclared says that the value at t has no field of that name.
func (c *checker) undeclared(s scope, t typed, name string) string {
	if len(t.Fields()) == 0 {
		return fmt.Sprintf("%s, %s, has no field %s", t.path, article(t.Kind().String()), name)
	}
	said := fmt.Sprintf("%s %s has no field %s", c.kind.GVK.Kind, c.kind.GVK.Version, below(t.path, name))
	if near := schema.Suggest(name, t.Fields()); near != "" {
		return said + "; did you mean " + below(t.path, near) + "?"
	}
	if root := s.vars["$"]; t.path != "" && root.path == "" && slices.Contains(root.Fields(), name) {
		return said + "; did you mean $." + name + "?"
	}
	return said
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func (c *checker) fail(n parse.Node, text string) {
	if c.from.File != "" {
		text += " (called from " + c.from.String() + ")"
	}
	c.errs = append(c.errs, &template.Error{Place: c.kind.Templates.Place(c.tree, n), Err: errors.New(text)})
}
