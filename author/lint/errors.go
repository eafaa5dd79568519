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
func Findings(err error) []typecheck.Finding { return findingsOf(typecheck.Syntax, err) }

// findingsOf converts an error to findings of a class.
func findingsOf(class typecheck.Class, err error) []typecheck.Finding {
	switch err := err.(type) { //nolint:errorlint // what wraps one of these says more than it
	case nil:
		return nil
	case *kind.Undeclared:
		return findingsOf(typecheck.UnknownField, err.Err)
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
			all = append(all, findingsOf(class, one)...)
		}
		return all
	}
	return []typecheck.Finding{parseMessage(class, err.Error())}
}

// prefix is the place that a message begins with.
var prefix = regexp.MustCompile(`^(.+?):(?:(\d+):)?(?:(\d+):)? `)

// parseMessage parses a message, with or without a place in front, as a finding.
func parseMessage(class typecheck.Class, text string) typecheck.Finding {
	m := prefix.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], " ") {
		return typecheck.Finding{Class: class, Text: text}
	}
	place := template.Place{File: m[1], Line: parseNumber(m[2]), Column: parseNumber(m[3])}
	return typecheck.Finding{Class: class, Place: place, Text: text[len(m[0]):]}
}

// parseNumber parses digits. It returns 1 if there are none.
func parseNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}
