package template

import (
	"math"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// An expr is a compiled expression. Its value is nil, bool, int64, float64,
// string, []any, map[string]any, or something printable that keeps what it is
// (see printable.go).
type expr interface {
	eval(x *exec) (any, error)
}

type constant struct{ value any }

type dotExpr struct{}

type varExpr struct{ slot int }

// chainExpr reads fields: .a.b, $x.a.b, (f x).a.b. Reading never fails for
// absence.
type chainExpr struct {
	at     pos
	from   expr
	fields []string
}

// callExpr calls a pure function.
type callExpr struct {
	at   pos
	fn   *funcs.Func
	args []expr
	keep keeper // nil if it takes every argument for a value
}

// specialExpr calls a function that needs the execution itself.
type specialExpr struct {
	at   pos
	name string
	fn   special
	args []expr
}

// logicExpr is `and` or `or`: it evaluates no more than it needs.
type logicExpr struct {
	at   pos
	or   bool
	args []expr
}

// compilePipe compiles a pipeline.
func (c *compiler) compilePipe(p *parse.PipeNode) expr {
	var value expr
	for i, cmd := range p.Cmds {
		c.piped = nil
		if i == 1 {
			c.piped = p.Cmds[0]
		}
		value = c.compileCommand(cmd, value)
	}
	return value
}

// compileCommand compiles one command. piped, if any, becomes its last argument.
func (c *compiler) compileCommand(cmd *parse.CommandNode, piped expr) expr {
	first := cmd.Args[0]
	if fn, ok := first.(*parse.IdentifierNode); ok {
		return c.compileCall(fn, cmd.Args[1:], piped)
	}
	if len(cmd.Args) > 1 || piped != nil {
		if c.readsHelm(first) {
			return constant{}
		}
		c.addError(first, "%s is not a function and takes no arguments", first)
		return constant{}
	}
	return c.compileOperand(first)
}

// compileOperand compiles an operand.
func (c *compiler) compileOperand(node parse.Node) expr {
	switch n := node.(type) {
	case *parse.DotNode:
		return dotExpr{}
	case *parse.NilNode:
		return constant{}
	case *parse.BoolNode:
		return constant{n.True}
	case *parse.StringNode:
		return constant{n.Text}
	case *parse.NumberNode:
		return c.compileNumber(n)
	case *parse.FieldNode:
		return c.compileChain(n, dotExpr{}, n.Ident)
	case *parse.VariableNode:
		return c.compileChain(n, varExpr{c.slotOf(n.Ident[0])}, n.Ident[1:])
	case *parse.ChainNode:
		return c.compileChain(n, c.compileOperand(n.Node), n.Field)
	case *parse.PipeNode:
		return c.compilePipe(n)
	case *parse.IdentifierNode:
		return c.compileCall(n, nil, nil)
	}
	c.addError(node, "%s cannot stand here", node)
	return constant{}
}

// compileChain compiles the fields that are read of an expression.
func (c *compiler) compileChain(n parse.Node, from expr, fields []string) expr {
	if len(fields) == 0 {
		return from
	}
	c.readsHelm(n)
	return &chainExpr{at: c.posOf(n), from: from, fields: fields}
}

// compileNumber compiles a number.
func (c *compiler) compileNumber(n *parse.NumberNode) expr {
	switch {
	case n.IsInt:
		return constant{n.Int64}
	case n.IsFloat && !math.IsInf(n.Float64, 0) && !n.IsUint:
		return constant{n.Float64}
	}
	c.addError(n, "the number %s is too large", n.Text)
	return constant{}
}

// compileCall compiles the call of a function.
func (c *compiler) compileCall(n *parse.IdentifierNode, args []parse.Node, piped expr) expr {
	compiled := make([]expr, 0, len(args)+1)
	for _, a := range args {
		compiled = append(compiled, c.compileOperand(a))
	}
	if piped != nil {
		compiled = append(compiled, piped)
	}
	if n.Ident == "and" || n.Ident == "or" {
		if len(compiled) == 0 {
			c.addError(n, "%s needs at least one argument", n.Ident)
		}
		return &logicExpr{at: c.posOf(n), or: n.Ident == "or", args: compiled}
	}
	sp, pure := c.resolveFunction(n)
	switch {
	case sp.call != nil:
		c.checkArity(n, len(compiled), sp.min, sp.max)
		if sp.check != nil {
			sp.check(c, n, args)
		}
		return &specialExpr{at: c.posOf(n), name: n.Ident, fn: sp, args: compiled}
	case pure != nil:
		c.checkArity(n, len(compiled), pure.Min, pure.Max)
		return &callExpr{at: c.posOf(n), fn: pure, args: compiled, keep: keepers[n.Ident]}
	}
	return constant{}
}

// checkArity checks the number of arguments.
func (c *compiler) checkArity(n *parse.IdentifierNode, got, least, most int) {
	if got < least {
		c.addError(n, "%s needs at least %d arguments and has %d", n.Ident, least, got)
	}
	if most >= 0 && got > most {
		c.addError(n, "%s takes at most %d arguments and has %d", n.Ident, most, got)
	}
}

func (e constant) eval(*exec) (any, error)  { return e.value, nil }
func (e dotExpr) eval(x *exec) (any, error) { return x.dot, nil }
func (e varExpr) eval(x *exec) (any, error) { return x.vars[e.slot], nil }

func (e *chainExpr) eval(x *exec) (any, error) {
	v, err := e.from.eval(x)
	if err != nil {
		return nil, err
	}
	for _, name := range e.fields {
		if c, is := v.(*carrier); is {
			if m, is := c.value.(map[string]any); is {
				v = m[name]
				continue
			}
		}
		plain, err := x.toPlain(v)
		if err != nil {
			return nil, e.at.wrapError(err)
		}
		switch m := plain.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			if s, ok := v.(*sealed); ok {
				v = s.fieldOf(name)
			} else {
				v = m[name]
			}
		default:
			return nil, e.at.errorAt("%s has no field %s", describeType(m), name)
		}
	}
	return v, nil
}

