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

// fieldUse returns the use of a field, and makes it if it is not there.
func (u *use) fieldUse(name string) *use {
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

// itemUse returns the use of the items, and makes it if it is not there.
func (u *use) itemUse() *use {
	if u.items == nil {
		u.items = &use{path: u.path, beyond: true}
	}
	return u.items
}

// useAt returns the use of a field by its name and by loops over all fields, or nil if there is
// none. whole is true if the map is taken as it is.
func (u *use) useAt(name string, whole bool) *use {
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
		u.fieldUse(name).add(below)
	}
	if o.items != nil {
		u.itemUse().add(o.items)
	}
}

// findUses finds out what the templates that were carried over read of the spec.
func (v *conversion) findUses() (*use, error) {
	root := &use{}
	w := &reader{trees: v.parseResults(), seen: map[string]bool{}}
	for _, name := range sortedKeys(w.trees) {
		if strings.HasPrefix(name, "file ") {
			w.readTree(w.trees[name], held{uses: []*use{root}})
		}
	}
	return root.fieldUse("spec"), nil
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
			v.texts[cmd] = v.texts[cmd].joinHeld(args[0])
		}
	}}
	for _, s := range v.sources {
		if !s.left && !s.isPartial() {
			w.readTree(s.tree, held{fields: map[string]held{"Values": {uses: []*use{{}}}}})
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

// withDot returns the extent with another dot and a copy of its variables.
func (e extent) withDot(dot held) extent {
	vars := make(map[string]held, len(e.vars))
	for name, h := range e.vars {
		vars[name] = h
	}
	return extent{dot, vars}
}

// readTree reads a template with a dot.
func (w *reader) readTree(tree *parse.Tree, dot held) {
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
			h := w.readPipe(n.Pipe, e)
			if len(n.Pipe.Decl) == 0 {
				h.markWhole()
			}
		case *parse.IfNode:
			inner := e.withDot(e.dot)
			w.readPipe(n.Pipe, inner).markTested()
			w.readBoth(&n.BranchNode, inner, e.dot)
		case *parse.WithNode:
			inner := e.withDot(e.dot)
			h := w.readPipe(n.Pipe, inner)
			h.markTested()
			w.readBoth(&n.BranchNode, inner, h)
		case *parse.RangeNode:
			inner := e.withDot(e.dot)
			item := w.readPipe(n.Pipe, inner).itemOf()
			for i, d := range n.Pipe.Decl {
				inner.vars[d.Ident[0]] = held{}
				if i == len(n.Pipe.Decl)-1 {
					inner.vars[d.Ident[0]] = item
				}
			}
			w.readBoth(&n.BranchNode, inner, item)
		case *parse.TemplateNode:
			w.readDefine(n.Name, w.readPipe(n.Pipe, e))
		}
	}
}

// readBoth reads both lists of a branch. The values that one list sets for outer variables are kept
// in addition to the earlier ones.
func (w *reader) readBoth(n *parse.BranchNode, e extent, dot held) {
	w.list(n.List, extent{dot, e.vars})
	w.list(n.ElseList, e)
}

// readDefine reads a define once for each dot.
func (w *reader) readDefine(name string, dot held) held {
	if key := name + " " + dot.String(); !w.seen[key] {
		w.seen[key] = true
		w.readTree(w.trees[name], dot)
	}
	return held{}
}

// readPipe returns what a pipeline holds.
func (w *reader) readPipe(p *parse.PipeNode, e extent) held {
	var h held
	if p == nil {
		return h
	}
	for i, cmd := range p.Cmds {
		var args []held
		for _, a := range cmd.Args {
			args = append(args, w.readOperand(a, e))
		}
		if i > 0 {
			args = append(args, h)
		}
		h = w.readCommand(cmd, args)
	}
	for _, d := range p.Decl {
		e.vars[d.Ident[0]] = h
		if p.IsAssign {
			e.vars[d.Ident[0]] = h.joinHeld(e.vars[d.Ident[0]])
		}
	}
	return h
}

// readOperand returns what an operand holds.
func (w *reader) readOperand(node parse.Node, e extent) held {
	switch n := node.(type) {
	case *parse.DotNode:
		return e.dot
	case *parse.FieldNode:
		return followNames(e.dot, n.Ident)
	case *parse.VariableNode:
		return followNames(e.vars[n.Ident[0]], n.Ident[1:])
	case *parse.ChainNode:
		return followNames(w.readOperand(n.Node, e), n.Field)
	case *parse.PipeNode:
		return w.readPipe(n, e)
	}
	return held{}
}

// followNames returns what a chain of fields leads to.
func followNames(h held, names []string) held {
	for _, name := range names {
		h = h.fieldOf(name)
	}
	return h
}
