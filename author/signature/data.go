package signature

import "sync"

var signatures = sync.OnceValue(allSignatures)

var (
	truthy  = Param{Fits: Bool | Nil}
	operand = Param{Fits: Any}
	ordinal = Param{Fits: Number | String}
	step    = Param{Fits: String | Int, Suspect: Nil | Bool | Float | List | Map}
)

// dataSignatures are those of functions of numbers, lists, maps and any value.
var dataSignatures = map[string]Signature{
	"add": gives(Int, count), "mul": gives(Int, count), "max": gives(Int, count), "min": gives(Int, count),
	"add1": gives(Int, count), "sub": gives(Int, count, count),
	"div": gives(Int, count, count), "mod": gives(Int, count, count),
	"addf": gives(Float, amount), "subf": gives(Float, amount), "mulf": gives(Float, amount),
	"divf": gives(Float, amount), "maxf": gives(Float, amount), "minf": gives(Float, amount),
	"add1f": gives(Float, amount),
	"ceil":  gives(Number, amount), "floor": gives(Number, amount),
	"round": gives(Number, amount, amount, amount),
	"int":   gives(Int, numeral), "float64": gives(Float, numeral),
	"atoi": gives(Int, text), "toDecimal": gives(Int, Param{Fits: String | Int}),
	"until":     each(gives(List, position), Int),
	"untilStep": each(gives(List, position, position, position), Int),
	"seq":       gives(String, position),

	"list":   holding(gives(List, anything), 0),
	"append": holding(keeping(gives(List, items, anything), 0), 1), "prepend": holding(keeping(gives(List, items, anything), 0), 1),
	"concat":  keeping(gives(List, items), 0),
	"chunk":   each(gives(List, position, items), List),
	"reverse": keeping(gives(List, items), 0), "uniq": keeping(gives(List, items), 0),
	"compact": keeping(gives(List, items), 0), "rest": keeping(gives(List, items), 0),
	"initial": keeping(gives(List, items), 0), "without": keeping(gives(List, items, anything), 0),
	"first": itemOf(items), "last": itemOf(items),
	"slice": nilWith(keeping(gives(List|String|Nil, Param{Fits: List | String | Nil}, position), 0), 0),
	"has":   gives(Bool, anything, items),

	"dict":   pairs(),
	"set":    holding(keeping(gives(Map, entries, text, anything), 0), 2),
	"unset":  keeping(gives(Map, entries, text), 0),
	"pick":   keeping(gives(Map, entries, text), 0),
	"omit":   keeping(gives(Map, entries, text), 0),
	"keys":   each(gives(List, entries), String),
	"values": keeping(gives(List, entries), 0), "pluck": keeping(gives(List, text, entries), 1),
	"merge": keeping(gives(Map, entries, entries), 0, 1), "mergeOverwrite": keeping(gives(Map, entries, entries), 0, 1),
	"get": gives(Any, entries, text), "hasKey": gives(Bool, entries, text),
	"index": gives(Any, Param{Fits: List | Map | Nil, Suspect: Scalar}, step),
	"dig":   {Params: []Param{text}, Tail: []Param{anything, entries}, Result: Result{Kinds: Any}},
	"len":   gives(Int, Param{Fits: Nil | String | List | Map}),

	"eq": alike(operand, operand), "ne": alike(operand, operand),
	"lt": alike(ordinal, ordinal), "le": alike(ordinal, ordinal),
	"gt": alike(ordinal, ordinal), "ge": alike(ordinal, ordinal),
	"deepEqual": gives(Bool, anything, anything),
	"not":       gives(Bool, anything), "empty": gives(Bool, anything),
	"all": gives(Bool, anything), "any": gives(Bool, anything),
	"ifNil":    oneOf(Signature{Params: []Param{anything, anything}}, 0, 1),
	"coalesce": oneOf(gives(Any, anything), 0),
	"ternary":  oneOf(Signature{Params: []Param{anything, anything, truthy}}, 0, 1),
	"deepCopy": oneOf(gives(Any, anything), 0),

	"typeOf": gives(String, anything), "kindOf": gives(String, anything),
	"typeIs": gives(Bool, text, anything), "kindIs": gives(Bool, text, anything),
}

func keeping(s Signature, params ...int) Signature {
	s.Result.Keeps = params
	return s
}

func holding(s Signature, params ...int) Signature {
	s.Result.Holds = params
	return s
}

func nilWith(s Signature, params ...int) Signature {
	s.Result.NilWith = params
	return s
}

func oneOf(s Signature, params ...int) Signature {
	s.Result.Kinds, s.Result.Is = Any, params
	return s
}

func itemOf(list Param) Signature {
	s := gives(Any, list)
	s.Result.Item = []int{0}
	return s
}

func alike(params ...Param) Signature {
	s := gives(Bool, params...)
	s.Alike = true
	return s
}

// pairs is dict: keys and values in turn.
func pairs() Signature {
	s := holding(gives(Map, text, anything), 1)
	s.Repeat = 0
	return s
}
