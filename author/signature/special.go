package signature

// specialSignatures are those of the functions that package template has: the
// ones that need the execution, and some that keep printable values what they
// are, and so take more than their namesakes here.
var specialSignatures = map[string]Signature{
	"and": extra(1, -1, true, oneOf(gives(Any, anything), 0)),
	"or":  extra(1, -1, true, oneOf(gives(Any, anything), 0)),

	"default":    extra(2, 2, true, oneOf(gives(Any, anything, anything), 0, 1)),
	"required":   extra(2, 2, true, Signature{Params: []Param{message, anything}, Result: Result{Kinds: Present, Is: []int{1}}}),
	"fail":       extra(1, 1, true, gives(0, message)),
	"wait":       extra(1, 1, true, gives(0, message)),
	"quote":      extra(0, -1, true, nilWith(within(joined(1), marked), 0)),
	"squote":     extra(0, -1, true, nilWith(within(joined(1), marked), 0)),
	"trim":       extra(1, 1, true, within(asLong(0), text)),
	"trimSuffix": extra(2, 2, true, within(asLong(1), text, text)),
	"indent":     extra(2, 2, true, nilWith(within(nil, Param{Fits: Int}, marked), 1)),
	"nindent":    extra(2, 2, true, nilWith(within(nil, Param{Fits: Int}, marked), 1)),

	"toYaml": encoder(), "toYamlPretty": encoder(), "toJson": encoder(),
	"mustToJson": encoder(), "toRawJson": encoder(), "toPrettyJson": encoder(),
	"fromYaml": decoder(Any), "fromJson": decoder(Any), "mustFromJson": decoder(Any),
	"fromYamlArray": decoder(List), "fromJsonArray": decoder(List),

	"include":  extra(2, 2, false, gives(String, text, anything)),
	"hasAPI":   extra(2, 2, false, gives(Bool, text, text)),
	"lookup":   extra(4, 4, false, gives(Map|Nil, text, text, Param{Fits: String | Nil}, text)),
	"select":   extra(3, 4, false, each(gives(List, text, text, Param{Fits: Map}, Param{Fits: String | Nil}), Map)),
	"child":    extra(1, 1, false, gives(Map|Nil, text)),
	"children": extra(1, 1, false, each(gives(List, text), Map)),
	"await":    extra(1, 1, false, gives(Map, text)),
	"rendered": extra(1, 1, false, gives(Any, text)),
	"config":   extra(1, 1, false, gives(Any, text)),
	"file":     extra(1, 1, false, gives(String, text)),
	"stable":   extra(3, 3, false, within(func(args []Arg) int { return knownCount(args, 2) }, text, text, Param{Fits: Int})),
}

var (
	marked  = Param{Fits: Scalar | Nil}
	message = Param{Fits: Scalar, Suspect: Nil | List | Map}
)

func extra(least, most int, pure bool, s Signature) Signature {
	s.Min, s.Max, s.Pure = least, most, pure
	if s.Result.NilWith != nil {
		s.Result.Kinds |= Nil
	}
	return s
}

func encoder() Signature { return extra(1, 1, true, gives(String, anything)) }

func decoder(result Kinds) Signature { return extra(1, 1, true, gives(result, text)) }
