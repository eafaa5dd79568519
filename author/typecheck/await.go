package typecheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// mostArrivals bounds the paths to one await that are looked at.
const mostArrivals = 8

// An arrival is a call of await that a path comes to.
type arrival struct {
	// tree is the file of the path, site the call of the define that calls await.
	tree *parse.Tree
	call *parse.IdentifierNode
	site parse.Node
	// awaited is the file that is waited for.
	awaited string
	// premise is what holds on every path to this call.
	premise premise
	taken   []turning
	// finding is what to report, without its text.
	finding Finding
}

// A premise is what is known before a path begins.
type premise struct {
	facts      map[string]fact
	conditions conditions
	// counter is the last number of a value without a name in facts.
	counter int
	// isSparse makes the path prefer sides that print nothing.
	isSparse bool
}

// recordArrival records that the path comes to a call of await.
func (w *path) recordArrival(call *parse.IdentifierNode, awaited string) {
	sameCall := 0
	for _, a := range w.arrivals {
		if a.call == call && a.site == w.frame.site {
			sameCall++
		}
	}
	if w.quick || sameCall >= mostArrivals {
		return
	}
	facts := maps.Clone(w.facts.known)
	maps.DeleteFunc(facts, func(_ string, f fact) bool { return f.way })
	file := w.frame
	for file.up != nil {
		file = file.up
	}
	w.arrivals = append(w.arrivals, arrival{
		tree: file.tree, call: call, site: w.frame.site, awaited: awaited,
		premise: premise{facts: facts, conditions: conditionsOf(w.enclosing), counter: w.counter, isSparse: true},
		taken:   slices.Clone(w.taken), finding: w.makeFinding(EndlessWait, call, ""),
	})
}

// endlessWaits finds calls of await that wait for ever for some resource, since the file
// that they wait for renders no object then.
func (w *walker) endlessWaits() {
	found := map[call]bool{}
	for _, a := range w.arrivals {
		at := call{a.finding.Place, a.finding.Called}
		if found[at] || w.isOverworked() {
			continue
		}
		why, isEmpty := w.findEmpty(a)
		if !isEmpty {
			continue
		}
		found[at] = true
		a.finding.Text = fmt.Sprintf("%s.yaml renders no object, and this file waits for one", a.awaited)
		if why != "" {
			a.finding.Text = fmt.Sprintf("%s.yaml renders no object if %s, and this file waits for one: write await under the same condition",
				a.awaited, why)
		}
		w.said.add(a.finding)
	}
}

// findEmpty looks for a path through the awaited file that renders no object, for a
// resource for which the awaiting file comes to its call. why is the condition that
// decides so, or "".
func (w *walker) findEmpty(a arrival) (why string, found bool) {
	tree := w.in.Set.Tree(a.awaited)
	if tree == nil {
		return "", false
	}
	trial := w.newTrial(a.premise, tree)
	defer func() { w.worked = trial.worked }()
	for n := 0; n < calmPaths && trial.spent < calmSpent && !trial.isOverworked(); n++ {
		plan, left := trial.nextPlan()
		if !left {
			return "", false
		}
		x := trial.followPlan(tree, plan, nil)
		if x.ends == "" && !x.over && x.rendersNothing(a.awaited) && trial.comesTo(a, x) {
			return x.whyNothing(), true
		}
	}
	return "", false
}

// comesTo reports whether the awaiting file still comes to its call with what the path
// through the awaited one has found out.
func (w *walker) comesTo(a arrival, x *path) bool {
	trial := w.newTrial(premise{facts: x.facts.known, conditions: conditionsOf(x.taken), counter: x.counter}, a.tree)
	defer func() { w.worked = trial.worked }()
	wishes := map[fork]outcome{}
	for _, t := range a.taken {
		wishes[t.fork] = t.side + 1
	}
	trial.followPlan(a.tree, nil, wishes)
	return slices.ContainsFunc(trial.arrivals, func(b arrival) bool { return b.call == a.call && b.site == a.site })
}

// newTrial returns a walker through a file that was walked before. It keeps what it finds
// to itself.
func (w *walker) newTrial(p premise, tree *parse.Tree) *walker {
	in, trial := *w.in, *w
	in.Seen = nil
	trial.in, trial.flow, trial.said = &in, newFlow(), newFindings()
	trial.reached, trial.open = map[turning]bool{}, map[turning]bool{}
	trial.dead, trial.barred = map[turning]deadEnd{}, map[turning]barred{}
	trial.arrivals, trial.premise, trial.sums, trial.spent, trial.hasty = nil, &p, maps.Clone(w.settled[tree]), 0, false
	trial.resetPaths()
	return &trial
}

