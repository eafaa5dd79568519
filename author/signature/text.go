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

// gives is a signature of which only the kinds of the result are known.
func gives(result Kinds, params ...Param) Signature {
	return Signature{Params: params, Repeat: max(0, len(params)-1), Result: Result{Kinds: result}}
}

// within is a function of texts that gives a text; longest bounds it.
func within(longest func([]Arg) int, params ...Param) Signature {
	s := gives(String, params...)
	s.Longest = longest
	return s
}

var textSignatures = map[string]Signature{
	"upper": within(asLong(0), text), "lower": within(asLong(0), text),
	"title": within(asLong(0), text), "untitle": within(asLong(0), text),
	"swapcase": within(asLong(0), text), "nospace": within(asLong(0), text),
	"snakecase": gives(String, text), "camelcase": gives(String, text), "kebabcase": gives(String, text),
	"trimall": within(asLong(1), text, text), "trimAll": within(asLong(1), text, text),
	"trimPrefix": within(asLong(1), text, text),
	"abbrev":     within(asLong(1), position, text), "abbrevboth": within(asLong(2), position, position, text),
	"initials": within(asLong(0), text),
	"plural":   within(longer(0, 1), text, text, position),
	"repeat":   within(repeated, position, text),
	"replace":  within(replaced, text, text, text),
	"wrap":     gives(String, position, text), "wrapWith": gives(String, position, text, text),
	"trunc": within(upTo(0, 1), position, text), "substr": within(asLong(2), position, position, text),
	"contains": gives(Bool, text, text), "hasPrefix": gives(Bool, text, text), "hasSuffix": gives(Bool, text, text),

	"print": within(joined(1), texts), "println": gives(String, texts), "cat": within(joined(1), texts),
	"printf":   within(formatted, text, texts),
	"toString": within(asLong(0), texts), "urlquery": gives(String, texts),

	"split": each(gives(Map, text, text), String), "splitn": each(gives(Map, text, position, text), String),
	"splitList": each(gives(List, text, text), String),
	"join":      gives(String, text, lines),
	"sortAlpha": each(gives(List, lines), String),
	"toStrings": each(gives(List, Param{Fits: List | Nil | Scalar}), String),

	"regexMatch": gives(Bool, text, text), "regexFind": within(asLong(1), text, text),
	"regexFindAll":           each(gives(List, text, text, position), String),
	"regexSplit":             each(gives(List, text, text, position), String),
	"regexReplaceAll":        gives(String, text, text, text),
	"regexReplaceAllLiteral": gives(String, text, text, text),
	"regexQuoteMeta":         gives(String, text),

	"b64enc": within(encodedIn(4, 3), text), "b64dec": within(asLong(0), text),
	"b32enc": within(encodedIn(8, 5), text), "b32dec": within(asLong(0), text),
	"sha1sum": within(most(40), text), "sha256sum": within(most(64), text),
	"sha512sum": within(most(128), text), "adler32sum": within(most(10), text),

	"base": gives(String, text), "dir": gives(String, text), "clean": gives(String, text),
	"ext": within(asLong(0), text), "isAbs": gives(Bool, text),
	"urlParse": each(gives(Map, text), String), "urlJoin": gives(String, entries),
	"semver": each(gives(Map, text), String|Int), "semverCompare": gives(Bool, text, text),
	"duration":      gives(String, count),
	"durationRound": gives(String, Param{Fits: Int | String}),
	"childName":     within(named, text, text),

	"mustToYaml": gives(String, anything), "mustToPrettyJson": gives(String, anything),
	"mustToRawJson": gives(String, anything),
}

// each adds what the items or entries of the result are.
func each(s Signature, kinds Kinds) Signature {
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
