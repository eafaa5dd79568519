package template

import (
	"context"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// Limits bound one execution. Zero fields take the defaults.
type Limits struct {
	// Steps is the number of statements, function calls and iterations.
	Steps int
	// Depth is how deep templates may call each other.
	Depth int
	// Output is the largest skeleton of one file, in bytes.
	Output int
	// Made is how many bytes all texts, collections and printed values that
	// one execution makes may take together.
	Made int
	// Documents is how many documents one file may render.
	Documents int
	// Functions bound what one function call may make. Its Nodes also bound
	// all documents of a file together.
	Functions funcs.Limits
}

// defaultLimits are generous for people and small for bombs.
var defaultLimits = Limits{
	Steps: 1_000_000, Depth: 64, Output: 4 << 20, Made: 32 << 20, Documents: 1000, Functions: funcs.DefaultLimits,
}

func (l Limits) withDefaults() Limits {
	for field, standard := range map[*int]int{
		&l.Steps: defaultLimits.Steps, &l.Depth: defaultLimits.Depth, &l.Output: defaultLimits.Output,
		&l.Made: defaultLimits.Made, &l.Documents: defaultLimits.Documents,
		&l.Functions.Bytes: defaultLimits.Functions.Bytes, &l.Functions.Nodes: defaultLimits.Functions.Nodes,
	} {
		if *field == 0 {
			*field = standard
		}
	}
	return l
}

// takeStep takes one step of the budget and checks the deadline.
func (x *exec) takeStep(at pos) error {
	x.steps++
	if x.steps > x.set.limits.Steps {
		return at.errorAt("the template takes more than %d steps: %w", x.set.limits.Steps, ErrBudget)
	}
	return checkDeadline(x.ctx, at)
}

// checkDeadline returns an error if the execution takes too long.
func checkDeadline(ctx context.Context, at pos) error {
	if ctx.Err() != nil {
		return at.errorAt("the template takes too long: %w", ErrBudget)
	}
	return nil
}

// chargeBytes counts bytes that the execution makes. What a variable, a list or a fragment keeps
// was made once, so this bounds the memory of all of them. Its error has no place yet.
func (x *exec) chargeBytes(bytes int) error {
	if x.made += bytes; x.made > x.set.limits.Made {
		return fmt.Errorf("the template makes more than %d bytes of texts and collections: %w", x.set.limits.Made, ErrBudget)
	}
	return nil
}

// The bytes that parts of values take, about.
const (
	itemBytes  = 24  // of a list
	entryBytes = 64  // of a map
	holeBytes  = 160 // a hole and its mark, with room to grow
	mapBytes   = 300 // a small map
	nodeBytes  = 100 // of what a text was parsed to
)

// grows are the functions that mostly put an item behind a list as it is.
var grows = map[string]bool{"append": true, "push": true, "mustAppend": true, "mustPush": true}

// bytesPerStep is how much of a result makes one more step: a loop that copies
// all of a collection for each of its entries ends with the others.
const bytesPerStep = 4096

// borrows are the functions that return one of their arguments, or a part of
// one, and make nothing.
var borrows = map[string]bool{
	"coalesce": true, "deepCopy": true, "default": true, "dig": true, "first": true, "get": true, "ifNil": true,
	"index": true, "initial": true, "last": true, "mustDeepCopy": true, "mustFirst": true, "mustLast": true, "mustInitial": true,
	"mustRest": true, "mustSlice": true, "rest": true, "slice": true, "ternary": true,
}

// remade are the functions that copy at every depth.
var remade = map[string]bool{
	"merge": true, "mustMerge": true, "mergeOverwrite": true, "mustMergeOverwrite": true,
}

// chargeResult charges what a function made of its arguments. Of a collection only
// the growth counts: to append to a list makes a new one and mostly drops the
// one before.
func (x *exec) chargeResult(name string, args []any, v any) error {
	if borrows[name] {
		return nil
	}
	if !grows[name] {
		x.steps += shallowSize(v) / bytesPerStep
	}
	if remade[name] {
		return x.chargeBytes(entryBytes * countNodes(v))
	}
	most := 0
	if _, text := v.(string); !text {
		for _, a := range args {
			most = max(most, shallowSize(a))
		}
	}
	return x.chargeBytes(max(shallowSize(v)-most, 0))
}

// shallowSize returns about how many bytes a value takes without what it holds.
func shallowSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return itemBytes * len(v)
	case map[string]any:
		return entryBytes * len(v)
	}
	return 0
}

// countNodes counts a value that is known to be of limited size.
func countNodes(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += countNodes(item)
		}
	case map[string]any:
		for _, item := range v {
			n += countNodes(item)
		}
	}
	return n
}
