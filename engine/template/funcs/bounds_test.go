package funcs

import (
	"runtime"
	"strings"
	"testing"
)

// mostMemory is what a refused call may allocate, in bytes.
const mostMemory = 64 << 20

// Awkward arguments.
var (
	big    = strings.Repeat("x", 1<<20)
	spaced = strings.Repeat("x ", 1<<19)
	shared = doubled(17)
	nested = inMaps(900)
	many   = must("until", int64(1<<18-1))
)

var boundCases = []struct {
	name string
	args []any
	want string
}{
	{"repeat", l{1000000000, "x"}, "repeat: the result would be 1000000000 bytes, more than the limit of 1048576"},
	{"repeat", l{1 << 62, "xxxx"}, "repeat: the result would be more than the limit of 1048576 bytes"},
	{"indent", l{1 << 40, "x\nx"}, "indent: the result would be 2199023255555 bytes, more than the limit of 1048576"},
	{"nindent", l{2, big}, "nindent: the result would be 1048579 bytes, more than the limit of 1048576"},
	{"replace", l{"", big, big}, "replace: the result would be 1099513724928 bytes, more than the limit of 1048576"},
	{"join", l{big, l{1, 2, 3}}, "join: the result would be 2097155 bytes, more than the limit of 1048576"},
	{"cat", l{big, "a"}, "cat: the result would be more than the limit of 1048576 bytes"},
	{"quote", l{big}, "quote: the result would be 1048578 bytes, more than the limit of 1048576"},
	{"wrapWith", l{1, big, spaced}, "wrapWith: the result would be 2199026401280 bytes, more than the limit of 1048576"},
	{"b64enc", l{big}, "b64enc: the result would be 1398104 bytes, more than the limit of 1048576"},
	{"print", l{big, big}, "print: the result would be more than the limit of 1048576 bytes"},
	{"println", l{big, big}, "println: the result would be more than the limit of 1048576 bytes"},
	{"toString", l{shared}, "toString: the result would be more than the limit of 1048576 bytes"},
	{"printf", l{"%1000000000d", 1}, "printf: a number in the format is more than 1024"},
	{"printf", l{"%.99999999999999999999f", 1}, "printf: a number in the format is more than 1024"},
	{"printf", l{"%*d", 1000000000, 1}, "printf: argument 2 is a width or precision of more than 1024"},
	{"printf", l{strings.Repeat("%[1]s", 3), big[:1<<19]}, "printf: the result would be more than the limit of 1048576 bytes"},
	{"printf", l{strings.Repeat("%1000[1]d", 2000), 1}, "printf: the result would be more than the limit of 1048576 bytes"},
	{"printf", l{"%v", shared}, "printf: the result would be more than the limit of 1048576 bytes"},
	{"printf", l{"%q", big}, "printf: the result would be more than the limit of 1048576 bytes"},
	{"until", l{50000000}, "until: the result would have more than the limit of 262144 nodes"},
	{"until", l{-1 << 63}, "until: the result would have more than the limit of 262144 nodes"},
	{"untilStep", l{0, 1 << 62, 1}, "untilStep: the result would have more than the limit of 262144 nodes"},
	{"seq", l{1000000000}, "seq: the result would be more than the limit of 1048576 bytes"},
	{"seq", l{300000}, "seq: the result would be more than the limit of 1048576 bytes"},
	{"seq", l{1, 1<<63 - 1}, "seq: argument 2 is too large a number"},
	{"splitList", l{"", big}, "splitList: the result would have more than the limit of 262144 nodes"},
	{"split", l{"x", big}, "split: the result would have more than the limit of 262144 nodes"},
	{"dict", l{"a", shared, "b", shared}, "dict: the result would have more than the limit of 262144 nodes"},
	{"list", l{shared, shared}, "list: the result would have more than the limit of 262144 nodes"},
	{"set", l{m{"a": shared}, "b", shared}, "set: the result would have more than the limit of 262144 nodes"},
	{"append", l{many, 1}, "append: the result would have more than the limit of 262144 nodes"},
	{"prepend", l{many, 1}, "prepend: the result would have more than the limit of 262144 nodes"},
	{"concat", l{many, many}, "concat: the result would have more than the limit of 262144 nodes"},
	{"chunk", l{1, many}, "chunk: the result would have more than the limit of 262144 nodes"},
	{"pluck", l{"a", m{"a": shared}, m{"a": shared}}, "pluck: the result would have more than the limit of 262144 nodes"},
	{"merge", l{shared, shared}, "merge: the result would have more than the limit of 65536 nodes"},
	{"toYaml", l{l{big, big}}, "toYaml: the result would be more than the limit of 1048576 bytes"},
	{"toYaml", l{many}, "toYaml: the result would have more than the limit of 262144 nodes"},
	{"toYaml", l{l{nested, nested, nested}}, "toYaml: the result would be more than the limit of 1048576 bytes"},
	{"toYamlPretty", l{l{nested, nested, nested}}, "toYamlPretty: the result would be more than the limit of 1048576 bytes"},
	{"toJson", l{shared}, "toJson: the result would be more than the limit of 1048576 bytes"},
	{"toJson", l{strings.Repeat("\x01", 1<<18)}, "toJson: the result would be more than the limit of 1048576 bytes"},
	{"toPrettyJson", l{l{nested, nested}}, "toPrettyJson: the result would be more than the limit of 1048576 bytes"},
	{"list", l{inMaps(999)}, "list: the result would nest deeper than 1000 levels"},
	{"fromJson", l{strings.Repeat("[", 1<<20)}, "fromJson: argument 1 nests deeper than 1000 levels"},
	{"fromYaml", l{strings.Repeat("[", 1<<18)}, "fromYaml: argument 1 is not valid YAML"},
	{"fromYaml", l{big}, "fromYaml: argument 1 is 1048576 bytes, more than the limit of 262144 for YAML"},
	{"fromJson", l{"[" + strings.Repeat("1,", 1<<18) + "1]"}, "fromJson: the result would have more than the limit of 262144 nodes"},
	{"regexMatch", l{"((a{100}){100}){100}", "a"}, "regexMatch: argument 1 is not a regular expression: invalid repeat count"},
	{"regexMatch", l{"((a{9}){90}b{9})+(a{990}){1}(b{900}){1}(c{900}){1}(d{900}){1}(e{900}){1}", "a"},
		"regexMatch: argument 1 is a pattern of more than the limit of 5000 steps; its repetitions multiply"},
	{"regexMatch", l{strings.Repeat("a", 1001), "a"}, "regexMatch: argument 1 is a pattern of 1001 bytes, more than the limit of 1000"},
	{"regexMatch", l{"(x{500})+y", big}, "regexMatch: a pattern of 1009 steps takes too long on 1048576 bytes"},
	{"regexReplaceAll", l{".+", big, strings.Repeat("$0", 500)}, "regexReplaceAll: the result would be more than the limit of 1048576 bytes"},
	{"regexReplaceAllLiteral", l{"x{9}", big[:1<<12], big},
		"regexReplaceAllLiteral: the result would be more than the limit of 1048576 bytes"},
	{"regexFindAll", l{"x(.*y)?", big[:1<<18-9], -1}, "regexFindAll: finding all matches takes too long"},
}

