package funcs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// TestSearchIsBoundedByWork: a search that looks through the rest of the text
// for each of its matches is refused, by what it takes and not by the clock.
func TestSearchIsBoundedByWork(t *testing.T) {
	const matches = 62
	for pattern, bytes := range map[string]int{
		"b.*c|b": 800 << 10, "b(?:.?){60}.*c|b": 400 << 10, "b(?:.?){30}.*c|b": 770 << 10,
		strings.Repeat("(", 300) + "b.*c|b" + strings.Repeat(")", 300): 190 << 10,
	} {
		text := strings.Repeat("b"+strings.Repeat("a", bytes/matches-1), matches)
		for _, name := range []string{"regexFindAll", "regexSplit", "regexReplaceAll"} {
			args := []any{pattern, text, "x"}
			if name != "regexReplaceAll" {
				args[2] = int64(-1)
			}
			_, err := Table()[name].Call(args, Limits{})
			if want := name + ": finding all matches takes too long"; err == nil || err.Error() != want {
				t.Errorf("%s of %.20q: the error %v, want %s", name, pattern, err, want)
			}
		}
	}
}

// FuzzPattern: the walk that counts comes by the very matches that package
// regexp finds.
func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{
		"", "a", "a*", "a*?", "(a|ab)(c|bcd)*", `^a|b$`, `(?m)^\w+$`, `\bx\B`, "(?s).*", "(?i)k+", "a{2,3}?", "b.*c|b", "[^a]*", `\z`, `\A`,
		"(|a)*", "(?:a*)*",
	} {
		for _, text := range []string{"", "aaa", "abcd abx\nxk K\u212a", "b\xffa", "bbacab"} {
			f.Add(pattern, text)
		}
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := cachedPattern(pattern)
		if err != nil || len(text) > 300 || p.size > 200 {
			return
		}
		parsed()
		var got [][]int
		w := p.beginWalk(1 << 24)
		w.findAll(text, func(from, to int) bool { got = append(got, []int{from, to}); return true })
		if w.left < 0 {
			return
		}
		want := regexp.MustCompile(pattern).FindAllStringIndex(text, -1)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q in %q: %v, want %v", pattern, text, got, want)
		}
		if most := (len(text) + 2) * (len(text) + 2) * len(p.prog.Inst); 1<<24-w.left > most {
			t.Fatalf("%q in %q: %d steps, want at most %d", pattern, text, 1<<24-w.left, most)
		}
		for _, call := range [][]any{{"regexFindAll", pattern, text, int64(-1)}, {"regexReplaceAllLiteral", pattern, text, text}} {
			out, err := Table()[call[0].(string)].Call(call[1:], Limits{})
			if again, errAgain := Table()[call[0].(string)].Call(call[1:], Limits{}); (err == nil) != (errAgain == nil) || !areEqual(out, again) {
				t.Fatalf("%v twice is not the same", call)
			}
			if list, ok := out.([]any); ok && utf8.ValidString(text) && len(list) != len(want) {
				t.Fatalf("%v gave %v", call, list)
			}
		}
	})
}
