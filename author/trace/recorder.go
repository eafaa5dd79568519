package trace

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Run is what one execution of a file came to, and the way that it took.
type Run struct {
	// File is the file's name without .yaml.
	File string
	// Steps are the branches that it came to, in the order of the first time.
	Steps []*Step
	// Documents are what it rendered; ArmsOf says by which branches.
	Documents []*template.Document
	// Err is why it rendered nothing: a *template.Wait, a *template.Failure or a
	// mistake. Stopped are then the branches that it was in, outermost first.
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
	Calls []template.Place
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

// ArmsOf returns the branches by which a recorded execution came to a document,
// outermost first.
func ArmsOf(d *template.Document) []Arm {
	w, _ := d.Way().(*way)
	return w.listArms()
}

// A Recorder records the executions of one rendering.
type Recorder struct {
	// Runs are the executions that have ended, in the order of their end.
	Runs     []*Run
	branches map[template.Place]*Branch
}

// NewRecorder makes a Recorder of what files of a set do.
func NewRecorder(set *template.Set, files []string) *Recorder {
	r := &Recorder{branches: map[template.Place]*Branch{}}
	for _, b := range Branches(set, files) {
		r.branches[b.Place] = b
	}
	return r
}

// Begin begins to record an execution of a file; it is for
// [template.Rendering.Trace].
func (r *Recorder) Begin(file string) template.Tracer {
	return &tracer{recorder: r, run: &Run{File: file}}
}

// A site is one place of the way: a body, or a template that was called there.
type site struct {
	in    *Step
	taken bool
	calls []template.Place
	steps map[*Branch]*Step
	below map[template.Place]*site
}

func newSite(in *Step, taken bool, calls []template.Place) *site {
	return &site{in: in, taken: taken, calls: calls, steps: map[*Branch]*Step{}, below: map[template.Place]*site{}}
}

// A way is the arms that an execution is in, innermost first.
type way struct {
	arm Arm
	up  *way
}

// listArms lists the arms of a way, outermost first.
func (w *way) listArms() []Arm {
	var all []Arm
	for ; w != nil; w = w.up {
		all = append(all, w.arm)
	}
	slices.Reverse(all)
	return all
}

// A tracer records one execution; at is nil before it begins.
type tracer struct {
	recorder *Recorder
	run      *Run
	at       *site
	way      *way
}

var _ template.Tracer = (*tracer)(nil)

// mostAnswers bounds Step.Came.
const mostAnswers = 4

// EnterBranch enters one arm of a branch. After an error nobody leaves, so that the
// way stays.
func (t *tracer) EnterBranch(place template.Place, taken bool, came string, items int) (leave func()) {
	at, up, b := t.at, t.way, t.recorder.branches[place]
	s := at.steps[b]
	if s == nil {
		s = &Step{Branch: b, In: at.in, InTaken: at.taken, Calls: at.calls}
		s.arms = [2]*site{newSite(s, false, nil), newSite(s, true, nil)}
		at.steps[b] = s
		t.run.Steps = append(t.run.Steps, s)
	}
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
	t.way = &way{Arm{Step: s, Taken: taken, Items: items, Came: came}, up}
	return func() { t.at, t.way = at, up }
}

// NextItem goes on to an item of the innermost range.
func (t *tracer) NextItem(i int) {
	next := *t.way // documents keep the way as it was
	next.arm.Item = i + 1
	t.way = &next
}

// EnterCall enters a template.
func (t *tracer) EnterCall(from template.Place) (leave func()) {
	at := t.at
	if at == nil { // the file itself
		t.at = newSite(nil, false, nil)
		return func() {}
	}
	if at.below[from] == nil {
		at.below[from] = newSite(at.in, at.taken, append(slices.Clip(at.calls), from))
	}
	t.at = at.below[from]
	return func() { t.at = at }
}

// Way is the arms that the execution is in.
func (t *tracer) Way() any { return t.way }

// End keeps what the execution came to.
func (t *tracer) End(docs []*template.Document, err error) {
	t.run.Documents = docs
	if t.run.Err = err; err != nil {
		t.run.Documents, t.run.Stopped = nil, t.way.listArms()
	}
	t.recorder.Runs = append(t.recorder.Runs, t.run)
}
