package template

import "text/template/parse"

type rangeStmt struct {
	at         pos
	over       expr
	key, value int // slots, or -1
	body, none block
}

// compileRange compiles a range.
func (c *compiler) compileRange(n *parse.BranchNode) stmt {
	s := &rangeStmt{at: c.posOf(n.Pipe), key: -1, value: -1}
	c.compileScope(func() {
		s.over = c.compilePipe(n.Pipe)
		switch len(n.Pipe.Decl) {
		case 1:
			s.value = c.targetSlot(n.Pipe, 0)
		case 2:
			s.key = c.targetSlot(n.Pipe, 0)
			s.value = c.targetSlot(n.Pipe, 1)
		}
		c.compileScope(func() { s.body = c.compileList(n.List) })
		c.compileScope(func() { s.none = c.compileList(n.ElseList) })
	})
	return s
}

func (s *rangeStmt) run(x *exec) (signal, error) {
	over, err := x.evalStep(s.at, s.over)
	if err != nil {
		return goOn, err
	}
	var plain any
	if c, is := over.(*carrier); is {
		plain = c.value
	} else if plain, err = x.toPlain(over); err != nil {
		return goOn, s.at.wrapError(err)
	}
	n, item := itemsOf(plain)
	switch {
	case item == nil && plain != nil:
		return goOn, s.at.errorAt("range needs a list, a map or a whole number, not %s", describeType(plain))
	}
	if secret, ok := over.(*sealed); ok {
		if _, number := plain.(int64); number {
			return goOn, s.at.errorAt("range over a number that was read from a Secret would show the number")
		}
		open := item
		item = func(i int) (any, any) { return secret.entryOf(open(i)) }
	}
	if x.tracer == nil {
		return s.runItems(x, n, item)
	}
	leave := x.tracer.EnterBranch(s.at.toPlace(), n > 0, describeAnswer(over), n)
	sig, err := s.runItems(x, n, item)
	if err == nil {
		leave()
	}
	return sig, err
}

// itemsOf returns the number of a value's items and what gives each, or nil if the value has none.
func itemsOf(v any) (n int, item func(int) (key, value any)) {
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

// runItems runs the body n times. One iteration is one step of the budget.
func (s *rangeStmt) runItems(x *exec, n int, item func(int) (key, value any)) (signal, error) {
	if n == 0 {
		return s.none.run(x)
	}
	dot := x.dot
	defer func() { x.dot = dot }()
	for i := range n {
		if err := x.takeStep(s.at); err != nil {
			return goOn, err
		}
		if x.tracer != nil {
			x.tracer.NextItem(i)
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
