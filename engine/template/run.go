package template

import (
	"fmt"
	"slices"
	"strconv"
)

// A Run is what one execution of a file came to, and the way that it took.
type Run struct {
	// File is the file's name without .yaml.
	File string
	// Steps are the branches that it came to, in the order of the first time.
	Steps []*Step
	// Documents are what it rendered; their Arms say by which branches.
	Documents []*Document
	// Err is why it rendered nothing: a *Wait, a *Failure or a mistake. Stopped
	// are then the branches that it was in, outermost first.
	Err     error
	Stopped []Arm
}

// A Step is one branch as an execution came to it, once or often: a body of a
// range that runs many times is one place of the way.
type Step struct {
	Branch *Branch
	// In is the step that this one lies in, or nil, and InTaken in which of its
	// two arms.
	In      *Step
	InTaken bool
	// Calls are where templates were called on the way from there to here.
	Calls []Place
	// Took and Left are how often it was taken and not taken.
	Took, Left int
	// Came is what the condition came to, each answer once and a few at most.
	// Of texts and of what was read from a Secret it says no more than that.
	Came []string

	arms [2]*site
}

// An Arm is one way through a branch.
type Arm struct {
	Step  *Step
	Taken bool
	// Item is which item of Items a range was at, from 1; 0 if it is none.
	Item, Items int
	Came        string
}

// A site is one place of the way: a body, or a template that was called there.
type site struct {
	in    *Step
	taken bool
	calls []Place
	steps map[*Branch]*Step
	below map[pos]*site
}

// A way is the arms that an execution is in, innermost first.
type way struct {
	arm Arm
	up  *way
}

// A track follows one execution; `at` is nil before it begins.
type track struct {
	steps []*Step
	at    *site
	way   *way
}

// Traced makes the Rendering remember what it does, and returns it.
func (r *Rendering) Traced() *Rendering {
	r.traced = true
	return r
}

// Runs are the executions of a traced Rendering so far.
func (r *Rendering) Runs() []*Run { return r.runs }

// keep remembers an execution that has ended.
func (r *Rendering) keep(x *exec, file string, docs []*Document, err error) {
	run := &Run{File: file, Steps: x.track.steps, Documents: docs, Err: err}
	if err != nil {
		run.Documents, run.Stopped = nil, x.track.way.arms()
	}
	r.runs = append(r.runs, run)
}

// mostAnswers bounds Step.Came.
const mostAnswers = 4

// enter goes into one arm of a branch whose condition came to v; n are the
// items of a range. After an error nobody leaves, so that the way stays.
func (t *track) enter(b *Branch, taken bool, v any, n int) (leave func()) {
	at, up := t.at, t.way
	s := at.steps[b]
	if s == nil {
		s = &Step{Branch: b, In: at.in, InTaken: at.taken, Calls: at.calls}
		s.arms = [2]*site{newSite(s, false, nil), newSite(s, true, nil)}
		at.steps[b] = s
		t.steps = append(t.steps, s)
	}
	came := answer(v)
	if !slices.Contains(s.Came, came) && len(s.Came) < mostAnswers {
		s.Came = append(s.Came, came)
	}
	t.at = s.arms[0]
	if taken {
		s.Took++
		t.at = s.arms[1]
	} else {
		s.Left++
	}
	t.way = &way{Arm{Step: s, Taken: taken, Items: n, Came: came}, up}
	return func() { t.at, t.way = at, up }
}

// item says that a range goes on to the i-th item, from 0.
func (t *track) item(i int) {
	next := *t.way // documents keep the way as it was
	next.arm.Item = i + 1
	t.way = &next
}

// call goes into a template.
func (t *track) call(from pos) (leave func()) {
	at := t.at
	if at == nil { // the file itself
		t.at = newSite(nil, false, nil)
		return func() {}
	}
	if at.below[from] == nil {
		at.below[from] = newSite(at.in, at.taken, append(slices.Clip(at.calls), from.place()))
	}
	t.at = at.below[from]
	return func() { t.at = at }
}

func newSite(in *Step, taken bool, calls []Place) *site {
	return &site{in: in, taken: taken, calls: calls, steps: map[*Branch]*Step{}, below: map[pos]*site{}}
}

// A passage says by which way the text from off on was written.
type passage struct {
	off int
	way *way
}

// passed remembers by which way the next text is written.
func (x *exec) passed() {
	if x.track != nil {
		x.out.passages = append(x.out.passages, passage{len(x.out.buf), x.track.way})
	}
}

// wayAt is the way by which the text at off was written.
func (o *output) wayAt(off int) *way {
	var found *way
	for _, p := range o.passages {
		if p.off > off+o.start {
			break
		}
		found = p.way
	}
	return found
}

// Arms are the branches by which a traced execution came to the document,
// outermost first.
func (d *Document) Arms() []Arm {
	return d.out.wayAt(d.out.offset(d.root.line, d.root.column)).arms()
}

// arms are the arms of a way, outermost first.
func (w *way) arms() []Arm {
	var all []Arm
	for ; w != nil; w = w.up {
		all = append(all, w.arm)
	}
	slices.Reverse(all)
	return all
}

// answer says what a condition came to without showing what may be secret.
func answer(v any) string {
	v, secret := unseal(v)
	if f, ok := v.(*fragment); ok {
		secret = f.sealed
		v = f.text
	}
	switch p := v.(type) {
	case *carrier:
		v = p.value
	case *encoded:
		v = p.value
	case quoted:
		v = p.text
	}
	if secret {
		return "a value of a Secret"
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64, float64:
		return fmt.Sprint(v)
	case string:
		if v == "" {
			return "an empty string"
		}
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		if len(v) == 0 {
			return "an empty map"
		}
		return fmt.Sprintf("a map of %d", len(v))
	}
	return describe(v)
}
