package funcs

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// value makes any template value, rather the awkward ones.
func value() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.SampledFrom([]any{
			nil, true, false, int64(0), int64(1), int64(-1), int64(3), 0.0, 1.5, 3.0, -0.5, 1e300,
			int64(math.MaxInt64), int64(math.MinInt64),
			"", "a", "a,b", "éa\n b", "12", "010", "1.5", "\xff", "\u2028<&>", "no", "1.2.3", ">=1", "(a|b)+", "%s", "%5.2f-%v", "$1", "YWI=",
			"a: [1]", `{"a":1}`,
		}),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Int64Range(-9, 9), func(n int64) any { return n }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.StringN(0, 20, 40), func(s string) any { return s }),
	)
	level := leaf
	for range 3 {
		below := level
		level = rapid.OneOf(leaf, leaf,
			rapid.Map(rapid.SliceOfN(below, 0, 4), func(list []any) any { return list }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "host", "é"}), below, 0, 3),
				func(m map[string]any) any { return m }),
		)
	}
	return level
}

// someArguments makes as many arguments as a function takes.
func someArguments(t *rapid.T, f *Func) []any {
	most := f.Max
	if most < 0 {
		most = f.Min + 3
	}
	return rapid.SliceOfN(value(), f.Min, most).Draw(t, "args")
}

var smallLimits = Limits{Bytes: 200, Nodes: 100}

func checkCall(t interface {
	Errorf(string, ...any)
	Helper()
}, f *Func, args []any) {
	t.Helper()
	before := copied(args)
	got, err := f.Call(args, smallLimits)
	if diff := cmp.Diff(before, any(args), sameFloats); diff != "" {
		t.Errorf("%s changed its arguments:\n%s", f.Name, diff)
	}
	if err != nil {
		if !strings.HasPrefix(err.Error(), f.Name+": ") {
			t.Errorf("%s: the error does not start with the name: %v", f.Name, err)
		}
		return
	}
	checkResult(t, f, args, got)
	again, err := f.Call(args, smallLimits)
	if diff := cmp.Diff(got, again, sameFloats); diff != "" || err != nil {
		t.Errorf("%s gave something else the second time: %v\n%s", f.Name, err, diff)
	}
}

func checkResult(t interface{ Errorf(string, ...any) }, f *Func, args []any, got any) {
	nodes, longest := size(got)
	argNodes, argLongest := size(any(args))
	if nodes > max(smallLimits.Nodes, argNodes) {
		t.Errorf("%s gave %d nodes", f.Name, nodes)
	}
	if longest > max(smallLimits.Bytes, argLongest) {
		t.Errorf("%s gave %d bytes", f.Name, longest)
	}
}

var sameFloats = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

// copied is a deep copy.
func copied(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copied(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			out[key] = copied(v[key])
		}
		return out
	}
	return v
}

// size gives the nodes and the longest text of a value. Anything that is no
// template value counts as endless.
func size(v any) (nodes, longest int) {
	nodes = 1
	add := func(v any) {
		n, text := size(v)
		nodes, longest = nodes+n, max(longest, text)
	}
	switch v := v.(type) {
	case nil, bool, int64:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.MaxInt, 0
		}
	case string:
		return 1, len(v)
	case []any:
		for _, item := range v {
			add(item)
		}
	case map[string]any:
		for key, item := range v {
			longest = max(longest, len(key))
			add(item)
		}
	default:
		return math.MaxInt / 2, 0
	}
	return nodes, longest
}

func TestArgumentsAndResults(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(Table())) {
		f := Table()[name]
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkCall(t, f, someArguments(t, f)) })
		})
	}
}

// TestCasesWithSmallLimits runs the cases of the table, whose arguments fit,
// through the same checks.
func TestCasesWithSmallLimits(t *testing.T) {
	for _, c := range slices.Concat(textCases, listCases, numberCases, codeCases, otherCases) {
		checkCall(t, Table()[c.name], int64s(c.args).([]any))
	}
}

func FuzzFunctions(f *testing.F) {
	names := slices.Sorted(maps.Keys(Table()))
	f.Add(0, "a", "b", int64(1), 1.5)
	f.Add(40, "%*d", "", int64(-1), math.Inf(1))
	called := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, which int, s, u string, n int64, x float64) {
		fn := Table()[names[uint(which)%uint(len(names))]]
		gave := false
		pool := []any{s, n, u, x, nil, []any{s, n, nil}, map[string]any{s: u, "a": n}, true}
		for shift := range pool {
			for count := 0; count <= 4; count++ {
				args := slices.Concat(pool[shift:], pool)[:count]
				out, err := fn.Call(args, smallLimits)
				gave = gave || err == nil
				if again, errAgain := fn.Call(args, smallLimits); (err == nil) != (errAgain == nil) || err == nil && x == x && !areEqual(out, again) {
					t.Errorf("%s twice is not the same: %v and %v", fn.Name, out, again)
				}
				if nodes, _ := size(out); err == nil && nodes > 1000 && !math.IsInf(x, 0) && x == x {
					t.Errorf("%s gave %d nodes", fn.Name, nodes)
				}
			}
		}
		if gave {
			called()
		}
	})
}
