package template

import (
	"regexp"
	"slices"
	"strings"
)

// A slip is a common mistake in an action, for which the parser has words of its own.
type slip struct {
	// found matches the action without its braces and without what stands in quotes.
	found *regexp.Regexp
	// message is part of the parser's message; "": whatever it is.
	message string
	// advice may name the groups of found.
	advice string
}

// slips are in the order in which they are looked for.
var slips = []slip{
	{regexp.MustCompile(`^\s+(/\*)|^-?\s*/\*.*\*/(\s+)$`), "", "write a comment as {{/* … */}}, without blanks, or as {{- /* … */ -}}"},
	{regexp.MustCompile(`^(\{)`), "", "an action stands in two braces: write {{ … }}"},
	{regexp.MustCompile(`(\})$`), `unexpected "}"`, "an action ends with two braces: write {{ … }}"},
	{regexp.MustCompile(`^(-)[^\s\d]`), "", "put a blank behind the dash: {{- …"},
	{regexp.MustCompile(`\S(-)$`), "", "put a blank before the dash: … -}}"},
	{regexp.MustCompile(`^-?\s*range\s+(\$\w+)\s+in\s`), "", "write range ${1} := …"},
	{regexp.MustCompile(`([$.](?:\w+\.)*\w+)\.?\[`), "", "there are no [ ]: write (index ${1} …)"},
	{regexp.MustCompile(`(?:^|[\s(|])(\w+)\(`), "", "arguments stand behind a function without parentheses: instead of ${1}(a, b) write ${1} a b, " +
		"and (${1} a b) within something else"},
	{regexp.MustCompile(`([$.][\w.]*)-(\d+)(?:\W|$)`), badCharacter, "there are no operators: write sub ${1} ${2}"},
	{regexp.MustCompile(`([$.][\w.]*)\+(\d+)(?:\W|$)`), badCharacter, "there are no operators: write add ${1} ${2}"},
	{regexp.MustCompile(`(\$\w*(?:\.\w+)*|(?:\.\w+)+)\.(\w+(?:-\w+)+)`), badCharacter, "the field has a dash in its name: write (index ${1} \"${2}\")"},
	{regexp.MustCompile(`\.(\w+(?:-\w+)+)`), badCharacter, "the field has a dash in its name: write (index . \"${1}\")"},
	{regexp.MustCompile(`[$.][\w.]*(/)\w`), badCharacter, "the field has a slash in its name: write (index … \"group/name\")"},
	{regexp.MustCompile(`('[^']*'|[“”‘’])`), "", "a text stands in double quotes: write \"…\""},
	{regexp.MustCompile(`(,)`), `","`, "arguments are separated by blanks: leave the comma out"},
	{regexp.MustCompile(`(?:^|\s)(\w+)\s*:=`), "", "a variable begins with $$: write $$${1} := …"},
	{regexp.MustCompile(`\s(\w+):\s`), "expected :=", "leave the colon behind ${1} out: arguments are separated by blanks"},
	{regexp.MustCompile(`(\()`), "unclosed left paren", "this ( is not closed: add )"},
	{regexp.MustCompile(`(\))`), "unexpected right paren", "there is no ( for this )"},
	{regexp.MustCompile(`^(\s*)-?$`), "missing value for command", "this action has no value: write one, or leave the action out"},
}

// badCharacter is how the parser's message begins about what cannot follow a name.
const badCharacter = "bad character"

var (
	// quotedPart is what stands in quotes in an action, a character among it.
	quotedPart = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'(?:[^'\\\\]|\\\\.)'")
	// comment is an action that is a sound comment.
	comment = regexp.MustCompile(`^(?:-\s+)?/\*.*\*/(?:\s+-)?$`)
)

// findSlip returns where in a line a common slip begins, and what to write instead; ""
// if there is none.
func findSlip(message, line string) (column int, advice string) {
	line = quotedPart.ReplaceAllStringFunc(line, func(quoted string) string { return strings.Repeat(`"`, len(quoted)) })
	for _, s := range slips {
		if !strings.Contains(message, s.message) {
			continue
		}
		from := 0
		for i, text := range strings.SplitAfter(line, "{{") {
			action, _, _ := strings.Cut(strings.TrimSuffix(text, "{{"), "}}")
			m := s.found.FindStringSubmatchIndex(action)
			if i > 0 && m != nil && !comment.MatchString(action) {
				start := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 })
				return from + m[2+start], string(s.found.ExpandString(nil, s.advice, action, m))
			}
			from += len(text)
		}
	}
	return 0, ""
}
