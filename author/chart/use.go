package chart

import (
	"slices"
	"strings"
	"text/template/parse"
)

// A use is what templates read of one value and of what is below it.
type use struct {
	// path is where the value is, without what only values tell: a list, or a
	// map whose keys are computed, ends it.
	path   []string
	beyond bool
	fields map[string]*use
	items  *use
	// whole: the value is taken as it is, with all that is in it; structured:
	// as a structure, with toYaml or the like.
	whole, structured bool
	// tested: something depends on whether it is there.
	tested bool
	// required: without it the resource is refused.
	required bool
}

func (u *use) field(name string) *use {
	if u.fields == nil {
		u.fields = map[string]*use{}
	}
	if u.fields[name] == nil {
		u.fields[name] = &use{path: u.path, beyond: u.beyond}
		if !u.beyond {
			u.fields[name].path = append(slices.Clone(u.path), name)
		}
	}
	return u.fields[name]
}

func (u *use) item() *use {
	if u.items == nil {
		u.items = &use{path: u.path, beyond: true}
	}
	return u.items
}

// at is the use of a field by its name, and by whatever goes over all fields;
// nil if there is none. whole: the map is taken as it is.
func (u *use) at(name string, whole bool) *use {
	named := u.fields[name]
	switch {
	case named == nil && u.items == nil && !whole:
		return nil
	case u.items == nil && !whole:
		return named
	}
	both := &use{whole: whole, structured: whole}
	for _, one := range []*use{named, u.items} {
		if one != nil {
			both.add(one)
		}
	}
	return both
}

// add adds what another use reads.
func (u *use) add(o *use) {
	u.whole, u.required = u.whole || o.whole, u.required || o.required
	u.structured, u.tested = u.structured || o.structured, u.tested || o.tested
	for name, below := range o.fields {
		u.field(name).add(below)
	}
	if o.items != nil {
		u.item().add(o.items)
	}
}

// uses finds out what the templates that were carried over read of the spec.
func (v *conversion) uses() (*use, error) {
	root := &use{}
	w := &reader{trees: v.resulting(), seen: map[string]bool{}}
	for _, name := range sortedKeys(w.trees) {
		if strings.HasPrefix(name, "file ") {
			w.text(w.trees[name], held{uses: []*use{root}})
		}
	}
	return root.field("spec"), nil
}

// readTexts finds out which values tpl is given, in the chart as it is.
func (v *conversion) readTexts() {
	trees := map[string]*parse.Tree{}
	for name, d := range v.defines {
		trees[name] = d.tree
	}
	v.texts = map[*parse.CommandNode]held{}
	w := &reader{trees: trees, seen: map[string]bool{}, see: func(cmd *parse.CommandNode, args []held) {
		if only := cmd.Args[0].(*parse.IdentifierNode); only.Ident == "tpl" && len(args) > 0 {
			v.texts[cmd] = v.texts[cmd].or(args[0])
		}
	}}
	for _, s := range v.sources {
		if !s.left && !s.partial() {
			w.text(s.tree, held{fields: map[string]held{"Values": {uses: []*use{{}}}}})
		}
	}
}

// A reader follows values through templates.
type reader struct {
	// see is told of calls, if it is there.
	see   func(cmd *parse.CommandNode, args []held)
	trees map[string]*parse.Tree
	seen  map[string]bool
}

// An extent is dot and the variables.
type extent struct {
	dot  held
	vars map[string]held
}

func (e extent) with(dot held) extent {
	vars := make(map[string]held, len(e.vars))
	for name, h := range e.vars {
		vars[name] = h
	}
	return extent{dot, vars}
}

func (w *reader) text(tree *parse.Tree, dot held) {
	if tree != nil {
		w.list(tree.Root, extent{dot, map[string]held{"$": dot}})
	}
}

func (w *reader) list(list *parse.ListNode, e extent) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			h := w.pipe(n.Pipe, e)
			if len(n.Pipe.Decl) == 0 {
				h.take()
			}
		case *parse.IfNode:
			inner := e.with(e.dot)
			w.pipe(n.Pipe, inner).test()
			w.both(&n.BranchNode, inner, e.dot)
		case *parse.WithNode:
			inner := e.with(e.dot)
			h := w.pipe(n.Pipe, inner)
			h.test()
			w.both(&n.BranchNode, inner, h)
		case *parse.RangeNode:
			inner := e.with(e.dot)
			item := w.pipe(n.Pipe, inner).item()
			for i, d := range n.Pipe.Decl {
				inner.vars[d.Ident[0]] = held{}
				if i == len(n.Pipe.Decl)-1 {
					inner.vars[d.Ident[0]] = item
				}
			}
			w.both(&n.BranchNode, inner, item)
		case *parse.TemplateNode:
			w.call(n.Name, w.pipe(n.Pipe, e))
		}
	}
}

// both reads both lists of a branch. What one sets of the variables around it
// is kept besides what they were.
func (w *reader) both(n *parse.BranchNode, e extent, dot held) {
	w.list(n.List, extent{dot, e.vars})
	w.list(n.ElseList, e)
}

func (w *reader) call(name string, dot held) held {
	if key := name + " " + dot.String(); !w.seen[key] {
		w.seen[key] = true
		w.text(w.trees[name], dot)
	}
	return held{}
}

func (w *reader) pipe(p *parse.PipeNode, e extent) held {
	var h held
	if p == nil {
		return h
	}
	for i, cmd := range p.Cmds {
		var args []held
		for _, a := range cmd.Args {
			args = append(args, w.operand(a, e))
		}
		if i > 0 {
			args = append(args, h)
		}
		h = w.command(cmd, args)
	}
	for _, d := range p.Decl {
		e.vars[d.Ident[0]] = h
		if p.IsAssign {
			e.vars[d.Ident[0]] = h.or(e.vars[d.Ident[0]])
		}
	}
	return h
}

func (w *reader) operand(node parse.Node, e extent) held {
	switch n := node.(type) {
	case *parse.DotNode:
		return e.dot
	case *parse.FieldNode:
		return follow(e.dot, n.Ident)
	case *parse.VariableNode:
		return follow(e.vars[n.Ident[0]], n.Ident[1:])
	case *parse.ChainNode:
		return follow(w.operand(n.Node, e), n.Field)
	case *parse.PipeNode:
		return w.pipe(n, e)
	}
	return held{}
}

func follow(h held, names []string) held {
	for _, name := range names {
		h = h.field(name)
	}
	return h
}