func TestBounds(t *testing.T) {
	for _, c := range boundCases {
		args := wholeArgs(c.args)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := Table()[c.name].Call(args, Limits{})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > mostMemory {
			t.Errorf("%s allocated %d bytes", c.name, n)
		}
		switch {
		case err == nil:
			t.Errorf("%s = %.60v, want the error %q", c.name, got, c.want)
		case err.Error() != c.want:
			t.Errorf("%s\n got %s\nwant %s", c.name, err, c.want)
		}
	}
}

func must(name string, args ...any) any {
	v, err := Table()[name].Call(args, Limits{})
	if err != nil {
		panic(err)
	}
	return v
}

// doubled holds itself twice, so many times over.
func doubled(times int) any {
	v := any("x")
	for range times {
		v = must("dict", "a", v, "b", v)
	}
	return v
}

// inMaps is a map in a map, so many times over.
func inMaps(times int) any {
	v := any("x")
	for range times {
		v = m{"a": v}
	}
	return v
}

// wholeArgs gives the arguments with each int as int64; what they hold stays
// shared.
func wholeArgs(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg
		if n, ok := arg.(int); ok {
			out[i] = int64(n)
		}
		if list, ok := arg.([]any); ok && len(list) < 9 {
			out[i] = wholeArgs(list)
		}
	}
	return out
}

func TestMatchesAreCounted(t *testing.T) {
	lim := Limits{Bytes: 1 << 20, Nodes: 1000}
	for name, args := range map[string][]any{
		"regexFindAll":           {"x", big, int64(-1)},
		"regexSplit":             {"x", big, int64(-1)},
		"regexReplaceAll":        {"x", big, "$0$0"},
		"regexReplaceAllLiteral": {"x", big, "$0"},
	} {
		_, err := Table()[name].Call(args, lim)
		want := name + ": the result would have more than the limit of 1000 nodes"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got the error %v, want %s", name, err, want)
		}
	}
}
