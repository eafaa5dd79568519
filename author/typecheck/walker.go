package typecheck

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A walker follows one file along all its paths.
type walker struct {
	in     *Input
	flow   *Flow
	said   *findings
	sketch *template.Sketch
	// defines are the trees of the defines.
	defines map[string]*parse.Tree
	// covered are the sides taken, planned those that a path is planned for.
	covered, planned map[turning]bool
	plans, retries   []*plan
	// masked are the wishes of paths that show what a branch before hides; done
	// are those that were followed.
	masked map[masked]map[fork]outcome
	// tries count how often a path that goes on was looked for behind a side.
	tries map[turning]int
	// spent are the steps of all paths through the file; worked is what all files
	// took so far.
	spent, worked int
	// sums are what is known of the values that loops and partials build up
	// on all paths together.
	sums  map[sumKey]*val
	grown bool
	// reached are the sides of branches that some way can take, as far as is to be
	// reported, and open those of which that is not excluded; dead is why one side cannot
	// be taken at all.
	reached map[turning]bool
	open    map[turning]bool
	dead    map[turning]deadEnd
	barred  map[turning]barred
	// hasty: a path takes all sides that it can and no way took yet, so that
	// there are few paths.
	hasty bool
	// keys are all words that name keys in dict and set.
	keys map[string]bool
	// looped are the variables that loops set, by tree.
	looped map[*parse.Tree]map[string]bool
	// quick: no documents are wanted.
	quick bool
	// arrivals are the calls of await that paths come to.
	arrivals []arrival
	// settled are the sums of the files that were walked.
	settled map[*parse.Tree]map[sumKey]*val
	// premise is what is known before a path begins; nil if nothing is.
	premise *premise
}

// sumKey is the declaration of a variable, or a call.
type sumKey struct {
	node parse.Node
	site parse.Node
}

// Follow follows the files of a folder along the paths through them.
func Follow(in Input) *Flow {
	f := newFlow()
	w := &walker{
		in: &in, flow: f, said: newFindings(), sketch: in.Set.Sketch(), defines: in.Set.Defines(),
		reached: map[turning]bool{}, open: map[turning]bool{}, dead: map[turning]deadEnd{}, barred: map[turning]barred{},
		looped: map[*parse.Tree]map[string]bool{}, quick: in.Quick, settled: map[*parse.Tree]map[sumKey]*val{},
	}
	w.keys = w.findKeyWords()
	for _, name := range in.Files {
		if tree := in.Set.Tree(name); tree != nil && !w.isOverworked() {
			w.walkFile(name, tree)
			w.tooHeavy(tree)
		}
	}
	if !in.Quick {
		w.reportUnreachable()
		w.reportUnusedVars()
		w.endlessWaits()
	}
	f.Findings, f.Never = w.said.sortFindings(), w.findImpossibleSides()
	return f
}

func newFlow() *Flow {
	return &Flow{Paths: map[string][]*Path{}, Reads: map[string]Read{}, Peers: map[string]Read{}, Called: map[string]bool{},
		Cut: map[string]bool{}, Awaited: map[string]template.Place{}}
}

// walkFile walks a file in haste until the values of loops and partials stay the same. Then it
// walks along all its paths.
func (w *walker) walkFile(name string, tree *parse.Tree) {
	w.sums, w.spent = map[sumKey]*val{}, 0
	settled := false
	for round := 0; ; round++ {
		if round >= mostRounds {
			w.widenSums()
		}
		rough := !w.quick && !settled
		w.grown, w.hasty = false, w.quick || rough
		w.resetPaths()
		before, arrived := w.said.currentMark(), len(w.arrivals)
		ways := w.walkPaths(name, tree)
		if again := w.grown || rough; !again || w.isOverworked() || round > mostRounds+1 {
			w.flow.Paths[name], w.settled[tree] = ways, w.sums
			return
		}
		settled = settled || !w.grown
		w.said.revertFindings(before)
		w.arrivals = w.arrivals[:arrived]
	}
}

// resetPaths forgets the paths, and plans a first one that may take any side.
func (w *walker) resetPaths() {
	w.covered, w.planned, w.plans = map[turning]bool{}, map[turning]bool{}, []*plan{nil}
	w.retries, w.tries, w.masked = nil, map[turning]int{}, map[masked]map[fork]outcome{}
}

