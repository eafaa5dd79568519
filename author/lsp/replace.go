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

// replaceSuggested returns an action that replaces the written text by what a finding suggests. A
// dozen places make suggestions, as errors and as findings, and all use the words of suggested.
func (q *query) replaceSuggested(f typecheck.Finding, d diagnostic) *codeAction {
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
		return newEditAction("Replace by "+whole, q.doc.uri, spanOf(q.doc.text, from, from), "$")
	}
	last := whole[strings.LastIndexByte(whole, '.')+1:]
	for _, try := range []struct {
		word *regexp.Regexp
		by   string
	}{{longWord, whole}, {shortWord, last}} {
		for _, among := range [][2]int{{from, to}, {lineFrom, lineFrom + len(line)}} {
			if at, end, found := findMisspelt(q.doc.text[among[0]:among[1]], try.word, try.by, said); found {
				return newEditAction("Replace by "+whole, q.doc.uri, spanOf(q.doc.text, among[0]+at, among[0]+end), try.by)
			}
		}
	}
	return nil
}

// findMisspelt finds the last word of a text that a finding mentions and that most likely stands
// for another one.
func findMisspelt(text string, word *regexp.Regexp, like, said string) (from, to int, found bool) {
	mentioned := word.FindAllString(said, -1)
	for _, m := range slices.Backward(word.FindAllStringIndex(text, -1)) {
		w := text[m[0]:m[1]]
		if w != like && slices.Contains(mentioned, w) && schema.Suggest(w, []string{like}) != "" {
			return m[0], m[1], true
		}
	}
	return 0, 0, false
}
