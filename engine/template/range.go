package template

import "text/template/parse"

type rangeStmt struct {
	at         pos
	over       expr
	key, value int // slots, or -1
	body, none block
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

func (s *rangeStmt) run(x *exec) (signal, error) {
	over, err := x.value(s.at, s.over)
	if err != nil {
		return goOn, err
	}
	var plain any
	if c, is := over.(*carrier); is {
		plain = c.value
	} else if plain, err = x.plain(over); err != nil {
		return goOn, s.at.wrap(err)
	}
	n, item := items(plain)
	switch {
	case item == nil && plain != nil:
		return goOn, s.at.errorf("range needs a list, a map or a whole number, not %s", describe(plain))
	}
	if secret, ok := over.(*sealed); ok {
		if _, number := plain.(int64); number {
			return goOn, s.at.errorf("range over a number that was read from a Secret would show the number")
		}
		open := item
		item = func(i int) (any, any) { return secret.entry(open(i)) }
	}
	if x.tracer == nil {
		return s.each(x, n, item)
	}
	leave := x.tracer.EnterBranch(s.at.place(), n > 0, describeAnswer(over), n)
	sig, err := s.each(x, n, item)
	if err == nil {
		leave()
	}
	return sig, err
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
