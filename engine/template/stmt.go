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

func (c *compiler) list(n *parse.ListNode) block {
	if n == nil {
		return nil
	}
	var b block
	for _, node := range n.Nodes {
		if s := c.stmt(node); s != nil {
			b = append(b, s)
		}
	}
	return b
}

func (c *compiler) stmt(node parse.Node) stmt {
	switch n := node.(type) {
	case *parse.TextNode:
		return &textStmt{at: c.at(n), text: string(n.Text)}
	case *parse.ActionNode:
		return c.action(n)
	case *parse.IfNode:
		return c.branch(&n.BranchNode, false)
	case *parse.WithNode:
		return c.branch(&n.BranchNode, true)
	case *parse.RangeNode:
		return c.rangeOver(&n.BranchNode)
	case *parse.TemplateNode:
		return c.template(n)
	case *parse.BreakNode:
		return signalStmt(breakLoop)
	case *parse.ContinueNode:
		return signalStmt(continueLoop)
	case *parse.CommentNode:
		return nil
	}
	c.fail(node, "this cannot stand in a template")
	return nil
}

func (c *compiler) action(n *parse.ActionNode) stmt {
	value := c.pipe(n.Pipe)
	if len(n.Pipe.Decl) == 0 {
		return &printStmt{at: c.at(n.Pipe), value: value}
	}
	c.checkLost(n.Pipe)
	return &assignStmt{at: c.at(n.Pipe), slot: c.target(n.Pipe, 0), value: value}
}

// target is the slot of the i-th variable that a pipeline sets.
func (c *compiler) target(p *parse.PipeNode, i int) int {
	name := p.Decl[i].Ident[0]
	if len(p.Cmds) != 1 || !c.asItStands(p.Cmds[0]) {
		c.made[name] = true
	}
	if p.IsAssign {
		return c.slot(name)
	}
	return c.declareVar(name)
}

func (c *compiler) branch(n *parse.BranchNode, with bool) stmt {
	s := &ifStmt{at: c.at(n.Pipe), with: with, slot: -1}
	c.scoped(func() {
		s.cond = c.pipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			s.slot = c.target(n.Pipe, 0)
		}
		c.scoped(func() { s.then = c.list(n.List) })
		c.scoped(func() { s.orElse = c.list(n.ElseList) })
	})
	return s
}

func (c *compiler) template(n *parse.TemplateNode) stmt {
	called := c.set.defines[n.Name]
	if called == nil {
		c.noTemplate(n, n.Name)
		return nil
	}
	c.into.calls = append(c.into.calls, called)
	s := &callStmt{at: c.at(n), call: called, arg: constant{}}
	if n.Pipe != nil {
		s.arg = c.pipe(n.Pipe)
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
	return goOn, x.emit(s.at, s.text)
}

func (s *printStmt) run(x *exec) (signal, error) {
	v, err := x.value(s.at, s.value)
	if err != nil {
		return goOn, err
	}
	return goOn, x.print(s.at, v)
}

func (s *assignStmt) run(x *exec) (signal, error) {
	v, err := x.value(s.at, s.value)
	if err != nil {
		return goOn, err
	}
	x.vars[s.slot] = v
	return goOn, nil
}

func (s *ifStmt) run(x *exec) (signal, error) {
	v, err := x.value(s.at, s.cond)
	if err != nil {
		return goOn, err
	}
	if s.slot >= 0 {
		x.vars[s.slot] = v
	}
	holds, err := x.truth(v)
	if err != nil {
		return goOn, s.at.wrap(err)
	}
	if x.tracer == nil {
		return s.choose(x, v, holds)
	}
	leave := x.tracer.EnterBranch(s.at.place(), holds, describeAnswer(v), 0)
	sig, err := s.choose(x, v, holds)
	if err == nil {
		leave()
	}
	return sig, err
}

// choose runs one of the two lists.
func (s *ifStmt) choose(x *exec, v any, holds bool) (signal, error) {
	if !holds {
		return s.orElse.run(x)
	}
	if !s.with {
		return s.then.run(x)
	}
	defer x.enter(v)()
	return s.then.run(x)
}

func (s *callStmt) run(x *exec) (signal, error) {
	arg, err := x.value(s.at, s.arg)
	if err != nil {
		return goOn, err
	}
	return goOn, x.call(s.at, s.call, arg)
}

func (s signalStmt) run(*exec) (signal, error) { return signal(s), nil }
