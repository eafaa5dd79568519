package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// mostPaths bounds the paths through one file, of which those behind the first
// calmPaths, or behind a file's share of calmSpent steps for the whole folder,
// each take all sides that no way took yet: in a large folder, to take them one
// by one would take as many walks through a file as it has branches. mostSteps bounds the
// statements and calls of one path, mostSpent those of all paths through a file,
// and mostRounds how often the paths are walked until what loops and partials
// give is known.
const (
	mostPaths  = 400
	calmPaths  = 100
	calmSpent  = 60_000
	mostSteps  = 20_000
	mostSpent  = 400_000
	mostRounds = 6
	// mostUnmasked bounds the paths that show what branches hide.
	mostUnmasked = 100
)

// An outcome is a side of a branch: whether its condition holds.
type outcome int

const (
	holds outcome = iota
	fails
)

// A fork is a branch as it is come to: in a define by one call of it, with one
// type of dot.
type fork struct {
	node parse.Node
	site parse.Node
	dot  *schema.Type
}

// A path is one walk through a file: at each fork it takes one side.
type path struct {
	*walker
	facts   facts
	parents map[string]string
	// taken are the sides so far, to which others are only added; plan are those
	// that are given beforehand.
	taken []turning
	plan  *plan
	// wanted are sides to take where they can be, counted from 1.
	wanted map[fork]outcome
	// free says which of the sides taken were not the only ones.
	free []bool
	// enclosing are the sides without which the path does not come to where it is.
	enclosing []turning
	frame     *frame
	// args are what the calls were last given.
	args  map[*parse.IdentifierNode][]arg
	steps int
	// asking: what is evaluated is only asked whether it is there.
	asking bool
	// ends says that the path ended, by "wait" or "fail".
	ends string
	// over: the bound on steps was reached.
	over    bool
	counter int
}

type turning struct {
	fork fork
	side outcome
}

// A frame is a template that is walked: a file or a define.
type frame struct {
	tree *parse.Tree
	dot  *val
	root *val
	vars []variable
	// site is the call, called where it stands; zero in a file.
	site   parse.Node
	called template.Place
	up     *frame
	// loop are the variables that some loop sets, by declaration.
	loop map[string]bool
	// stopped is the fail or wait that ended the path here.
	stopped *parse.IdentifierNode
}

type variable struct {
	name string
	v    *val
	// decl is where it is declared.
	decl parse.Node
}

// A signal is how a list of nodes ended.
type signal int

const (
	goOn signal = iota
	breaks
	continues
	stops // the way ended
)

// decideSide takes a side of a fork. It prefers the planned side, then one that holds or does not
// end the path.
func (w *path) decideSide(f fork, yes, no bool, prefer outcome) outcome {
	if side, known := w.findAssumed(f.node); known && yes && no {
		yes, no = side == holds, side == fails
	}
	s := prefer
	switch {
	case !no:
		s = holds
	case !yes:
		s = fails
	case w.plan.turningAt(len(w.taken)).fork == f:
		s = w.plan.turningAt(len(w.taken)).side
	case w.wanted[f] != 0:
		s = w.wanted[f] - 1
	case w.hasty && w.covered[turning{f, s}] && !w.covered[turning{f, 1 - s}]:
		s = 1 - s
	}
	if yes && no {
		w.planOtherSide(f, s)
	}
	w.coverSide(f, s)
	w.taken, w.free = append(w.taken, turning{f, s}), append(w.free, yes && no)
	return s
}

// planOtherSide plans a path that takes the other side, if none does yet.
func (w *path) planOtherSide(f fork, s outcome) {
	other := turning{f, 1 - s}
	if w.covered[other] || w.planned[other] || w.isOverworked() {
		return
	}
	w.planned[other] = true
	w.plans = append(w.plans, &plan{w.taken[:len(w.taken):len(w.taken)], other})
}

// A plan is what a path is to take first: the sides of a path before it up to
// somewhere, which are shared, and then another one.
type plan struct {
	before []turning
	last   turning
}

// turningAt returns the i-th side of a plan, or the zero turning behind its end.
func (p *plan) turningAt(i int) turning {
	switch {
	case p == nil || i > len(p.before):
		return turning{}
	case i == len(p.before):
		return p.last
	}
	return p.before[i]
}

// lastFork returns the fork that was decided last.
func (w *path) lastFork() *fork {
	if len(w.taken) == 0 {
		return nil
	}
	return &w.taken[len(w.taken)-1].fork
}

// recordMask records that a value which may not be absent is there only because of an earlier
// branch. Another path should come here without that branch.
func (w *path) recordMask(n parse.Node, v *val) {
	if v.by == nil || w.quick {
		return
	}
	key := masked{n, *v.by}
	if _, known := w.masked[key]; known {
		return
	}
	wishes := map[fork]outcome{}
	w.addWork(len(w.taken) * turningWork)
	for _, t := range w.taken {
		if wishes[t.fork] = t.side + 1; t.fork == *v.by {
			wishes[t.fork] = 1 - t.side + 1
		}
	}
	w.masked[key] = wishes
}

// masked is a place whose value a fork tells to be there.
type masked struct {
	node parse.Node
	by   fork
}

// mostRetries bounds how often a path is looked for that goes on behind a side.
const mostRetries = 8

// retrySides plans a path that does not end early, for sides that were only on paths that do. What
// such a path writes is not checked.
func (w *path) retrySides() {
	if w.ends == "" && !w.over {
		for _, t := range w.taken {
			w.tries[t] = mostRetries
		}
		return
	}
	last := len(w.taken) - 1
	for last >= 0 && !w.free[last] {
		last--
	}
	again := false
	for _, t := range w.taken[:max(last, 0)] {
		if w.tries[t] < mostRetries {
			w.tries[t]++
			again = true
		}
	}
	if again {
		w.retries = append(w.retries, &plan{w.taken[:last:last], turning{w.taken[last].fork, 1 - w.taken[last].side}})
	}
}

// coverSide records that a side of a fork was taken.
func (w *path) coverSide(f fork, s outcome) { w.covered[turning{f, s}] = true }

// forkAt returns the fork at a node.
func (w *path) forkAt(n parse.Node) fork {
	f := fork{node: n, site: w.frame.site}
	if w.frame.site != nil && w.frame.root != nil {
		f.dot = w.frame.root.typ
	}
	return f
}

// findVariable returns a variable, or nil if it is not declared.
func (f *frame) findVariable(name string) *variable {
	for i := len(f.vars) - 1; i >= 0; i-- {
		if f.vars[i].name == name {
			return &f.vars[i]
		}
	}
	return nil
}

// walkScoped walks, and then forgets the variables that were declared inside.
func (w *path) walkScoped(walk func() signal) signal {
	depth := len(w.frame.vars)
	frame := w.frame
	s := walk()
	frame.vars = frame.vars[:depth]
	return s
}
