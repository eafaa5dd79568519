package typecheck

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// rangeOver walks the body of a range once, or twice where it asks which turn
// it is or uses what the last turn set; or else what stands for no items.
func (w *path) rangeOver(n *parse.RangeNode) signal {
	return w.walkScoped(func() signal {
		w.asking = true
		over := w.evalPipe(n.Pipe)
		w.asking = false
		if w.ends != "" || w.over {
			return stops
		}
		if some := over.can &^ signature.Nil; some != 0 && some&(signature.List|signature.Map|signature.Int) == 0 {
			w.addFinding(NotAList, n.Pipe, fmt.Sprintf("range needs a list, a map or a whole number, and %s is %s", w.describeValue(n.Pipe, over),
				over.can&^nilKind))
			return goOn
		}
		if over.isSurely(signature.Map) {
			w.recordUse(n.Pipe, over, false) // every entry, by whatever name
		}
		yes, no := over.possibleTruth()
		prefer := holds
		if w.alwaysEnds(n.List) {
			prefer = fails
		}
		s := w.decideSide(w.forkAt(n), yes, no, w.preferSide(&n.BranchNode, prefer))
		w.recordSides(&n.BranchNode, n, over)
		within := w.enterSide(w.forkAt(n), s)
		defer func() { w.enclosing = w.enclosing[:within] }()
		before := w.facts.currentMark()
		w.assumeCondition(n.Pipe, over, s == holds)
		defer w.leaveLoop(before)
		if s == fails {
			return w.walkScoped(func() signal { return w.list(n.ElseList) })
		}
		return w.walkTurns(n, over)
	})
}

// walkTurns walks the body of a loop, a second time if turns may differ.
func (w *path) walkTurns(n *parse.RangeNode, over *val) signal {
	sets := setIn(n.List)
	turns := 1
	counts := over.counted || over.isSurely(signature.Int)
	if len(n.Pipe.Decl) == 2 && over.can&(signature.List|signature.Int) != 0 || len(sets) > 0 || counts {
		turns = 2
	}
	depth, dot := len(w.frame.vars), w.frame.dot
	defer func() { w.frame.vars, w.frame.dot = w.frame.vars[:depth], dot }()
	for i := range turns {
		w.frame.vars = w.frame.vars[:depth]
		if i > 0 {
			w.widenVariables(sets)
		}
		key, item := w.turnValues(over, i, turns)
		w.loopVars(n.Pipe, key, item)
		w.frame.dot = item
		switch s := w.list(n.List); s {
		case stops:
			return s
		case breaks:
			w.widenVariables(sets)
			return goOn
		}
	}
	w.widenVariables(sets)
	return goOn
}

// widenVariables gives variables that the body of a loop sets the values that any turn may have
// made of them.
func (w *path) widenVariables(sets map[string]bool) {
	for i := range w.frame.vars {
		x := &w.frame.vars[i]
		if sets[x.name] && w.frame.loop[x.name] {
			x.v = w.nameVariable(w.joinSum(sumKey{x.decl, w.frame.site}, x.v))
		}
	}
}

// turnValues returns the key and the item of one turn.
func (w *path) turnValues(over *val, i, turns int) (key, item *val) {
	w.counter++
	id := fmt.Sprintf("@%d", w.counter)
	switch {
	case over.isSurely(signature.Int) || over.counted:
		key = ofKinds(signature.Int)
		item = ofKinds(signature.Int)
		item.sources = over.sources
		least := float64(i)
		if i > 0 && over.counted {
			least = tiny // it may count down
		}
		item.least, item.way = &least, true
		if turns > 1 && i == 0 {
			item = constantValue(int64(0))
			item.way = true
		}
	case over.isSurely(signature.Map):
		key, item = ofKinds(signature.String), over.itemValue()
		key.shortest = 1
	case over.isSurely(signature.List):
		key, item = ofKinds(signature.Int), over.itemValue()
	default:
		key, item = ofKinds(signature.Int|signature.String), anyValue()
		item.sources = over.sources
	}
	if key.can&signature.Int != 0 {
		least := float64(i)
		key.least, key.way = &least, true
		if i == 0 && turns > 1 && key.can == signature.Int {
			key = constantValue(int64(0))
			key.way = true
		}
	}
	key.sources, key.keyOf = over.sources, over.holderName()
	if over.counted || over.isSurely(signature.Int) {
		item.keyOf = over.heldBy
	}
	if !item.known {
		item.id, item.parent = id, ""
	}
	return key, item
}

func (w *path) loopVars(p *parse.PipeNode, key, item *val) {
	switch len(p.Decl) {
	case 1:
		w.loopVar(p, p.Decl[0], item)
	case 2:
		w.loopVar(p, p.Decl[0], key)
		w.loopVar(p, p.Decl[1], item)
	}
}

func (w *path) loopVar(p *parse.PipeNode, n *parse.VariableNode, v *val) {
	w.showNode(n, 0, v)
	if !p.IsAssign {
		w.frame.vars = append(w.frame.vars, variable{n.Ident[0], v, n})
		return
	}
	if x := w.frame.findVariable(n.Ident[0]); x != nil {
		x.v = v
		if w.frame.loop[x.name] {
			w.joinSum(sumKey{x.decl, w.frame.site}, v)
		}
	}
}

// loopVars are the names of the variables that some range sets which does not
// declare them.
func loopVars(root *parse.ListNode) map[string]bool {
	all := map[string]bool{}
	visitStatements(root, func(n parse.Node) {
		if r, ok := n.(*parse.RangeNode); ok {
			for name := range setIn(r.List) {
				all[name] = true
			}
			if r.Pipe.IsAssign {
				for _, d := range r.Pipe.Decl {
					all[d.Ident[0]] = true
				}
			}
		}
	})
	return all
}

// setIn are the names of the variables that a list sets and does not declare.
func setIn(l *parse.ListNode) map[string]bool {
	set, declared := map[string]bool{}, map[string]bool{}
	visitStatements(l, func(n parse.Node) {
		p := pipeOf(n)
		if p == nil {
			return
		}
		for _, d := range p.Decl {
			switch {
			case !p.IsAssign:
				declared[d.Ident[0]] = true
			case !declared[d.Ident[0]]:
				set[d.Ident[0]] = true
			}
		}
	})
	return set
}

// pipeOf is the pipeline of a statement.
func pipeOf(n parse.Node) *parse.PipeNode {
	switch n := n.(type) {
	case *parse.ActionNode:
		return n.Pipe
	case *parse.IfNode:
		return n.Pipe
	case *parse.WithNode:
		return n.Pipe
	case *parse.RangeNode:
		return n.Pipe
	case *parse.TemplateNode:
		return n.Pipe
	}
	return nil
}

// visitStatements calls f for all statements, outer ones first.
func visitStatements(l *parse.ListNode, f func(parse.Node)) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		f(n)
		switch n := n.(type) {
		case *parse.IfNode:
			visitStatements(n.List, f)
			visitStatements(n.ElseList, f)
		case *parse.WithNode:
			visitStatements(n.List, f)
			visitStatements(n.ElseList, f)
		case *parse.RangeNode:
			visitStatements(n.List, f)
			visitStatements(n.ElseList, f)
		}
	}
}
