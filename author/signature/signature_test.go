package signature

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

var everyKind = []Kinds{Nil, Bool, Int, Float, String, List, Map}

// samples are values of one kind, so many and so various that a function
// which takes the kind takes one of them.
func samples(k Kinds) []any {
	switch k {
	case Nil:
		return []any{nil}
	case Bool:
		return []any{true, false}
	case Int:
		return []any{int64(0), int64(1), int64(2), int64(30), int64(-3)}
	case Float:
		return []any{0.5, 3.0, -1.0, 1e300}
	case String:
		return []any{
			"", "a", "web app", "12", "0", "1.5", "1.2.3", ">=1", "1h5m", "YWI=", "MFRGG===", "a: [1]", `{"a":1}`, `[1]`,
			strings.Repeat("été ", 30), "https://a.example/b", "%v", "%s", "%d", "%t %v", "string",
		}
	case List:
		return []any{[]any{}, []any{"b", "a"}, []any{int64(1), map[string]any{"a": "b"}}}
	}
	return []any{map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": map[string]any{"b": int64(1)}}}
}

// ofKinds draws a value of one of the kinds.
func ofKinds(t *rapid.T, kinds Kinds, label string) any {
	var from []any
	for _, k := range everyKind {
		if kinds&k != 0 {
			from = append(from, samples(k)...)
		}
	}
	return rapid.SampledFrom(from).Draw(t, label)
}

// fitting draws a function's arguments as its signature wants them.
func fitting(t *rapid.T, sig Signature) []any {
	most := sig.Max
	if most < 0 {
		most = sig.Min + 3
	}
	args := make([]any, rapid.IntRange(sig.Min, most).Draw(t, "count"))
	for i := range args {
		args[i] = ofKinds(t, sig.Param(i, len(args)).Fits, fmt.Sprint("argument ", i))
	}
	return args
}

// refusedKind is an error that is about the kind of an argument.
var refusedKind = regexp.MustCompile(`argument (\d+) (must be an? (string|list|map|integer|number|boolean)\b.*, got|is nil|looks into)`)

// byValue are the functions where one argument's value decides what another
// may be.
var byValue = []string{"printf", "index", "dig", "quote", "squote"}

// TestSignatures: what a signature lets in is not refused for its kind, and
// gives what the signature says.
func TestSignatures(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(funcs.Table())) {
		sig := pureSignature(t, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				args := fitting(t, sig)
				got, err := funcs.Table()[name].Call(args, funcs.Limits{})
				if err != nil {
					if !sig.Alike && !slices.Contains(byValue, name) && refusedKind.MatchString(err.Error()) {
						t.Fatalf("%v: %v", args, err)
					}
					return
				}
				if wrong := misdescribed(sig, args, got); wrong != nil {
					t.Fatalf("%v gave %v, %v", args, got, wrong)
				}
			})
		})
	}
}

// pureSignature is that of the function of this package, also where templates
// get another of that name.
func pureSignature(t *testing.T, name string) Signature {
	t.Helper()
	sig, ok := ForFunction(name)
	if !ok {
		t.Fatalf("%s has no signature", name)
	}
	f := funcs.Table()[name]
	sig.Min, sig.Max = f.Min, f.Max
	switch name {
	case "quote", "squote":
		sig.Params, sig.Longest = []Param{{Fits: Any}}, nil // with marks
	case "indent", "nindent":
		sig.Params = []Param{position, text}
	case "fromYaml", "fromJson", "mustFromJson", "fromYamlArray", "fromJsonArray":
		sig.Params = []Param{text}
	}
	return sig
}

// misdescribed says what of a result its signature does not say.
func misdescribed(sig Signature, args []any, got any) error {
	r := sig.Result
	is := func(v any) bool { return cmp.Equal(v, got) }
	if r.Kinds&KindsOf(got) == 0 {
		return fmt.Errorf("not %s", r.Kinds)
	}
	if r.Is != nil && got != nil && !slices.ContainsFunc(chosen(sig, args, r.Is), is) {
		return errors.New("none of its arguments")
	}
	for _, list := range chosen(sig, args, r.Item) {
		if items, _ := list.([]any); got != nil && !slices.ContainsFunc(items, is) {
			return errors.New("not an item")
		}
	}
	if got == nil && r.NilWith != nil && slices.ContainsFunc(chosen(sig, args, r.NilWith), func(v any) bool { return v != nil }) {
		return errors.New("nil though its argument is not")
	}
	if sig.Longest != nil {
		if wrong := tooShort(sig, args, got); wrong != nil {
			return wrong
		}
	}
	return wrongParts(sig, args, got)
}

