package typecheck

import (
	"regexp/syntax"
	"strings"
	"text/template/parse"
)

// mostWork bounds the work of following a folder, and with it the memory that
// this takes, as the bounds on steps do not: a step may make a value of others,
// or of a text, that are as large as one likes. Its unit is about what a step
// takes, or one of the values that another is made of.
const mostWork = 10_000_000

const (
	// heaviest bounds of how many values one may be made, each counted as often
	// as it is part of it.
	heaviest = 5_000
	// partWork is what it takes to make a part of a value.
	partWork = 4
	// bytesPerWork is how much text takes as much as a step.
	bytesPerWork = 8
	// stepsPerWork is how many steps of a search take as much as one of ours.
	stepsPerWork = 8
	// turningWork is what it takes to remember a side of a branch.
	turningWork = 4
)

// addWork counts work.
func (w *walker) addWork(units int) { w.worked += units }

// isOverworked reports whether there was too much work.
func (w *walker) isOverworked() bool { return w.worked > mostWork || w.in.Stop != nil && w.in.Stop() }

// tooHeavy notes the file at which there was too much.
func (w *walker) tooHeavy(tree *parse.Tree) {
	if w.isOverworked() {
		w.flow.Heavy = w.sketch.Place(tree, tree.Root)
	}
}

// boundValue counts the work of a value. It replaces a value that is made of too many others by
// anyValue with the same sources.
func (w *walker) boundValue(v *val) *val {
	if v == nil {
		return nil
	}
	w.addWork((v.weighValue()-1)*partWork + textBytes(v)/bytesPerWork + 1)
	if v.weight <= heaviest {
		return v
	}
	out := anyValue()
	out.sources, out.way = v.deepSources(), v.way
	return out
}

// weighValue counts of how many values this one is made. Their own parts were counted before.
func (v *val) weighValue() int {
	v.weight = 1
	for _, f := range v.fields {
		v.weight += max(f.weight, 1)
	}
	if v.elem != nil {
		v.weight += max(v.elem.weight, 1)
	}
	return v.weight
}

// textBytes are the bytes of a text that is known.
func textBytes(v *val) int {
	text, _ := v.constant.(string)
	return len(text)
}

// searchWork returns the work of a call that searches for a pattern.
func searchWork(fn *parse.IdentifierNode, args []any) int {
	if !strings.HasPrefix(fn.Ident, "regex") || len(args) < 2 {
		return 0
	}
	expr, _ := args[0].(string)
	text, _ := args[1].(string)
	return searchSteps(expr, text) / stepsPerWork
}

// mostSearchSteps is where a search is given up.
const mostSearchSteps = 1 << 25

// searchSteps is how many steps it takes at most, about, to find all matches of a pattern
// in a text, and to make the pattern ready.
func searchSteps(expr, text string) int {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return len(expr)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return len(expr)
	}
	size, length := len(prog.Inst), min(len(text)+1, mostSearchSteps)
	return len(expr) + size + min(mostSearchSteps, length*min(size*length, mostSearchSteps))
}
