// Package funcs is the allow-list of pure functions that templates may call.
//
// Every function is a function of its arguments alone: no environment, files,
// network, clock or randomness, and maps are walked in the order of their
// keys. So the same resource always renders the same text.
//
// # Values
//
// Arguments and results are nil, bool, int64, float64, string, []any and
// map[string]any, and nothing else. No function changes an argument; a result
// may share parts with the arguments, so a caller must not change it either.
// That is why set, unset and merge give a copy, and deepCopy its argument.
//
// # Where a function differs from its namesake in sprig
//
//   - Absence is said, not guessed: an absent field (nil) where a text or a
//     number is wanted is an error. Nil stands for an empty list or map.
//   - Conversions do not guess either: text that is no number is an error, and
//     whole-number arithmetic refuses fractions and overflow.
//   - get, index and dig give nil for what is absent, and dig's default also
//     replaces nil.
//   - What is cut by bytes (trunc, substr) is never cut within a character.
//   - Functions that swallow errors in sprig or Helm return them here.
//
// # Errors
//
// An error names the function, the position of the argument and types, never
// a value: values of a resource may be secret.
//
// Without it, users lose the functions of Helm's charts: without them a template cannot
// be moved from a chart.
package funcs

import "sync"

// A Func is one pure function that templates may call.
type Func struct {
	// Name is what templates call it.
	Name string
	// Min and Max are the numbers of arguments; Max < 0 means any number.
	Min, Max int
	// Call gives the function's result. Its errors start with Name.
	Call func(args []any, lim Limits) (any, error)
}

// Limits bound what one call may produce. A field that is zero or less stands
// for the same field of DefaultLimits.
type Limits struct {
	// Bytes is the length of the longest text.
	Bytes int
	// Nodes is the size of the largest collection: itself and all that it
	// holds, at any depth, shared parts counted each time.
	Nodes int
}

// DefaultLimits are 1 MiB of text, which is what a file or an object may have
// too, and 262,144 nodes, which is about a thousand live Pods. A call allocates
// less than 64 MiB with them: results share parts with the arguments, and merge
// and fromYaml, which must copy, take a quarter.
var DefaultLimits = Limits{Bytes: 1 << 20, Nodes: 1 << 18}

func (l Limits) orDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.Nodes <= 0 {
		l.Nodes = DefaultLimits.Nodes
	}
	return l
}

// Table gives all functions by name. It is built once and must not be changed.
func Table() map[string]*Func { return table() }

// Refused gives the names that sprig, Helm or text/template have and templates
// may not call, each with the reason and what to use instead. It must not be
// changed.
func Refused() map[string]string { return refused }

var table = sync.OnceValue(func() map[string]*Func {
	all := map[string]*Func{}
	for _, group := range []map[string]any{
		borrowedFuncs(), textFuncs, cutFuncs, splitFuncs, printFuncs,
		kindFuncs, compareFuncs, logicFuncs, readFuncs,
		listFuncs, searchFuncs, dictFuncs, mergeFuncs,
		wholeFuncs, numberFuncs, rangeFuncs,
		jsonFuncs, yamlFuncs, baseFuncs, urlFuncs,
		regexFuncs, versionFuncs, durationFuncs, nameFuncs,
	} {
		for name, fn := range group {
			if all[name] != nil {
				panic("funcs: " + name + " is listed twice")
			}
			all[name] = adaptFunc(name, fn)
		}
	}
	return all
})
