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
	"add": newSignature(Int, count), "mul": newSignature(Int, count), "max": newSignature(Int, count), "min": newSignature(Int, count),
	"add1": newSignature(Int, count), "sub": newSignature(Int, count, count),
	"div": newSignature(Int, count, count), "mod": newSignature(Int, count, count),
	"addf": newSignature(Float, amount), "subf": newSignature(Float, amount), "mulf": newSignature(Float, amount),
	"divf": newSignature(Float, amount), "maxf": newSignature(Float, amount), "minf": newSignature(Float, amount),
	"add1f": newSignature(Float, amount),
	"ceil":  newSignature(Number, amount), "floor": newSignature(Number, amount),
	"round": newSignature(Number, amount, amount, amount),
	"int":   newSignature(Int, numeral), "float64": newSignature(Float, numeral),
	"atoi": newSignature(Int, text), "toDecimal": newSignature(Int, Param{Fits: String | Int}),
	"until":     setEach(newSignature(List, position), Int),
	"untilStep": setEach(newSignature(List, position, position, position), Int),
	"seq":       newSignature(String, position),

	"list":    holdArgs(newSignature(List, anything), 0),
	"append":  holdArgs(keepItems(newSignature(List, items, anything), 0), 1),
	"prepend": holdArgs(keepItems(newSignature(List, items, anything), 0), 1),
	"concat":  keepItems(newSignature(List, items), 0),
	"chunk":   setEach(newSignature(List, position, items), List),
	"reverse": keepItems(newSignature(List, items), 0), "uniq": keepItems(newSignature(List, items), 0),
	"compact": keepItems(newSignature(List, items), 0), "rest": keepItems(newSignature(List, items), 0),
	"initial": keepItems(newSignature(List, items), 0), "without": keepItems(newSignature(List, items, anything), 0),
	"first": itemOf(items), "last": itemOf(items),
	"slice": nilWith(keepItems(newSignature(List|String|Nil, Param{Fits: List | String | Nil}, position), 0), 0),
	"has":   newSignature(Bool, anything, items),

	"dict":   dictSignature(),
	"set":    holdArgs(keepItems(newSignature(Map, entries, text, anything), 0), 2),
	"unset":  keepItems(newSignature(Map, entries, text), 0),
	"pick":   keepItems(newSignature(Map, entries, text), 0),
	"omit":   keepItems(newSignature(Map, entries, text), 0),
	"keys":   setEach(newSignature(List, entries), String),
	"values": keepItems(newSignature(List, entries), 0), "pluck": keepItems(newSignature(List, text, entries), 1),
	"merge": keepItems(newSignature(Map, entries, entries), 0, 1), "mergeOverwrite": keepItems(newSignature(Map, entries, entries), 0, 1),
	"get": newSignature(Any, entries, text), "hasKey": newSignature(Bool, entries, text),
	"index": newSignature(Any, Param{Fits: List | Map | Nil, Suspect: Scalar}, step),
	"dig":   {Params: []Param{text}, Tail: []Param{anything, entries}, Result: Result{Kinds: Any}},
	"len":   newSignature(Int, Param{Fits: Nil | String | List | Map}),

	"eq": newComparison(operand, operand), "ne": newComparison(operand, operand),
	"lt": newComparison(ordinal, ordinal), "le": newComparison(ordinal, ordinal),
	"gt": newComparison(ordinal, ordinal), "ge": newComparison(ordinal, ordinal),
	"deepEqual": newSignature(Bool, anything, anything),
	"not":       newSignature(Bool, anything), "empty": newSignature(Bool, anything),
	"all": newSignature(Bool, anything), "any": newSignature(Bool, anything),
	"ifNil":    oneOf(Signature{Params: []Param{anything, anything}}, 0, 1),
	"coalesce": oneOf(newSignature(Any, anything), 0),
	"ternary":  oneOf(Signature{Params: []Param{anything, anything, truthy}}, 0, 1),
	"deepCopy": oneOf(newSignature(Any, anything), 0),

	"typeOf": newSignature(String, anything), "kindOf": newSignature(String, anything),
	"typeIs": newSignature(Bool, text, anything), "kindIs": newSignature(Bool, text, anything),
}

// keepItems adds to a signature that the result keeps the items of these parameters.
func keepItems(s Signature, params ...int) Signature {
	s.Result.Keeps = params
	return s
}

// holdArgs adds to a signature that the result holds the arguments of these parameters.
func holdArgs(s Signature, params ...int) Signature {
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
	s := newSignature(Any, list)
	s.Result.Item = []int{0}
	return s
}

// newComparison returns the signature of a function that compares arguments of one kind.
func newComparison(params ...Param) Signature {
	s := newSignature(Bool, params...)
	s.Alike = true
	return s
}

// dictSignature returns the signature of dict, which takes keys and values in turn.
func dictSignature() Signature {
	s := holdArgs(newSignature(Map, text, anything), 1)
	s.Repeat = 0
	return s
}
