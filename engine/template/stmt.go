package template

import (
	"text/template/parse"
)

// A block is a compiled list of statements.
type block []stmt

// A stmt is one compiled statement.
type stmt interface {
	run(x *exec) (signal, error)
}

// A signal is how a statement ended.
type signal int

const (
	goOn signal = iota
	breakLoop
	continueLoop
)

type textStmt struct {
	at   pos
	text string
}

type printStmt struct {
	at    pos
	value expr
}

// assignStmt sets variables without printing: {{ $x := … }}.
type assignStmt struct {
	at    pos
	slot  int
	value expr
}

type ifStmt struct {
	at           pos
	cond         expr
	slot         int // of {{ if $x := … }}, or -1
	with         bool
	then, orElse block
}

type callStmt struct {
	at   pos
	call *routine
	arg  expr
}

type signalStmt signal

// compileList compiles a list of statements.
func (c *compiler) compileList(n *parse.ListNode) block {
	if n == nil {
		return nil
	}
	var b block
	for _, node := range n.Nodes {
		if s := c.compileStmt(node); s != nil {
			b = append(b, s)
		}
	}
	return b
}

// compileStmt compiles a statement.
func (c *compiler) compileStmt(node parse.Node) stmt {
	switch n := node.(type) {
	case *parse.TextNode:
		return &textStmt{at: c.posOf(n), text: string(n.Text)}
	case *parse.ActionNode:
		return c.compileAction(n)
	case *parse.IfNode:
		return c.compileBranch(&n.BranchNode, false)
	case *parse.WithNode:
		return c.compileBranch(&n.BranchNode, true)
	case *parse.RangeNode:
		return c.compileRange(&n.BranchNode)
	case *parse.TemplateNode:
		return c.compileTemplate(n)
	case *parse.BreakNode:
		return signalStmt(breakLoop)
	case *parse.ContinueNode:
		return signalStmt(continueLoop)
	case *parse.CommentNode:
		return nil
	}
	c.addError(node, "this cannot stand in a template")
	return nil
}

// compileAction compiles an action.
func (c *compiler) compileAction(n *parse.ActionNode) stmt {
	value := c.compilePipe(n.Pipe)
	if len(n.Pipe.Decl) == 0 {
		return &printStmt{at: c.posOf(n.Pipe), value: value}
	}
	c.checkLost(n.Pipe)
	return &assignStmt{at: c.posOf(n.Pipe), slot: c.targetSlot(n.Pipe, 0), value: value}
}

// targetSlot returns the slot of the i-th variable that a pipeline sets.
func (c *compiler) targetSlot(p *parse.PipeNode, i int) int {
	name := p.Decl[i].Ident[0]
	if len(p.Cmds) != 1 || !c.asItStands(p.Cmds[0]) {
		c.made[name] = true
	}
	if p.IsAssign {
		return c.slotOf(name)
	}
	return c.declareVar(name)
}

// compileBranch compiles an if or with.
func (c *compiler) compileBranch(n *parse.BranchNode, with bool) stmt {
	s := &ifStmt{at: c.posOf(n.Pipe), with: with, slot: -1}
	c.compileScope(func() {
		s.cond = c.compilePipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			s.slot = c.targetSlot(n.Pipe, 0)
		}
		c.compileScope(func() { s.then = c.compileList(n.List) })
		c.compileScope(func() { s.orElse = c.compileList(n.ElseList) })
	})
	return s
}

// compileTemplate compiles the call of a define.
func (c *compiler) compileTemplate(n *parse.TemplateNode) stmt {
	called := c.set.defines[n.Name]
	if called == nil {
		c.noTemplate(n, n.Name)
		return nil
	}
	c.into.calls = append(c.into.calls, called)
	s := &callStmt{at: c.posOf(n), call: called, arg: constant{}}
	if n.Pipe != nil {
		s.arg = c.compilePipe(n.Pipe)
	}
	return s
}

func (b block) run(x *exec) (signal, error) {
	for _, s := range b {
		sig, err := s.run(x)
		if err != nil || sig != goOn {
			return sig, err
		}
	}
	return goOn, nil
}

func (s *textStmt) run(x *exec) (signal, error) {
	return goOn, x.writeText(s.at, s.text)
}

func (s *printStmt) run(x *exec) (signal, error) {
	v, err := x.evalStep(s.at, s.value)
	if err != nil {
		return goOn, err
	}
	return goOn, x.printValue(s.at, v)
}

func (s *assignStmt) run(x *exec) (signal, error) {
	v, err := x.evalStep(s.at, s.value)
	if err != nil {
		return goOn, err
	}
	x.vars[s.slot] = v
	return goOn, nil
}

func (s *ifStmt) run(x *exec) (signal, error) {
	v, err := x.evalStep(s.at, s.cond)
	if err != nil {
		return goOn, err
	}
	if s.slot >= 0 {
		x.vars[s.slot] = v
	}
	holds, err := x.isTrue(v)
	if err != nil {
		return goOn, s.at.wrapError(err)
	}
	if x.tracer == nil {
		return s.runChosen(x, v, holds)
	}
	leave := x.tracer.EnterBranch(s.at.toPlace(), holds, describeAnswer(v), 0)
	sig, err := s.runChosen(x, v, holds)
	if err == nil {
		leave()
	}
	return sig, err
}

// runChosen runs one of the two lists.
func (s *ifStmt) runChosen(x *exec, v any, holds bool) (signal, error) {
	if !holds {
		return s.orElse.run(x)
	}
	if !s.with {
		return s.then.run(x)
	}
	defer x.setDot(v)()
	return s.then.run(x)
}

func (s *callStmt) run(x *exec) (signal, error) {
	arg, err := x.evalStep(s.at, s.arg)
	if err != nil {
		return goOn, err
	}
	return goOn, x.callRoutine(s.at, s.call, arg)
}

func (s signalStmt) run(*exec) (signal, error) { return signal(s), nil }
