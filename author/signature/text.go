package signature

import "maps"

// Parameters that many functions have.
var (
	text     = Param{Fits: String}
	texts    = Param{Fits: Scalar, Suspect: List | Map} // the text of a map is Go's, not YAML's
	anything = Param{Fits: Any}
	position = Param{Fits: Int, Suspect: Float}
	count    = Param{Fits: Int, Suspect: Float | String}
	amount   = Param{Fits: Number, Suspect: String}
	numeral  = Param{Fits: Number | String} // what conversions read
	items    = Param{Fits: List | Nil}
	entries  = Param{Fits: Map | Nil}
	lines    = Param{Fits: List | Nil, Suspect: Scalar} // a lone value stands for a list of it
)

// newSignature returns a signature of which only the kinds of the result are known.
func newSignature(result Kinds, params ...Param) Signature {
	return Signature{Params: params, Repeat: max(0, len(params)-1), Result: Result{Kinds: result}}
}

// textSignature returns the signature of a function that gives a text, whose length longest bounds.
func textSignature(longest func([]Arg) int, params ...Param) Signature {
	s := newSignature(String, params...)
	s.Longest = longest
	return s
}

var textSignatures = map[string]Signature{
	"upper": textSignature(asLong(0), text), "lower": textSignature(asLong(0), text),
	"title": textSignature(asLong(0), text), "untitle": textSignature(asLong(0), text),
	"swapcase": textSignature(asLong(0), text), "nospace": textSignature(asLong(0), text),
	"snakecase": newSignature(String, text), "camelcase": newSignature(String, text), "kebabcase": newSignature(String, text),
	"trimall": textSignature(asLong(1), text, text), "trimAll": textSignature(asLong(1), text, text),
	"trimPrefix": textSignature(asLong(1), text, text),
	"abbrev":     textSignature(asLong(1), position, text), "abbrevboth": textSignature(asLong(2), position, position, text),
	"initials": textSignature(asLong(0), text),
	"plural":   textSignature(boundLonger(0, 1), text, text, position),
	"repeat":   textSignature(boundRepeat, position, text),
	"replace":  textSignature(boundReplace, text, text, text),
	"wrap":     newSignature(String, position, text), "wrapWith": newSignature(String, position, text, text),
	"trunc": textSignature(upTo(0, 1), position, text), "substr": textSignature(asLong(2), position, position, text),
	"contains": newSignature(Bool, text, text), "hasPrefix": newSignature(Bool, text, text), "hasSuffix": newSignature(Bool, text, text),

	"print": textSignature(boundJoin(1), texts), "println": newSignature(String, texts), "cat": textSignature(boundJoin(1), texts),
	"printf":   textSignature(boundFormat, text, texts),
	"toString": textSignature(asLong(0), texts), "urlquery": newSignature(String, texts),

	"split": setEach(newSignature(Map, text, text), String), "splitn": setEach(newSignature(Map, text, position, text), String),
	"splitList": setEach(newSignature(List, text, text), String),
	"join":      newSignature(String, text, lines),
	"sortAlpha": setEach(newSignature(List, lines), String),
	"toStrings": setEach(newSignature(List, Param{Fits: List | Nil | Scalar}), String),

	"regexMatch": newSignature(Bool, text, text), "regexFind": textSignature(asLong(1), text, text),
	"regexFindAll":           setEach(newSignature(List, text, text, position), String),
	"regexSplit":             setEach(newSignature(List, text, text, position), String),
	"regexReplaceAll":        newSignature(String, text, text, text),
	"regexReplaceAllLiteral": newSignature(String, text, text, text),
	"regexQuoteMeta":         newSignature(String, text),

	"b64enc": textSignature(encodedIn(4, 3), text), "b64dec": textSignature(asLong(0), text),
	"b32enc": textSignature(encodedIn(8, 5), text), "b32dec": textSignature(asLong(0), text),
	"sha1sum": textSignature(boundBy(40), text), "sha256sum": textSignature(boundBy(64), text),
	"sha512sum": textSignature(boundBy(128), text), "adler32sum": textSignature(boundBy(10), text),

	"base": newSignature(String, text), "dir": newSignature(String, text), "clean": newSignature(String, text),
	"ext": textSignature(asLong(0), text), "isAbs": newSignature(Bool, text),
	"urlParse": setEach(newSignature(Map, text), String), "urlJoin": newSignature(String, entries),
	"semver": setEach(newSignature(Map, text), String|Int), "semverCompare": newSignature(Bool, text, text),
	"duration":      newSignature(String, count),
	"durationRound": newSignature(String, Param{Fits: Int | String}),
	"childName":     textSignature(boundName, text, text),

	"mustToYaml": newSignature(String, anything), "mustToPrettyJson": newSignature(String, anything),
	"mustToRawJson": newSignature(String, anything),
}

// setEach adds to a signature what the items or entries of the result are.
func setEach(s Signature, kinds Kinds) Signature {
	s.Result.Each = kinds
	return s
}

// twins are other names of functions.
var twins = map[string]string{
	"mustAppend": "append", "push": "append", "mustPush": "append", "mustPrepend": "prepend",
	"mustChunk": "chunk", "mustReverse": "reverse", "mustFirst": "first", "mustLast": "last",
	"mustRest": "rest", "mustInitial": "initial", "mustSlice": "slice", "mustHas": "has",
	"mustWithout": "without", "mustUniq": "uniq", "mustCompact": "compact", "tuple": "list",
	"mustMerge": "merge", "mustMergeOverwrite": "mergeOverwrite", "mustDeepCopy": "deepCopy",
	"mustRegexMatch": "regexMatch", "mustRegexFind": "regexFind", "mustRegexFindAll": "regexFindAll",
	"mustRegexSplit": "regexSplit", "mustRegexReplaceAll": "regexReplaceAll",
	"mustRegexReplaceAllLiteral": "regexReplaceAllLiteral",
	"typeIsLike":                 "typeIs", "int64": "int", "biggest": "max",
}

func allSignatures() map[string]Signature {
	all := maps.Clone(textSignatures)
	maps.Copy(all, dataSignatures)
	for name, of := range twins {
		all[name] = all[of]
	}
	return all
}
