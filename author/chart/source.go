package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// A source is one template of a chart and what is to become of its text.
type source struct {
	// name is its path in the chart, as its name in the folder.
	name, as string
	text     string
	// library: it is a subchart's; left: it is not carried over.
	library, left bool

	tree    *parse.Tree
	defines map[string]*parse.Tree
	actions []action
	blocks  map[int]block
	edits   []edit
	notes   []placed
}

// An edit puts another text in the place of a span.
type edit struct {
	span
	text string
}

// A placed note is dropped with the text that it is about.
type placed struct {
	Note
	off int
}

// stemName returns the name by which other templates call the file.
func (s *source) stemName() string { return strings.TrimSuffix(s.as, ".yaml") }

// isPartial reports whether the source becomes a partial.
func (s *source) isPartial() bool { return strings.HasPrefix(s.as, "_") }

// parse reads the template; the error is Go's own, with file and line.
func (s *source) parse() error {
	s.tree = parse.New(s.name)
	s.tree.Mode = parse.SkipFuncCheck
	s.defines = map[string]*parse.Tree{}
	if _, err := s.tree.Parse(s.text, "", "", s.defines); err != nil {
		return fmt.Errorf("reading %w", err)
	}
	delete(s.defines, s.name)
	s.actions = scanActions(s.text)
	s.blocks = findBlocks(s.actions)
	return nil
}

// lineAt returns the number of the line at an offset.
func (s *source) lineAt(off int) int { return strings.Count(s.text[:off], "\n") + 1 }

// noteAt adds a note about the text at an offset.
func (s *source) noteAt(off int, what, do string) {
	s.notes = append(s.notes, placed{Note{File: s.name, Line: s.lineAt(off), What: what, Do: do}, off})
}

// replaceSpan replaces a span by a text.
func (s *source) replaceSpan(at span, text string) { s.edits = append(s.edits, edit{at, text}) }

func (s *source) delete(at span) { s.replaceSpan(at, "") }

// outerEdits returns the edits that count, in order. Of edits that overlap, it keeps the longer
// one, which decides what becomes of all that it covers.
func (s *source) outerEdits() []edit {
	all := slices.Clone(s.edits)
	slices.SortStableFunc(all, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var kept []edit
	behind := 0
	for _, e := range all {
		if e.from < behind {
			continue
		}
		kept = append(kept, e)
		behind = max(behind, e.to)
	}
	return kept
}

// resultText returns the text with its edits made.
func (s *source) resultText() string { return s.resultOf(span{0, len(s.text)}) }

// resultOf is a part of the text with the edits made that lie within.
func (s *source) resultOf(part span) string {
	var b strings.Builder
	at := part.from
	for _, e := range s.outerEdits() {
		if e.from < part.from || e.to > part.to || e.from < at {
			continue
		}
		b.WriteString(s.text[at:e.from] + e.text)
		at = e.to
	}
	return b.String() + s.text[at:part.to]
}

// isGone reports whether the text at off does not reach the result.
func (s *source) isGone(off int) bool {
	return s.left || slices.ContainsFunc(s.edits, func(e edit) bool { return e.text == "" && e.from <= off && off < e.to })
}

// keptNotes returns the notes about text that is still there.
func (s *source) keptNotes() []Note {
	var all []Note
	for _, n := range s.notes {
		if !s.isGone(n.off) {
			all = append(all, n.Note)
		}
	}
	return all
}

// actionAt is the action that an offset lies in.
func (s *source) actionAt(off int) action {
	for _, a := range s.actions {
		if a.from <= off && off < a.to {
			return a
		}
	}
	return action{from: off, to: off, begin: off, end: off}
}

// wholeSpan returns the span of an action with the blanks that it trims.
func (s *source) wholeSpan(from, to action) span {
	at := span{from.from, to.to}
	if from.trimLeft {
		at.from = len(strings.TrimRight(s.text[:at.from], " \t\r\n"))
	}
	if to.trimRight {
		at.to = len(s.text) - len(strings.TrimLeft(s.text[at.to:], " \t\r\n"))
	}
	return at
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// defineAt is the name of the define that an offset lies in, or "".
func (s *source) defineAt(off int) string {
	for name := range s.defines {
		if b := s.blockOf(name); b != nil && b[0].from <= off && off < b[len(b)-1].to {
			return name
		}
	}
	return ""
}
