package template

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Place is where something stands in a template file. Line and Column count
// from 1; Column counts characters.
type Place struct {
	File         string
	Line, Column int
}

// String returns file:line:col.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// An Error is what is wrong at a place of a template.
type Error struct {
	Place Place
	// Quote is the author's own text at the place, or empty.
	Quote string
	Err   error
}

// Error returns file:line:col: {{ the author's text }}: what is wrong.
func (e *Error) Error() string {
	if e.Quote == "" {
		return e.Place.String() + ": " + e.Err.Error()
	}
	return e.Place.String() + ": " + e.Quote + ": " + e.Err.Error()
}

// Unwrap returns what is wrong without the place.
func (e *Error) Unwrap() error { return e.Err }

// A Wait is the error of `wait`: the file is not to be rendered yet.
type Wait struct{ Message string }

func (w *Wait) Error() string { return w.Message }

// A Failure is the error of `fail` and `required`: a person must change the
// custom resource.
type Failure struct{ Message string }

func (f *Failure) Error() string { return f.Message }

// ErrBudget is the cause of every error about a bound that was reached: steps,
// depth, time, output.
var ErrBudget = errors.New("a bound was reached")

// A source is one template file: what its author wrote.
type source struct {
	file string
	text string
	// milestones are found when they are first asked for.
	milestones func() []milestone
}

// A milestone is an offset whose place is known: where a line begins, and every now
// and then in a long one.
type milestone struct{ off, line, column int }

// milestoneEvery is how far milestones are apart at most, in bytes.
const milestoneEvery = 1 << 10

func newSource(in Source) *source {
	return &source{file: in.File, text: in.Text, milestones: sync.OnceValue(func() []milestone { return milestonesIn(in.Text) })}
}

func milestonesIn(text string) []milestone {
	last := milestone{0, 1, 1}
	all, at := []milestone{last}, last
	for i, r := range text {
		if at.off = i; i-last.off >= milestoneEvery {
			last = at
			all = append(all, last)
		}
		if at.column++; r == '\n' {
			at = milestone{i + 1, at.line + 1, 1}
			last = at
			all = append(all, last)
		}
	}
	return all
}

// A pos is a byte offset in a source.
type pos struct {
	src *source
	off int
}

// toPlace converts a byte offset to line and column.
func (p pos) toPlace() Place {
	if p.src == nil {
		return Place{}
	}
	off := min(p.off, len(p.src.text))
	marks := p.src.milestones()
	m := marks[sort.Search(len(marks), func(i int) bool { return marks[i].off > off })-1]
	return Place{File: p.src.file, Line: m.line, Column: m.column + utf8.RuneCountInString(p.src.text[m.off:off])}
}

// longestQuote bounds how much of the author's text an error quotes.
const longestQuote = 80

// quoteAction returns the action {{ … }} around the position, shortened.
func (p pos) quoteAction() string {
	quoted := p.actionAround()
	if short := shortenQuote(quoted); short != quoted {
		return short + "}}"
	}
	return quoted
}

// actionAround returns the action {{ … }} around the position on one line.
func (p pos) actionAround() string {
	if p.src == nil {
		return ""
	}
	text := p.src.text
	start := strings.LastIndex(text[:min(p.off+2, len(text))], "{{")
	if start < 0 {
		return ""
	}
	end := strings.Index(text[start:], "}}")
	if end < 0 || start+end+2 <= p.off {
		return ""
	}
	return strings.Join(strings.Fields(text[start:start+end+2]), " ")
}

// shortenQuote cuts the author's text to what an error quotes of it.
func shortenQuote(text string) string {
	if len(text) <= longestQuote {
		return text
	}
	if runes := []rune(text); len(runes) > longestQuote {
		return string(runes[:longestQuote-3]) + "…"
	}
	return text
}

// wrapError gives err a place, unless it has one already.
func (p pos) wrapError(err error) error {
	if err == nil {
		return nil
	}
	var placed *Error // escapes, so not before there is an error
	if errors.As(err, &placed) {
		return err
	}
	return &Error{Place: p.toPlace(), Quote: p.quoteAction(), Err: err}
}

// errorAt returns an error at the position.
func (p pos) errorAt(format string, args ...any) error {
	return p.wrapError(fmt.Errorf(format, args...))
}
