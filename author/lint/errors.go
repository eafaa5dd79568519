package lint

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Findings takes an error of loading or compiling apart: one finding of class
// syntax for each thing that is wrong, with its place as far as the error has
// one.
func Findings(err error) []typecheck.Finding { return findings(typecheck.Syntax, err) }

// findings takes an error apart into findings of a class.
func findings(class typecheck.Class, err error) []typecheck.Finding {
	switch err := err.(type) { //nolint:errorlint // what wraps one of these says more than it
	case nil:
		return nil
	case *kind.Undeclared:
		return findings(typecheck.UnknownField, err.Err)
	case typecheck.Finding:
		return []typecheck.Finding{err}
	case *template.Error:
		return []typecheck.Finding{{Class: class, Place: err.Place, Length: utf8.RuneCountInString(err.Quote), Text: err.Err.Error()}}
	case *crdfile.Finding:
		text := err.Text
		if err.Field != "" {
			text = err.Field + ": " + text
		}
		return []typecheck.Finding{{Class: class, Place: template.Place{File: err.File, Line: max(err.Line, 1), Column: max(err.Column, 1)},
			Text: text}}
	case interface{ Unwrap() []error }:
		var all []typecheck.Finding
		for _, one := range err.Unwrap() {
			all = append(all, findings(class, one)...)
		}
		return all
	}
	return []typecheck.Finding{plain(class, err.Error())}
}

// prefix is the place that a message begins with.
var prefix = regexp.MustCompile(`^(.+?):(?:(\d+):)?(?:(\d+):)? `)

// plain is the finding that a message tells.
func plain(class typecheck.Class, text string) typecheck.Finding {
	m := prefix.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], " ") {
		return typecheck.Finding{Class: class, Text: text}
	}
	place := template.Place{File: m[1], Line: number(m[2]), Column: number(m[3])}
	return typecheck.Finding{Class: class, Place: place, Text: text[len(m[0]):]}
}

// number reads digits; a place that is not told is the first.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}
