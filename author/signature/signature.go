package signature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// Kinds is a set of the kinds of values that there are in templates.
type Kinds uint8

// The kinds, and sets of them that are often wanted.
const (
	Nil Kinds = 1 << iota
	Bool
	Int
	Float // a number with a fraction, or beyond 64 bits
	String
	List
	Map

	Number  = Int | Float
	Scalar  = Bool | Number | String
	Present = Scalar | List | Map
	Any     = Nil | Present
)

// KindsOf is the kind of one value.
func KindsOf(v any) Kinds {
	switch v.(type) {
	case nil:
		return Nil
	case bool:
		return Bool
	case int64:
		return Int
	case float64:
		return Float
	case string:
		return String
	case []any:
		return List
	case map[string]any:
		return Map
	}
	return 0
}

// kindNames are the names of kinds, in the order of messages.
var kindNames = []struct {
	kind Kinds
	name string
}{
	{String, "a string"}, {Int, "an integer"}, {Float, "a number"}, {Bool, "a boolean"}, {List, "a list"}, {Map, "a map"}, {Nil, "nothing"},
}

// String names the kinds as errors do: "a string or a list".
func (k Kinds) String() string {
	var names []string
	if k&Number == Number {
		names, k = append(names, "a number"), k&^Number
	}
	for _, one := range kindNames {
		if k&one.kind != 0 {
			names = append(names, one.name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// A Param is what a function takes for one of its arguments. What is in
// neither set is an error whatever its value.
type Param struct {
	// Fits is what the argument is meant to be. A value of this kind may still
	// be refused for what it says: atoi "x".
	Fits Kinds
	// Suspect is what the function takes, always or for some values, although
	// hardly anybody means it: add "3" 4.
	Suspect Kinds
}

// A Signature is what is known of a function before it is called.
type Signature struct {
	// Min and Max are the numbers of arguments; Max < 0 means any number.
	Min, Max int
	// Params are the parameters. Where there are more arguments, those from
	// Repeat on start again.
	Params []Param
	Repeat int
	// Tail are the parameters of the last arguments, where it is the first
	// ones that there may be any number of (dig).
	Tail []Param
	// Alike: all arguments must be of one kind, where numbers are of one kind
	// and, if it fits at all, nil is of every kind.
	Alike bool
	// Pure: the arguments alone decide the result.
	Pure bool
	// Result is what the function gives.
	Result Result
	// Longest bounds the characters of the text that the function gives; -1
	// is unbounded. It is nil where nothing is known.
	Longest func(args []Arg) int
}

// A Result is what is known of what a function gives. Is, Item, Keeps and
// Holds are numbers of parameters; the number of a parameter that repeats
// stands for all its arguments. With dig they are those of Tail.
type Result struct {
	// Kinds is what it may be; 0 where the function never returns (fail).
	Kinds Kinds
	// Is: it is one of these arguments, unchanged; or
	// nil, where none of them is taken (coalesce).
	Is []int
	// Item: it is an item of this list, or nil where that has none.
	Item []int
	// Keeps: each of its items (entries) is one of these lists' (maps').
	Keeps []int
	// Holds: or it is one of these arguments itself.
	Holds []int
	// Each is what its items may be, where Keeps and Holds are empty; 0 if it
	// has none or nothing is known.
	Each Kinds
	// NilWith: it is nil only if all these arguments are, or else there is
	// none such. It counts where Kinds has Nil.
	NilWith []int
}

// An Arg is what is known of an argument's text.
type Arg struct {
	// Max is how many characters it has at most; -1 is unknown.
	Max int
	// Value is the argument itself where Known.
	Value any
	Known bool
}

// ForFunction is the signature of a function that templates may call, those
// that need a cluster, an installation or the folder included.
func ForFunction(name string) (Signature, bool) {
	if sig, ok := specialSignatures[name]; ok {
		return sig, true
	}
	f := funcs.Table()[name]
	if f == nil {
		return Signature{}, false
	}
	sig, ok := signatures()[name]
	sig.Min, sig.Max, sig.Pure = f.Min, f.Max, true
	return sig, ok
}

// Param is the parameter of the i-th of n arguments, counted from 0.
func (s Signature) Param(i, n int) Param {
	if tail := i - (n - len(s.Tail)); tail >= 0 && tail < len(s.Tail) {
		return s.Tail[tail]
	}
	if len(s.Params) == 0 {
		return Param{}
	}
	return s.Params[s.Index(i)]
}

// Index is the number of the i-th argument's parameter in Params.
func (s Signature) Index(i int) int {
	if i < len(s.Params) {
		return i
	}
	return s.Repeat + (i-s.Repeat)%(len(s.Params)-s.Repeat)
}

// Args are the numbers of those of n arguments that a number in Result means.
func (s Signature) Args(param, n int) []int {
	if len(s.Tail) > 0 {
		return []int{n - len(s.Tail) + param}
	}
	var out []int
	for i := range n {
		if s.Index(i) == param {
			out = append(out, i)
		}
	}
	return out
}

// FormatParams are the parameters of n arguments that follow a printf format.
// What the format asks wrongly, such as an argument that is not there, is the
// error that printf would give.
func FormatParams(format string, n int) ([]Param, error) {
	params := slices.Repeat([]Param{{Fits: Present}}, n)
	_, err := funcs.Format(funcs.DefaultLimits, format, make([]any, n), func(_ string, verb rune, i int) {
		params[i] = verbParam(verb)
	})
	if err != nil {
		return nil, fmt.Errorf("printf: %w", err)
	}
	return params, nil
}

// verbParam is what a verb of printf takes; a star wants a width.
func verbParam(verb rune) Param {
	switch {
	case verb == 'v':
		return Param{Fits: Scalar, Suspect: List | Map}
	case strings.ContainsRune("eEfFgG", verb):
		return Param{Fits: Number}
	case strings.ContainsRune("bcdoOU*", verb):
		return Param{Fits: Int, Suspect: Float}
	case verb == 's':
		return Param{Fits: String}
	case verb == 't':
		return Param{Fits: Bool}
	}
	return Param{Fits: String | Int} // q, x and X
}
