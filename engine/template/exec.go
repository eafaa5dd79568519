package template

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"
)

// A World answers what templates ask about the cluster, from a snapshot. Its
// answers are nil, bool, int64, float64, string, []any and map[string]any and
// are not changed by templates.
type World interface {
	// HasAPI reports whether the cluster serves a kind.
	HasAPI(apiVersion, kind string) (bool, error)
	// Children returns the live children that a file made, newest first.
	Children(file string) ([]any, error)
	// Await returns the newest child that a file made, and what is waited for until
	// all objects of these documents, which the file renders now, are applied and
	// ready: "" once they are. The documents are its own to change.
	Await(file string, documents []*Document) (child any, waits string, err error)
	// Lookup returns one live object, or nil if there is none.
	Lookup(what Object) (any, error)
	// Select returns the live objects that a selector matches, by namespace
	// and name; Object.Name is empty.
	Select(what Object, selector labels.Selector) ([]any, error)
	// Config returns a setting of the installation, or nil.
	Config(key string) (any, error)
	// Stable returns data.<key> of the Secret that a file makes, drawn with
	// that many characters if there is none.
	Stable(file, key string, length int) (string, error)
}

// An Object says what a template reads. Namespace is empty for the resource's
// own and for cluster-scoped kinds.
type Object struct{ APIVersion, Kind, Namespace, Name string }

// exec is the state of one execution. Each bound and each
// secret that is met counts for the whole execution.
type exec struct {
	ctx   context.Context
	set   *Set
	world World
	// others knows what the other files render.
	others *Rendering
	dot    any
	vars   []any
	out    *output
	steps  int
	depth  int
	spent  int // bytes printed so far, in all outputs
	made   int // bytes of what was made so far, see charge
	// taint is the grade of the most secret value that text looked into.
	taint grade
	// tracer is nil if nobody follows the execution.
	tracer Tracer
}

// callRoutine runs a routine with its own variables. Both `$` and `.` are its argument.
func (x *exec) callRoutine(at pos, r *routine, arg any) error {
	if x.depth++; x.depth > x.set.limits.Depth {
		return at.errorAt("templates call each other more than %d deep: %w", x.set.limits.Depth, ErrBudget)
	}
	if err := x.takeStep(at); err != nil {
		return err
	}
	vars, dot := x.vars, x.dot
	x.vars, x.dot = make([]any, max(r.slots, 1)), arg
	x.vars[0] = arg
	err := r.runBody(x, at)
	x.vars, x.dot = vars, dot
	x.depth--
	return err
}

// runBody runs the body, and tells the tracer if there is one.
func (r *routine) runBody(x *exec, at pos) error {
	if x.tracer == nil {
		_, err := r.body.run(x)
		return err
	}
	leave := x.tracer.EnterCall(at.toPlace())
	_, err := r.body.run(x)
	if err == nil {
		leave()
	}
	return err
}

// setDot sets dot. The returned function sets it back.
func (x *exec) setDot(dot any) func() {
	before := x.dot
	x.dot = dot
	return func() { x.dot = before }
}

// evalStep evaluates an expression as one step.
func (x *exec) evalStep(at pos, e expr) (any, error) {
	if err := x.takeStep(at); err != nil {
		return nil, err
	}
	v, err := e.eval(x)
	return v, at.wrapError(err)
}

// evalArgs evaluates the arguments of a function as one step.
func (x *exec) evalArgs(at pos, exprs []expr) ([]any, error) {
	if err := x.takeStep(at); err != nil {
		return nil, err
	}
	args := make([]any, len(exprs))
	for i, e := range exprs {
		v, err := e.eval(x)
		if err != nil {
			return nil, at.wrapError(err)
		}
		args[i] = v
	}
	return args, nil
}

// isTrue reports whether a value is true, as text/template defines it: nil, false, 0 and what is
// empty are false.
func (x *exec) isTrue(v any) (bool, error) {
	if f, ok := v.(*fragment); ok && len(f.holes) == 1 && len(f.text) == holeSize {
		switch f.holes[0].value.(type) {
		case map[string]any, []any:
			return true, nil
		}
	}
	if _, is := v.(*carrier); is {
		return true, nil // there is at least the fragment
	}
	plain, err := x.toPlain(v)
	switch v := plain.(type) {
	case nil:
		return false, err
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case float64:
		return v != 0, nil
	case string:
		return v != "", nil
	case []any:
		return len(v) > 0, nil
	case map[string]any:
		return len(v) > 0, nil
	}
	return true, nil
}

// describeType names the type of a value as an author knows it.
func describeType(v any) string {
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
