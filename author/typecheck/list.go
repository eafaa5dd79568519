package typecheck

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

const nilKind = signature.Nil

func (w *path) list(l *parse.ListNode) signal {
	if l == nil {
		return goOn
	}
	for i, n := range l.Nodes {
		if w.steps++; w.steps > mostSteps || w.heavy() {
			w.over = true
			return stops
		}
		if s := w.node(n); s != goOn {
			if s == stops && !w.over {
				w.after(l.Nodes[i+1:])
			}
			return s
		}
	}
	return goOn
}

// after finds what stands behind the end of a path, if that end is always come
// to.
func (w *path) after(rest []parse.Node) {
	if w.frame.stopped == nil {
		return
	}
	for _, n := range rest {
		if text, ok := n.(*parse.TextNode); ok && blank(text.Text) {
			continue
		}
		if _, ok := n.(*parse.CommentNode); ok {
			continue
		}
		w.find(Unreachable, n, fmt.Sprintf("this is never reached: %s ends the file before it", w.frame.stopped))
		break
	}
	w.frame.stopped = nil
}

func (w *path) node(node parse.Node) signal {
	switch n := node.(type) {
	case *parse.TextNode:
		w.broken(n, w.sketch.Text(w.frame.tree, n))
	case *parse.ActionNode:
		return w.action(n)
	case *parse.IfNode:
		return w.branch(&n.BranchNode, n, false)
	case *parse.WithNode:
		return w.branch(&n.BranchNode, n, true)
	case *parse.RangeNode:
		return w.rangeOver(n)
	case *parse.TemplateNode:
		return w.template(n)
	case *parse.BreakNode:
		return breaks
	case *parse.ContinueNode:
		return continues
	}
	return goOn
}

func (w *path) action(n *parse.ActionNode) signal {
	w.asking = len(n.Pipe.Decl) > 0
	v := w.pipe(n.Pipe)
	w.asking = false
	switch {
	case w.ends != "" || w.over:
		if fn, ok := n.Pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && (fn.Ident == "fail" || fn.Ident == "wait") {
			w.frame.stopped = fn
		}
		return stops
	case len(n.Pipe.Decl) == 0:
		w.print(n, v)
	default:
		w.set(n.Pipe, v)
	}
	return goOn
}

// set gives a variable its value.
func (w *path) set(p *parse.PipeNode, v *val) {
	name := p.Decl[0].Ident[0]
	if !p.IsAssign {
		w.declare(p.Decl[0], v)
		return
	}
	x := w.frame.lookup(name)
	if x == nil {
		return
	}
	if w.frame.loop[name] {
		w.sum(sumKey{x.decl, w.frame.site}, v)
	}
	set := *w.asked(v)
	set.way = true
	x.v = &set
}

func (w *path) declare(n *parse.VariableNode, v *val) {
	if w.frame.loop[n.Ident[0]] {
		w.sum(sumKey{n, w.frame.site}, v)
	}
	w.see(n, 0, v)
	w.frame.vars = append(w.frame.vars, variable{n.Ident[0], w.asked(v), n})
}

// asked is the value of a variable, with a name by which what branches say of
// it is known.
func (w *path) asked(v *val) *val {
	if v.id != "" || v.known || v.piece != nil {
		return v
	}
	out := *v
	w.counter++
	out.id = fmt.Sprintf("variable%d", w.counter)
	return &out
}

// branch walks one side of if or with.
func (w *path) branch(n *parse.BranchNode, at parse.Node, with bool) signal {
	return w.scoped(func() signal {
		w.asking = true
		v := w.pipe(n.Pipe)
		w.asking = false
		if w.ends != "" || w.over {
			return stops
		}
		w.falsyBranch(n.Pipe, v, with)
		if len(n.Pipe.Decl) > 0 {
			w.declare(n.Pipe.Decl[0], v)
		}
		thenEnds, elseEnds := w.finishes(n.List), w.finishes(n.ElseList)
		prefer := holds
		if thenEnds && !elseEnds {
			prefer = fails
		}
		yes, no := v.truth()
		s := w.decide(w.fork(at), yes, no, w.preferSide(n, prefer))
		w.mind(n, at, v)
		before := w.facts.mark()
		w.assume(n.Pipe, v, s == holds)
		within := w.enterSide(w.fork(at), s)
		sig := w.side(n, v, s, with)
		necessary := s == holds && elseEnds || s == fails && thenEnds
		w.leave(before, necessary)
		if !necessary {
			w.enclosing = w.enclosing[:within]
		}
		return sig
	})
}

func (w *path) side(n *parse.BranchNode, v *val, s outcome, with bool) signal {
	if s == fails {
		return w.scoped(func() signal { return w.list(n.ElseList) })
	}
	if !with {
		return w.scoped(func() signal { return w.list(n.List) })
	}
	dot, f := w.frame.dot, w.frame
	there := *v
	there.can &^= nilKind
	w.frame.dot = &there
	sig := w.scoped(func() signal { return w.list(n.List) })
	f.dot = dot
	return sig
}

// finishes reports whether a list always ends the path, or this turn.
func (w *path) finishes(l *parse.ListNode) bool {
	if l == nil {
		return false
	}
	for _, node := range l.Nodes {
		switch n := node.(type) {
		case *parse.BreakNode, *parse.ContinueNode:
			return true
		case *parse.ActionNode:
			if fn, ok := n.Pipe.Cmds[len(n.Pipe.Cmds)-1].Args[0].(*parse.IdentifierNode); ok && (fn.Ident == "fail" || fn.Ident == "wait") {
				return true
			}
		case *parse.IfNode:
			if w.finishes(n.List) && w.finishes(n.ElseList) {
				return true
			}
		case *parse.WithNode:
			if w.finishes(n.List) && w.finishes(n.ElseList) {
				return true
			}
		}
	}
	return false
}

// broken says what is wrong with the text.
func (w *path) broken(n parse.Node, err error) {
	if err != nil {
		w.syntax(err, w.frame.called)
	}
}

func blank(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
