package lsp

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var (
	suggested = regexp.MustCompile(`did you mean (\S+?)\?`)
	longWord  = regexp.MustCompile(`\w[\w./-]*`)
	shortWord = regexp.MustCompile(`[\w-]+`)
)

// replace puts what a finding suggests into the place of what is written. Suggestions are
// made in a dozen places, as errors and as findings, and all say it in these words.
func (q *query) replace(f typecheck.Finding, d diagnostic) *codeAction {
	m := suggested.FindStringSubmatchIndex(f.Text)
	if m == nil {
		return nil
	}
	whole, said := f.Text[m[2]:m[3]], f.Text[:m[0]]
	from, to := offsetOf(q.doc.text, d.Range.Start), offsetOf(q.doc.text, d.Range.End)
	_, lineFrom := lineOf(q.doc.text, d.Range.Start.Line+1)
	line, _ := lineOf(q.doc.text, d.Range.Start.Line+1)
	if rest, ofRoot := strings.CutPrefix(whole, "$"); ofRoot {
		if !strings.HasPrefix(q.doc.text[from:to], rest) {
			return nil
		}
		return edit("Replace by "+whole, q.doc.uri, spanOf(q.doc.text, from, from), "$")
	}
	last := whole[strings.LastIndexByte(whole, '.')+1:]
	for _, try := range []struct {
		word *regexp.Regexp
		by   string
	}{{longWord, whole}, {shortWord, last}} {
		for _, among := range [][2]int{{from, to}, {lineFrom, lineFrom + len(line)}} {
			if at, end, found := misspelt(q.doc.text[among[0]:among[1]], try.word, try.by, said); found {
				return edit("Replace by "+whole, q.doc.uri, spanOf(q.doc.text, among[0]+at, among[0]+end), try.by)
			}
		}
	}
	return nil
}

// misspelt is the word of a text that a finding is about, which is most like another one:
// the last that the finding says.
func misspelt(text string, word *regexp.Regexp, like, said string) (from, to int, found bool) {
	mentioned := word.FindAllString(said, -1)
	for _, m := range slices.Backward(word.FindAllStringIndex(text, -1)) {
		w := text[m[0]:m[1]]
		if w != like && slices.Contains(mentioned, w) && schema.Suggest(w, []string{like}) != "" {
			return m[0], m[1], true
		}
	}
	return 0, 0, false
}
