package template

import (
	"regexp"
	"strings"
)

// An action of a text that parses, in its first group; a comment has none.
var action = regexp.MustCompile("(?s)\\{\\{(?:-\\s)?\\s*(?:/\\*.*?\\*/|((?:" + textLiteral + "|[^\"`'])*?))\\s*(?:\\s-)?\\}\\}")

const textLiteral = "\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'(?:[^'\\\\]|\\\\.)*'"

var (
	anyText  = regexp.MustCompile(textLiteral)
	dangling = regexp.MustCompile(`\|\s*(?:\)|$)`)
)

// checkPipes refuses a | with nothing behind it, which the parser takes for
// nothing: who wrote it meant to call something.
func (src *source) checkPipes() error {
	for _, m := range action.FindAllStringSubmatchIndex(src.text, -1) {
		if m[2] < 0 {
			continue
		}
		inside := anyText.ReplaceAllStringFunc(src.text[m[2]:m[3]], func(s string) string { return strings.Repeat("q", len(s)) })
		if at := dangling.FindStringIndex(inside); at != nil {
			return pos{src, m[2] + at[0]}.errorAt("this | has nothing behind it: name the function that takes the value, or leave the | out")
		}
	}
	return nil
}
