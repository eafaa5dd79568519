package signature

// specialSignatures are those of the functions that package template has: the
// ones that need the execution, and some that keep printable values what they
// are, and so take more than their namesakes here.
var specialSignatures = map[string]Signature{
	"and": specialSignature(1, -1, true, oneOf(newSignature(Any, anything), 0)),
	"or":  specialSignature(1, -1, true, oneOf(newSignature(Any, anything), 0)),

	"default":    specialSignature(2, 2, true, oneOf(newSignature(Any, anything, anything), 0, 1)),
	"required":   specialSignature(2, 2, true, Signature{Params: []Param{message, anything}, Result: Result{Kinds: Present, Is: []int{1}}}),
	"fail":       specialSignature(1, 1, true, newSignature(0, message)),
	"wait":       specialSignature(1, 1, true, newSignature(0, message)),
	"quote":      specialSignature(0, -1, true, nilWith(textSignature(boundJoin(1), marked), 0)),
	"squote":     specialSignature(0, -1, true, nilWith(textSignature(boundJoin(1), marked), 0)),
	"trim":       specialSignature(1, 1, true, textSignature(asLong(0), text)),
	"trimSuffix": specialSignature(2, 2, true, textSignature(asLong(1), text, text)),
	"indent":     specialSignature(2, 2, true, nilWith(textSignature(nil, Param{Fits: Int}, marked), 1)),
	"nindent":    specialSignature(2, 2, true, nilWith(textSignature(nil, Param{Fits: Int}, marked), 1)),

	"toYaml": encoderSignature(), "toYamlPretty": encoderSignature(), "toJson": encoderSignature(),
	"mustToJson": encoderSignature(), "toRawJson": encoderSignature(), "toPrettyJson": encoderSignature(),
	"fromYaml": decoderSignature(Any), "fromJson": decoderSignature(Any), "mustFromJson": decoderSignature(Any),
	"fromYamlArray": decoderSignature(List), "fromJsonArray": decoderSignature(List),

	"include":  specialSignature(2, 2, false, newSignature(String, text, anything)),
	"hasAPI":   specialSignature(2, 2, false, newSignature(Bool, text, text)),
	"lookup":   specialSignature(4, 4, false, newSignature(Map|Nil, text, text, Param{Fits: String | Nil}, text)),
	"select":   specialSignature(3, 4, false, setEach(newSignature(List, text, text, Param{Fits: Map}, Param{Fits: String | Nil}), Map)),
	"child":    specialSignature(1, 1, false, newSignature(Map|Nil, text)),
	"children": specialSignature(1, 1, false, setEach(newSignature(List, text), Map)),
	"await":    specialSignature(1, 1, false, newSignature(Map, text)),
	"rendered": specialSignature(1, 1, false, newSignature(Any, text)),
	"config":   specialSignature(1, 1, false, newSignature(Any, text)),
	"file":     specialSignature(1, 1, false, newSignature(String, text)),
	"stable": specialSignature(3, 3, false,
		textSignature(func(args []Arg) int { return knownCount(args, 2) }, text, text, Param{Fits: Int})),
}

var (
	marked  = Param{Fits: Scalar | Nil}
	message = Param{Fits: Scalar, Suspect: Nil | List | Map}
)

// specialSignature adds to a signature how many arguments there are, and whether they alone decide
// the result.
func specialSignature(least, most int, pure bool, s Signature) Signature {
	s.Min, s.Max, s.Pure = least, most, pure
	if s.Result.NilWith != nil {
		s.Result.Kinds |= Nil
	}
	return s
}

// encoderSignature returns the signature of a function that encodes a value.
func encoderSignature() Signature {
	return specialSignature(1, 1, true, newSignature(String, anything))
}

// decoderSignature returns the signature of a function that decodes a text.
func decoderSignature(result Kinds) Signature {
	return specialSignature(1, 1, true, newSignature(result, text))
}