// rendersNothing reports whether the path has written no object but patches.
func (w *path) rendersNothing(name string) bool {
	return !slices.ContainsFunc(w.sketch.Documents(name), func(d template.Drawing) bool {
		return d.Err != nil || valueAt(d.Root, "metadata", "annotations", api.AnnotationOwnership) == nil
	})
}

// valueAt is what stands below literal keys; nil if nothing does.
func valueAt(s *template.Shape, keys ...string) *template.Shape {
	for _, key := range keys {
		i := slices.IndexFunc(s.Entries, func(e template.ShapeEntry) bool { name, ok := literalKey(e.Key); return ok && name == key })
		if i < 0 {
			return nil
		}
		s = s.Entries[i].Value
	}
	return s
}

// whyNothing is the first condition whose other side prints something, with its outcome;
// "" if there is none.
func (w *path) whyNothing() string {
	for _, t := range w.taken {
		b := branchOf(t.fork.node)
		if w.alwaysPrints(sideOf(b, t.side)) || !w.alwaysPrints(sideOf(b, 1-t.side)) {
			continue
		}
		n, side := withoutNot(b.Pipe, t.side)
		_, loops := t.fork.node.(*parse.RangeNode)
		switch {
		case loops && side == holds:
			return textOf(n) + " has items"
		case loops:
			return textOf(n) + " has no items"
		case side == holds:
			return textOf(n) + " holds"
		}
		return textOf(n) + " does not hold"
	}
	return ""
}

// enterSide records that the path stands within a side, and returns how many enclose that.
func (w *path) enterSide(f fork, s outcome) int {
	w.enclosing = append(w.enclosing, turning{f, s})
	return len(w.enclosing) - 1
}

// findAssumed returns the side of a branch whose condition is known before the path begins.
func (w *path) findAssumed(branch parse.Node) (side outcome, known bool) {
	if w.premise == nil {
		return holds, false
	}
	return w.premise.conditions.findOutcome(branchOf(branch).Pipe)
}

// preferSide returns the side to take first where nothing else decides.
func (w *path) preferSide(n *parse.BranchNode, otherwise outcome) outcome {
	if w.premise == nil || !w.premise.isSparse {
		return otherwise
	}
	switch some, others := w.alwaysPrints(n.List), w.alwaysPrints(n.ElseList); {
	case some && !others:
		return fails
	case others && !some:
		return holds
	}
	return otherwise
}

// alwaysPrints reports whether every path through a list prints something of a document.
func (w *walker) alwaysPrints(l *parse.ListNode) bool { return w.printsWithin(l, deepCalls) }

func (w *walker) printsWithin(l *parse.ListNode, calls int) bool {
	if l == nil || calls == 0 {
		return false
	}
	return slices.ContainsFunc(l.Nodes, func(node parse.Node) bool {
		switch n := node.(type) {
		case *parse.TextNode:
			return slices.ContainsFunc(strings.Split(string(n.Text), "\n"), isContent)
		case *parse.ActionNode:
			return len(n.Pipe.Decl) == 0 && w.commandPrints(n.Pipe.Cmds[0], calls)
		case *parse.TemplateNode:
			return w.definePrints(n.Name, calls)
		case *parse.IfNode, *parse.WithNode, *parse.RangeNode:
			b := branchOf(n)
			return w.printsWithin(b.List, calls) && w.printsWithin(b.ElseList, calls)
		}
		return false
	})
}

func (w *walker) commandPrints(cmd *parse.CommandNode, calls int) bool {
	fn, called := cmd.Args[0].(*parse.IdentifierNode)
	switch {
	case !called:
		return true
	case fn.Ident == "wait" || fn.Ident == "fail":
		return false
	case fn.Ident == "include" && len(cmd.Args) > 1:
		name, literal := cmd.Args[1].(*parse.StringNode)
		return !literal || w.definePrints(name.Text, calls)
	}
	return true
}

func (w *walker) definePrints(name string, calls int) bool {
	tree := w.defines[name]
	return tree != nil && w.printsWithin(tree.Root, calls-1)
}

// isContent reports whether a line has more than a comment or the end of a document.
func isContent(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && !strings.HasPrefix(line, "#") && line != "---"
}