func chosen(sig Signature, args []any, params []int) []any {
	var out []any
	for _, p := range params {
		for _, i := range sig.Args(p, len(args)) {
			if i < len(args) {
				out = append(out, args[i])
			}
		}
	}
	return out
}

// tooShort tries the bound with every argument known, and with none.
func tooShort(sig Signature, args []any, got any) error {
	known, unknown := make([]Arg, len(args)), make([]Arg, len(args))
	for i, v := range args {
		known[i] = Arg{Max: -1, Value: v, Known: true}
		unknown[i] = Arg{Max: textLength(v)}
	}
	s, _ := got.(string)
	for _, given := range [][]Arg{known, unknown} {
		if n := sig.Longest(given); n >= 0 && utf8.RuneCountInString(s) > n {
			return fmt.Errorf("more than %d characters", n)
		}
	}
	return nil
}

// wrongParts looks at the items or entries of a result.
func wrongParts(sig Signature, args []any, got any) error {
	r := sig.Result
	parts := partsOf(got)
	if r.Each != 0 {
		for _, v := range parts {
			if r.Each&KindsOf(v) == 0 {
				return fmt.Errorf("with a part that is not %s", r.Each)
			}
		}
	}
	if r.Keeps == nil && r.Holds == nil {
		return nil
	}
	from := chosen(sig, args, r.Holds)
	for _, v := range chosen(sig, args, r.Keeps) {
		from = append(from, partsOf(v)...)
	}
	for _, v := range parts {
		same := func(other any) bool { return cmp.Equal(v, other) }
		if !slices.ContainsFunc(from, same) && KindsOf(v) != Map { // merged maps are new
			return errors.New("with a part that no argument has")
		}
	}
	return nil
}

func partsOf(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		return slices.Collect(maps.Values(v))
	}
	return nil
}

// TestSignaturesRefuse: what is neither fit nor suspect is always an error;
// what is either is taken for some value.
func TestSignaturesRefuse(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(funcs.Table())) {
		sig := pureSignature(t, name)
		for i := range max(len(sig.Params)+len(sig.Tail), sig.Min) {
			p := sig.Param(i, max(len(sig.Params)+len(sig.Tail), sig.Min))
			for _, k := range everyKind {
				if taken := takes(sig, name, i, k); taken != ((p.Fits|p.Suspect)&k != 0) {
					t.Errorf("%s: argument %d, %s: taken is %v, against the signature", name, i+1, k, taken)
				}
			}
		}
	}
}

// takes tries values of one kind for the i-th argument, with others that fit,
// as few and as many as the signature names.
func takes(sig Signature, name string, i int, k Kinds) bool {
	most := len(sig.Params) + len(sig.Tail)
	for seed := range 200 {
		args := rapid.Custom(func(t *rapid.T) []any {
			args := make([]any, rapid.IntRange(max(sig.Min, i+1), max(sig.Min, most)).Draw(t, "count"))
			for at := range args {
				args[at] = ofKinds(t, sig.Param(at, len(args)).Fits, "another")
			}
			args[i] = ofKinds(t, k, "this")
			return args
		}).Example(seed)
		if _, err := funcs.Table()[name].Call(args, funcs.Limits{}); err == nil {
			return true
		}
	}
	return false
}

func TestFormatParams(t *testing.T) {
	for _, c := range []struct {
		format string
		n      int
		want   []Param
		err    string
	}{
		{"plain", 0, []Param{}, ""},
		{"%s-%d", 2, []Param{text, position}, ""},
		{"%*d %%", 2, []Param{position, position}, ""},
		{"%[2]v %5.1[1]f", 2, []Param{{Fits: Number}, texts}, ""},
		{"%s", 0, nil, "wants an argument 2, which is not there"},
		{"%s", 2, nil, "argument 3 is not used by the format"},
		{"%p", 1, nil, "%p, which templates may not use"},
		{"%", 0, nil, "ends within a directive"},
	} {
		got, err := FormatParams(c.format, c.n)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: got error %v, want %s", c.format, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", c.format, err, diff)
		}
	}
}
