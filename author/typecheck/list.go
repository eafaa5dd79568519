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
		if w.steps++; w.steps > mostSteps || w.isOverworked() {
			w.over = true
			return stops
		}
		if s := w.walkNode(n); s != goOn {
			if s == stops && !w.over {
				w.reportAfterEnd(l.Nodes[i+1:])
			}
			return s
		}
	}
	return goOn
}

// reportAfterEnd adds a finding for what stands behind the end of a path that is always reached.
func (w *path) reportAfterEnd(rest []parse.Node) {
	if w.frame.stopped == nil {
		return
	}
	for _, n := range rest {
		if text, ok := n.(*parse.TextNode); ok && isBlank(text.Text) {
			continue
		}
		if _, ok := n.(*parse.CommentNode); ok {
			continue
		}
		w.addFinding(Unreachable, n, fmt.Sprintf("this is never reached: %s ends the file before it", w.frame.stopped))
		break
	}
	w.frame.stopped = nil
}

// walkNode walks one statement.
func (w *path) walkNode(node parse.Node) signal {
	switch n := node.(type) {
	case *parse.TextNode:
		w.reportBroken(n, w.sketch.Text(w.frame.tree, n))
	case *parse.ActionNode:
		return w.walkAction(n)
	case *parse.IfNode:
		return w.walkBranch(&n.BranchNode, n, false)
	case *parse.WithNode:
		return w.walkBranch(&n.BranchNode, n, true)
	case *parse.RangeNode:
		return w.rangeOver(n)
	case *parse.TemplateNode:
		return w.walkTemplate(n)
	case *parse.BreakNode:
		return breaks
	case *parse.ContinueNode:
		return continues
	}
	return goOn
}

// walkAction walks an action: it sets a variable or prints a value.
func (w *path) walkAction(n *parse.ActionNode) signal {
	w.asking = len(n.Pipe.Decl) > 0
	v := w.evalPipe(n.Pipe)
	w.asking = false
	switch {
	case w.ends != "" || w.over:
		if fn, ok := n.Pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && (fn.Ident == "fail" || fn.Ident == "wait") {
			w.frame.stopped = fn
		}
		return stops
	case len(n.Pipe.Decl) == 0:
		w.printValue(n, v)
	default:
		w.set(n.Pipe, v)
	}
	return goOn
}

// set gives a variable its value.
func (w *path) set(p *parse.PipeNode, v *val) {
	name := p.Decl[0].Ident[0]
	if !p.IsAssign {
		w.declareVariable(p.Decl[0], v)
		return
	}
	x := w.frame.findVariable(name)
	if x == nil {
		return
	}
	if w.frame.loop[name] {
		w.joinSum(sumKey{x.decl, w.frame.site}, v)
	}
	set := *w.nameVariable(v)
	set.way = true
	x.v = &set
}

// declareVariable declares a variable with its value.
func (w *path) declareVariable(n *parse.VariableNode, v *val) {
	if w.frame.loop[n.Ident[0]] {
		w.joinSum(sumKey{n, w.frame.site}, v)
	}
	w.showNode(n, 0, v)
	w.frame.vars = append(w.frame.vars, variable{n.Ident[0], w.nameVariable(v), n})
}

// nameVariable returns the value of a variable with a name. Facts from branches are recorded under
// the name.
func (w *path) nameVariable(v *val) *val {
	if v.id != "" || v.known || v.piece != nil {
		return v
	}
	out := *v
	w.counter++
	out.id = fmt.Sprintf("variable%d", w.counter)
	return &out
}

// walkBranch walks one side of if or with.
func (w *path) walkBranch(n *parse.BranchNode, at parse.Node, with bool) signal {
	return w.walkScoped(func() signal {
		w.asking = true
		v := w.evalPipe(n.Pipe)
		w.asking = false
		if w.ends != "" || w.over {
			return stops
		}
		w.falsyBranch(n.Pipe, v, with)
		if len(n.Pipe.Decl) > 0 {
			w.declareVariable(n.Pipe.Decl[0], v)
		}
		thenEnds, elseEnds := w.alwaysEnds(n.List), w.alwaysEnds(n.ElseList)
		prefer := holds
		if thenEnds && !elseEnds {
			prefer = fails
		}
		yes, no := v.possibleTruth()
		s := w.decideSide(w.forkAt(at), yes, no, w.preferSide(n, prefer))
		w.recordSides(n, at, v)
		before := w.facts.currentMark()
		w.assumeCondition(n.Pipe, v, s == holds)
		within := w.enterSide(w.forkAt(at), s)
		sig := w.walkSide(n, v, s, with)
		necessary := s == holds && elseEnds || s == fails && thenEnds
		w.leaveBranch(before, necessary)
		if !necessary {
			w.enclosing = w.enclosing[:within]
		}
		return sig
	})
}

// walkSide walks the side of a branch that was decided.
func (w *path) walkSide(n *parse.BranchNode, v *val, s outcome, with bool) signal {
	if s == fails {
		return w.walkScoped(func() signal { return w.list(n.ElseList) })
	}
	if !with {
		return w.walkScoped(func() signal { return w.list(n.List) })
	}
	dot, f := w.frame.dot, w.frame
	there := *v
	there.can &^= nilKind
	w.frame.dot = &there
	sig := w.walkScoped(func() signal { return w.list(n.List) })
	f.dot = dot
	return sig
}

// alwaysEnds reports whether a list always ends the path, or this turn.
func (w *path) alwaysEnds(l *parse.ListNode) bool {
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
			if w.alwaysEnds(n.List) && w.alwaysEnds(n.ElseList) {
				return true
			}
		case *parse.WithNode:
			if w.alwaysEnds(n.List) && w.alwaysEnds(n.ElseList) {
				return true
			}
		}
	}
	return false
}

// reportBroken adds a finding if the printed text is not valid.
func (w *path) reportBroken(n parse.Node, err error) {
	if err != nil {
		w.reportSyntax(err, w.frame.called)
	}
}

// isBlank reports whether a text consists of blanks.
func isBlank(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