// nextPlan takes the plan of the next path; there is none if all sides were taken.
func (w *walker) nextPlan() (next *plan, found bool) {
	if len(w.retries) > 0 {
		next, w.retries = w.retries[0], w.retries[1:]
		return next, true
	}
	for len(w.plans) > 0 {
		next, w.plans = w.plans[0], w.plans[1:]
		if next == nil || !w.covered[next.last] {
			return next, true
		}
	}
	return nil, false
}

// widenSums gives up on the values that still change.
func (w *walker) widenSums() {
	for key := range w.sums {
		w.sums[key] = anyValue()
	}
}

// walkPaths walks all planned paths of a file within the limits.
func (w *walker) walkPaths(name string, tree *parse.Tree) []*Path {
	var all []*Path
	for {
		plan, found := w.nextPlan()
		if !found {
			break
		}
		if len(all) == mostPaths || w.spent > mostSpent || w.isOverworked() {
			w.flow.Cut[name] = true
			break
		}
		w.hasty = w.hasty || len(all) >= calmPaths || w.spent > calmSpent/len(w.in.Files)
		all = append(all, w.walkPath(name, tree, plan, nil))
	}
	return append(all, w.walkMasked(name, tree)...)
}

// walkMasked walks the paths that show what earlier branches hide.
func (w *walker) walkMasked(name string, tree *parse.Tree) []*Path {
	var all []*Path
	followed := map[string]bool{}
	pending := w.masked
	if w.hasty {
		pending = nil
	}
	for _, key := range inOrder(pending) {
		id := fmt.Sprint(pending[key])
		if followed[id] || len(followed) == mostUnmasked || w.spent > mostSpent || w.isOverworked() {
			continue
		}
		followed[id] = true
		all = append(all, w.walkPath(name, tree, nil, pending[key]))
	}
	return all
}

// inOrder are the masked places by where they stand.
func inOrder(all map[masked]map[fork]outcome) []masked {
	return slices.SortedFunc(maps.Keys(all), func(a, b masked) int {
		return cmp.Or(cmp.Compare(a.node.Position(), b.node.Position()), cmp.Compare(a.by.node.Position(), b.by.node.Position()))
	})
}

// walkPath walks one path, and keeps what it writes.
func (w *walker) walkPath(name string, tree *parse.Tree, plan *plan, wishes map[fork]outcome) *Path {
	x := w.followPlan(tree, plan, wishes)
	if x.over {
		w.flow.Cut[name] = true
	}
	out := &Path{File: name, Ends: x.ends}
	if x.ends == "" && !x.over && !w.quick {
		out.Documents = x.buildDocuments(name)
	}
	return out
}

// followPlan walks one path.
func (w *walker) followPlan(tree *parse.Tree, plan *plan, wishes map[fork]outcome) *path {
	w.sketch.Begin()
	root := w.rootValue()
	x := &path{walker: w, facts: facts{known: map[string]fact{}}, parents: map[string]string{}, args: map[*parse.IdentifierNode][]arg{},
		plan: plan, wanted: wishes}
	if w.premise != nil {
		maps.Copy(x.facts.known, w.premise.facts)
		x.counter = w.premise.counter
	}
	x.frame = &frame{tree: tree, dot: root, root: root, loop: w.findLoopVars(tree), vars: []variable{{name: "$", v: root}}}
	x.list(tree.Root)
	x.retrySides()
	w.spent += x.steps
	w.addWork(x.steps + len(x.taken)*turningWork + w.sketch.Made()/bytesPerWork)
	return x
}

// rootValue returns the value of the resource.
func (w *walker) rootValue() *val {
	v := typedValue(w.in.Root)
	v.can = v.can &^ nilKind
	v.id, v.cluster = "$", w.in.ClusterScoped
	return v.nameRead("", "")
}

// joinSum joins what is known of a value that is built up over several turns.
func (w *walker) joinSum(key sumKey, v *val) *val {
	bare := *v
	bare.counts, bare.by = 0, nil
	bare.known = v.known && v.constant == nil
	bare.constant, bare.id, bare.parent, bare.piece, bare.exact, bare.path, bare.read = nil, "", "", nil, false, "", ""
	old := w.sums[key]
	now := w.boundValue(joinToDepth(old, &bare, deepest))
	if old == nil || !isSameValue(old, now, deepest) {
		w.grown = true
	}
	w.sums[key] = now
	out := *now
	out.way = true
	return &out
}
