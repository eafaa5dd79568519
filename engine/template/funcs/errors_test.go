package funcs

import (
	"math"
	"strings"
	"testing"
)

// secret is a value that no error may tell.
const secret = "hunter2"

var errorCases = []struct {
	name string
	args []any
	want string
}{
	{"upper", l{}, "upper: needs 1 argument, got 0"},
	{"default", l{}, "default: needs 1 to 2 arguments, got 0"},
	{"eq", l{1}, "eq: needs at least 2 arguments, got 1"},
	{"upper", l{l{}}, "upper: argument 1 must be a string, got a list"},
	{"upper", l{nil}, "upper: argument 1 is nil (an absent field); use default or ifNil"},
	{"contains", l{"a", 1}, "contains: argument 2 must be a string, got an integer"},
	{"keys", l{m{}, secret}, "keys: argument 2 must be a map, got a string"},
	{"merge", l{m{}, l{}}, "merge: argument 2 must be a map, got a list"},
	{"concat", l{l{}, 1}, "concat: argument 2 must be a list, got an integer"},
	{"first", l{secret}, "first: argument 1 must be a list, got a string"},
	{"len", l{3}, "len: argument 1 must be a string, a list or a map, got an integer"},

	{"eq", l{secret, 1}, "eq: cannot compare a string with an integer"},
	{"ne", l{l{}, m{}}, "ne: cannot compare a list with a map"},
	{"lt", l{secret, 1.5}, "lt: cannot order a string and a number"},
	{"gt", l{true, true}, "gt: cannot order a boolean and a boolean"},
	{"ge", l{nil, 1}, "ge: argument 1 is nil (an absent field); use default or ifNil"},
	{"ternary", l{1, 2, secret}, "ternary: argument 3 must be a boolean, got a string"},
	{"index", l{secret, 0}, "index: argument 2 looks into a string; only lists and maps have parts"},
	{"index", l{l{1}, "a"}, "index: argument 2 must be an integer, got a string"},
	{"index", l{l{1}, 0.5}, "index: argument 2 must be a whole number, got one with a fraction or beyond 64 bits"},
	{"index", l{l{1}, -1}, "index: argument 2 must not be negative"},
	{"index", l{m{"1": 1}, 1}, "index: argument 2 must be a string, the key of a map, got an integer"},
	{"dig", l{"a", "b", 1, m{"a": secret}}, "dig: argument 2 looks into a string; only maps have keys"},
	{"dict", l{"a"}, "dict: argument 1 is a key without a value"},
	{"dict", l{1, 2}, "dict: argument 1 must be a string, the key of a map, got an integer"},
	{"slice", l{l{1}, 2}, "slice: argument 2 is beyond the end, or negative"},
	{"slice", l{secret, 1, 99}, "slice: argument 3 is beyond the end, or before argument 2"},
	{"substr", l{5, 2, secret}, "substr: argument 1 is beyond the end"},
	{"substr", l{99, -1, secret}, "substr: argument 1 is beyond the end"},
	{"substr", l{-1, -1, secret}, "substr: argument 2 must not be negative where argument 1 is"},
	{"chunk", l{0, l{}}, "chunk: argument 1 must be at least 1"},

	{"int", l{secret}, "int: argument 1 is text that is not a 64-bit integer"},
	{"int", l{"010"}, "int: argument 1 is text with a leading zero; atoi reads it as decimal, toDecimal as octal"},
	{"int", l{true}, "int: argument 1 must be an integer, got a boolean"},
	{"int", l{1e300}, "int: argument 1 must be a whole number, got one with a fraction or beyond 64 bits"},
	{"atoi", l{secret}, "atoi: argument 1 is no 64-bit integer of base 10"},
	{"toDecimal", l{"9"}, "toDecimal: argument 1 is no 64-bit integer of base 8"},
	{"float64", l{"1e400"}, "float64: argument 1 is text that is not a number, or beyond 64 bits"},
	{"float64", l{"NaN"}, "float64: argument 1 is text that is not a number, or beyond 64 bits"},
	{"add", l{1, nil}, "add: argument 2 is nil (an absent field); use default or ifNil"},
	{"add", l{1, 1.5}, "add: argument 2 must be a whole number, got one with a fraction or beyond 64 bits"},
	{"add", l{math.MaxInt64, 1}, "add: the result is beyond 64 bits"},
	{"sub", l{math.MinInt64, 1}, "sub: the result is beyond 64 bits"},
	{"mul", l{math.MinInt64, -1}, "mul: the result is beyond 64 bits"},
	{"mul", l{-1, math.MinInt64}, "mul: the result is beyond 64 bits"},
	{"mul", l{1 << 40, 1 << 40}, "mul: the result is beyond 64 bits"},
	{"div", l{1, 0}, "div: argument 2 is zero"},
	{"div", l{math.MinInt64, -1}, "div: the result is beyond 64 bits"},
	{"mod", l{1, 0}, "mod: argument 2 is zero"},
	{"divf", l{1, 2, 0}, "divf: argument 3 is zero"},
	{"mulf", l{1e300, 1e300}, "mulf: the result is infinite or not a number"},
	{"round", l{1, 0.5}, "round: argument 2 must be a whole number from -300 to 300"},

	{"print", l{"a", nil}, "print: argument 2 is nil (an absent field); use default or ifNil"},
	{"cat", l{"a", nil}, "cat: argument 2 is nil (an absent field); use default or ifNil"},
	{"toString", l{nil}, "toString: argument 1 is nil (an absent field); use default or ifNil"},
	{"quote", l{"a", nil}, "quote: argument 2 is nil (an absent field); use default or ifNil"},
	{"join", l{",", l{"a", nil}}, "join: argument 2 item 1 is nil (an absent field); use default or ifNil"},
	{"join", l{",", l{l{}}}, "join: argument 2 item 0 must be a string, a number or a boolean, got a list"},
	{"join", l{",", m{}}, "join: argument 2 must be a string, a number or a boolean, got a map"},
	{"printf", l{"%s", nil}, "printf: argument 2 is nil (an absent field); use default or ifNil"},
	{"printf", l{"%d", secret}, "printf: argument 2 must be an integer for %d, got a string; %v formats any value"},
	{"printf", l{"%s", 1}, "printf: argument 2 must be a string for %s, got an integer; %v formats any value"},
	{"printf", l{"%d", 1.5}, "printf: argument 2 must be an integer for %d, got a number; %v formats any value"},
	{"printf", l{"%s"}, "printf: the format wants an argument 2, which is not there"},
	{"printf", l{"a", secret}, "printf: argument 2 is not used by the format"},
	{"printf", l{"%[0]s", secret}, "printf: the format wants an argument 1, which is not there"},
	{"printf", l{"%p", secret}, "printf: argument 2 is formatted with %p, which templates may not use"},
	{"printf", l{"%10v", l{}}, "printf: argument 2 is a list, which takes no flags or width"},
	{"printf", l{"%"}, "printf: the format ends within a directive"},
	{"printf", l{"%[x]d", 1}, "printf: an argument index in the format is no number in brackets"},

	{"fromJson", l{`{"` + secret + `":`}, "fromJson: argument 1 is not valid JSON (after byte 11)"},
	{"fromJson", l{`{"a":1,"a":2}`}, "fromJson: argument 1 has a key twice (byte 10)"},
	{"fromJson", l{`1 2`}, "fromJson: argument 1 has more than one value"},
	{"fromJson", l{`18446744073709551616`}, "fromJson: argument 1 has an integer beyond 64 bits"},
	{"fromJson", l{`1e400`}, "fromJson: argument 1 has a number beyond 64 bits"},
	{"fromJsonArray", l{`{}`}, "fromJsonArray: argument 1 must be text of a list, got one of a map"},
	{"fromYaml", l{"a: 1\n" + secret + ": {"}, "fromYaml: argument 1 is not valid YAML (line 2)"},
	{"fromYaml", l{"a: 1\na: 2"}, "fromYaml: argument 1 has a key twice (line 2)"},
	{"fromYaml", l{"a: &x 1\nb: *x"}, "fromYaml: argument 1 has an anchor, alias or merge key (line 1)"},
	{"fromYaml", l{"a: !t 1"}, "fromYaml: argument 1 has a tag (line 1)"},
	{"fromYaml", l{"a\n---\nb"}, "fromYaml: argument 1 has more than one YAML document"},
	{"fromYaml", l{"a: .inf"}, "fromYaml: argument 1 is not valid YAML"},
	{"fromYaml", l{"a: 18446744073709551615"}, "fromYaml: argument 1 has an integer beyond 64 bits"},
	{"fromYaml", l{"a: \"" + secret}, "fromYaml: argument 1 is not valid YAML"},
	{"b64dec", l{secret}, "b64dec: argument 1 is not valid base64"},
	{"b64dec", l{"/w=="}, "b64dec: the result is not text but binary data"},
	{"urlParse", l{":" + secret}, "urlParse: argument 1 is not a URL"},
	{"urlJoin", l{m{"host": 1}}, "urlJoin: argument 1 has an integer for host, which must be a string"},
	{"regexMatch", l{"(" + secret, ""}, "regexMatch: argument 1 is not a regular expression: missing closing )"},
	{"semver", l{secret}, "semver: argument 1 is not a semantic version"},
	{"semverCompare", l{secret, "1.0.0"}, "semverCompare: argument 1 is not a constraint for versions"},
	{"duration", l{1 << 40}, "duration: the result is beyond 64 bits"},
	{"durationRound", l{secret}, "durationRound: argument 1 is not a duration"},
	{"childName", l{"", "a"}, "childName: argument 1 is empty"},
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		got, err := call(t, c.name, c.args...)
		if err == nil {
			t.Errorf("%s %v = %v, want the error %q", c.name, c.args, got, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%s %v\n got %s\nwant %s", c.name, c.args, err, c.want)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error tells a value: %s", c.name, err)
		}
	}
}