func (e *logicExpr) eval(x *exec) (any, error) {
	var v any
	for _, a := range e.args {
		var err error
		if v, err = x.evalStep(e.at, a); err != nil {
			return nil, err
		}
		holds, err := x.isTrue(v)
		if err != nil || holds == e.or {
			return v, e.at.wrapError(err)
		}
	}
	return v, nil
}

func (e *callExpr) eval(x *exec) (any, error) {
	args, err := x.evalArgs(e.at, e.args)
	if err != nil {
		return nil, err
	}
	if e.keep != nil && keepsStructure(args) {
		if v, kept, err := e.keep(x, e, args); kept || err != nil {
			return v, e.at.wrapError(err)
		}
	}
	v, err := e.callPlainly(x, args)
	return v, e.at.wrapError(err)
}

// callPlainly calls the function with values.
func (e *callExpr) callPlainly(x *exec, given []any) (any, error) {
	before := x.taint
	x.taint = notSealed
	args := make([]any, len(given))
	var err error
	for i := range given {
		if args[i], err = x.toText(given[i]); err != nil {
			return nil, err
		}
	}
	v, err := e.fn.Call(args, x.set.limits.Functions)
	if err == nil {
		err = x.chargeResult(e.fn.Name, args, v)
	}
	if x.taint != notSealed {
		v = sealResult(e.fn.Name, len(args), x.taint, v)
	}
	x.taint = before
	return v, err
}

func (e *specialExpr) eval(x *exec) (any, error) {
	args, err := x.evalArgs(e.at, e.args)
	if err != nil {
		return nil, err
	}
	before := x.taint
	x.taint = notSealed
	v, err := e.fn.call(x, e.at, args)
	if x.taint != notSealed {
		v = sealValue(v, sealedText)
	}
	x.taint = before
	return v, e.at.wrapError(err)
}
