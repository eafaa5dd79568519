package template

import (
	"context"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/funcs"
)

// Limits bound one execution. Zero fields take the defaults.
type Limits struct {
	// Steps is the number of statements, function calls and iterations.
	Steps int
	// Depth is how deep templates may call each other.
	Depth int
	// Output is the largest skeleton of one file, in bytes.
	Output int
	// Functions bound what one function call may make.
	Functions funcs.Limits
}

// DefaultLimits are generous for people and small for bombs.
var DefaultLimits = Limits{Steps: 1_000_000, Depth: 64, Output: 4 << 20, Functions: funcs.DefaultLimits}

func (l Limits) withDefaults() Limits {
	if l.Steps == 0 {
		l.Steps = DefaultLimits.Steps
	}
	if l.Depth == 0 {
		l.Depth = DefaultLimits.Depth
	}
	if l.Output == 0 {
		l.Output = DefaultLimits.Output
	}
	if l.Functions == (funcs.Limits{}) {
		l.Functions = DefaultLimits.Functions
	}
	return l
}

// A World answers what templates ask about the cluster, from a snapshot. Its
// answers are nil, bool, int64, float64, string, []any and map[string]any and
// are not changed by templates.
type World interface {
	// HasAPI says whether the cluster serves a kind.
	HasAPI(apiVersion, kind string) (bool, error)
	// Children returns the live children that a file made, newest first.
	Children(file string) ([]any, error)
}

// exec is the state of one execution.
type exec struct {
	ctx   context.Context
	set   *Set
	world World
	dot   any
	vars  []any
	out   *output
	steps int
	depth int
	spent int // bytes printed so far, in all outputs
}

// Execute runs a file with dot as both `.` and `$` and returns its documents,
// values put in. It is a function of its arguments: the same ones give the
// same documents. ctx carries the deadline.
//
// Errors are an *Error around what is wrong: a *Wait, a *Failure, ErrBudget,
// or a mistake.
func (s *Set) Execute(ctx context.Context, name string, dot map[string]any, world World) ([]*Document, error) {
	r := s.files[name]
	if r == nil {
		return nil, fmt.Errorf("executing template: there is no file %q", name)
	}
	x := &exec{ctx: ctx, set: s, world: world, out: &output{}}
	if err := x.call(pos{r.src, 0}, r, dot); err != nil {
		return nil, err
	}
	return s.documents(r.src, x.out)
}

// call runs a routine with its own variables; `$` and `.` are its argument.
func (x *exec) call(at pos, r *routine, arg any) error {
	if x.depth++; x.depth > x.set.limits.Depth {
		return at.errorf("templates call each other more than %d deep: %w", x.set.limits.Depth, ErrBudget)
	}
	if err := x.step(at); err != nil {
		return err
	}
	vars, dot := x.vars, x.dot
	x.vars, x.dot = make([]any, max(r.slots, 1)), arg
	x.vars[0] = arg
	_, err := r.body.run(x)
	x.vars, x.dot = vars, dot
	x.depth--
	return err
}

// enter sets dot; the returned function sets it back.
func (x *exec) enter(dot any) func() {
	before := x.dot
	x.dot = dot
	return func() { x.dot = before }
}

// deadlineEvery is how many steps pass between two looks at the deadline.
const deadlineEvery = 256

// step takes one step of the budget.
func (x *exec) step(at pos) error {
	x.steps++
	if x.steps > x.set.limits.Steps {
		return at.errorf("the template takes more than %d steps: %w", x.set.limits.Steps, ErrBudget)
	}
	if x.steps%deadlineEvery == 0 && x.ctx.Err() != nil {
		return at.errorf("the template takes too long: %w", ErrBudget)
	}
	return nil
}

// value evaluates an expression as one step.
func (x *exec) value(at pos, e expr) (any, error) {
	if err := x.step(at); err != nil {
		return nil, err
	}
	v, err := e.eval(x)
	return v, at.wrap(err)
}

func (x *exec) args(at pos, exprs []expr) ([]any, error) {
	if err := x.step(at); err != nil {
		return nil, err
	}
	args := make([]any, len(exprs))
	for i, e := range exprs {
		v, err := e.eval(x)
		if err != nil {
			return nil, at.wrap(err)
		}
		args[i] = v
	}
	return args, nil
}

// truth is text/template's: nil, false, 0 and what is empty are false.
func (x *exec) truth(v any) bool {
	switch v := x.plain(v).(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// describe names the type of a value as an author knows it.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "a value"
}
