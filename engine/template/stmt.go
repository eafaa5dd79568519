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

type rangeStmt struct {
	at         pos
	over       expr
	key, value int // slots, or -1
	body, none block
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

func (c *compiler) rangeOver(n *parse.BranchNode) stmt {
	s := &rangeStmt{at: c.at(n.Pipe), key: -1, value: -1}
	c.scoped(func() {
		s.over = c.pipe(n.Pipe)
		switch len(n.Pipe.Decl) {
		case 1:
			s.value = c.target(n.Pipe, 0)
		case 2:
			s.key = c.target(n.Pipe, 0)
			s.value = c.target(n.Pipe, 1)
		}
		c.scoped(func() { s.body = c.list(n.List) })
		c.scoped(func() { s.none = c.list(n.ElseList) })
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

func (s *rangeStmt) run(x *exec) (signal, error) {
	over, err := x.value(s.at, s.over)
	if err != nil {
		return goOn, err
	}
	plain, err := x.plain(over)
	if err != nil {
		return goOn, s.at.wrap(err)
	}
	n, item := items(plain)
	switch {
	case plain == nil:
		return s.none.run(x)
	case item == nil:
		return goOn, s.at.errorf("range needs a list, a map or a whole number, not %s", describe(plain))
	}
	if secret, ok := over.(*sealed); ok {
		if _, number := plain.(int64); number {
			return goOn, s.at.errorf("range over a number that was read from a Secret would show the number")
		}
		open := item
		item = func(i int) (any, any) { return secret.entry(open(i)) }
	}
	return s.each(x, n, item)
}

// items gives the number of a value's items and what gives each; nil if the
// value has none.
func items(v any) (n int, item func(int) (key, value any)) {
	switch v := v.(type) {
	case int64:
		return int(max(v, 0)), func(i int) (any, any) { return int64(i), int64(i) }
	case []any:
		return len(v), func(i int) (any, any) { return int64(i), v[i] }
	case map[string]any:
		keys := sortedKeys(v)
		return len(keys), func(i int) (any, any) { return keys[i], v[keys[i]] }
	}
	return 0, nil
}

// each runs the body n times; one iteration is one step of the budget.
func (s *rangeStmt) each(x *exec, n int, item func(int) (key, value any)) (signal, error) {
	if n == 0 {
		return s.none.run(x)
	}
	dot := x.dot
	defer func() { x.dot = dot }()
	for i := range n {
		if err := x.step(s.at); err != nil {
			return goOn, err
		}
		k, v := item(i)
		if s.key >= 0 {
			x.vars[s.key] = k
		}
		if s.value >= 0 {
			x.vars[s.value] = v
		}
		x.dot = v
		sig, err := s.body.run(x)
		if err != nil {
			return goOn, err
		}
		if sig == breakLoop {
			break
		}
	}
	return goOn, nil
}
