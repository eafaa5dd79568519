package template

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// TestSpecialsHaveSignatures: whoever checks calls before they are made knows
// every function that templates may call, with the numbers of its arguments.
func TestSpecialsHaveSignatures(t *testing.T) {
	for _, name := range Specials() {
		sig, ok := signature.ForFunction(name)
		if !ok {
			t.Errorf("%s has no signature", name)
			continue
		}
		if fn, own := specials[name]; own && (sig.Min != fn.min || sig.Max != fn.max) {
			t.Errorf("%s takes %d to %d arguments, but its signature says %d to %d", name, fn.min, fn.max, sig.Min, sig.Max)
		}
	}
}

// TestSpecialsTake: the specials that need no cluster take just the kinds of
// values that their signatures say. V is where the value stands, which is the
// argument of this number.
func TestSpecialsTake(t *testing.T) {
	values := map[signature.Kinds]any{
		signature.Nil: nil, signature.Bool: true, signature.Int: int64(3), signature.Float: 1.5, signature.String: "[]",
		signature.List: []any{"a"}, signature.Map: map[string]any{"a": "b"},
	}
	for call, argument := range map[string]int{
		`quote V`: 0, `squote V`: 0, `quote "a" V`: 1, `trim V`: 0, `trimSuffix "a" V`: 1, `trimSuffix V "a"`: 0,
		`indent 2 V`: 1, `nindent 2 V`: 1, `default "a" V`: 1, `default V nil`: 0, `required "m" V`: 1,
		`toYaml V`: 0, `toYamlPretty V`: 0, `toJson V`: 0, `mustToJson V`: 0, `toRawJson V`: 0, `toPrettyJson V`: 0,
		`fromYaml V`: 0, `fromYamlArray V`: 0, `fromJson V`: 0, `fromJsonArray V`: 0, `mustFromJson V`: 0,
		`and V "a"`: 0, `or V "a"`: 0, `and "a" V`: 1,
	} {
		name, _, _ := strings.Cut(call, " ")
		sig, _ := signature.ForFunction(name)
		param := sig.Param(argument, strings.Count(call, " "))
		for kind, v := range values {
			wants := (param.Fits|param.Suspect)&kind != 0
			if name == "required" && v == nil {
				wants = false // which is what it is for
			}
			text := `a: {{ kindOf (` + strings.Replace(call, "V", ".v", 1) + `) }}` + "\n"
			if _, err := run(t, text, map[string]any{"v": v}); (err == nil) != wants {
				t.Errorf("%s of %s: %v, against its signature", call, kind, err)
			}
		}
	}
}
