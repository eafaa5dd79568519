package signature

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// The functions here bound the characters of the text that a function gives;
// -1 is unbounded.

// boundBy returns a bound of n characters, whatever the arguments.
func boundBy(n int) func([]Arg) int { return func([]Arg) int { return n } }

// asLong is at most as long as the i-th argument.
func asLong(i int) func([]Arg) int {
	return func(args []Arg) int { return longestOf(args, i) }
}

func longestOf(args []Arg, i int) int {
	switch {
	case i >= len(args):
		return -1
	case args[i].Known:
		return textLength(args[i].Value)
	}
	return args[i].Max
}

func textLength(v any) int {
	out, err := funcs.AppendText(nil, v, funcs.DefaultLimits)
	if err != nil {
		return -1
	}
	return utf8.RuneCount(out)
}

// knownCount is the number that an argument is; -1 if it is not known, or
// negative.
func knownCount(args []Arg, i int) int {
	if i >= len(args) || !args[i].Known {
		return -1
	}
	n, isWhole := wholeNumber(args[i].Value)
	if !isWhole || n < 0 || n > 1<<30 {
		return -1
	}
	return int(n)
}

// wholeNumber reads a number without a fraction.
func wholeNumber(v any) (n int64, isWhole bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && v >= -1<<63 && v < 1<<63
	}
	return 0, false
}

// upTo is cut to a length; a negative one keeps as many from the end.
func upTo(length, of int) func([]Arg) int {
	return func(args []Arg) int {
		longest := longestOf(args, of)
		if length >= len(args) || !args[length].Known {
			return longest
		}
		n, isWhole := wholeNumber(args[length].Value)
		if n = max(n, -n); !isWhole || n < 0 || n > 1<<30 {
			return longest
		}
		if longest < 0 {
			return int(n)
		}
		return min(longest, int(n))
	}
}

// boundLonger returns a bound by the longer of two arguments.
func boundLonger(i, k int) func([]Arg) int {
	return func(args []Arg) int {
		a, b := longestOf(args, i), longestOf(args, k)
		if a < 0 || b < 0 {
			return -1
		}
		return max(a, b)
	}
}

// boundJoin returns a bound by all arguments, with so many characters between them.
func boundJoin(between int) func([]Arg) int {
	return func(args []Arg) int {
		sum := between * max(0, len(args)-1)
		for i := range args {
			n := longestOf(args, i)
			if n < 0 {
				return -1
			}
			sum += n
		}
		return sum
	}
}

// boundName bounds the name of an object: all arguments, joined by a dash and cut to the length of
// a name.
func boundName(args []Arg) int {
	if sum := boundJoin(1)(args); sum >= 0 {
		return min(sum, funcs.MaxName)
	}
	return funcs.MaxName
}

// boundRepeat bounds the result of repeat.
func boundRepeat(args []Arg) int {
	n, each := knownCount(args, 0), longestOf(args, 1)
	if n < 0 || each < 0 {
		return -1
	}
	if n > 0 && each > math.MaxInt/n {
		return math.MaxInt
	}
	return n * each
}

// boundReplace bounds the result of replace. The text does not grow where what is put in is no
// longer.
func boundReplace(args []Arg) int {
	if len(args) < 3 || !args[0].Known {
		return -1
	}
	from, to := longestOf(args, 0), longestOf(args, 1)
	if from < 1 || to < 0 || to > from {
		return -1
	}
	return longestOf(args, 2)
}

// encodedIn is an encoding that makes so many characters of so many bytes; a
// character may take four bytes.
func encodedIn(out, in int) func([]Arg) int {
	return func(args []Arg) int {
		n := longestOf(args, 0)
		if n < 0 {
			return -1
		}
		return (n*utf8.UTFMax + in - 1) / in * out
	}
}

// longestInt is -9223372036854775808.
const longestInt = 20

// boundFormat bounds the result of printf, where the format is known and has no flags or widths.
func boundFormat(args []Arg) int {
	if len(args) == 0 || !args[0].Known {
		return -1
	}
	format, ok := args[0].Value.(string)
	if !ok {
		return -1
	}
	sum, known := 0, true
	text, err := funcs.Format(funcs.DefaultLimits, format, make([]any, len(args)-1), func(spec string, verb rune, i int) {
		n := longestOf(args, i+1)
		if verb == 'd' {
			n = longestInt
		}
		known = known && spec == "%" && strings.ContainsRune("svd", verb) && n >= 0
		sum += n
	})
	if err != nil || !known {
		return -1
	}
	return sum + utf8.RuneCountInString(text)
}
