package crdfile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Finding is one thing wrong with a file.
type Finding struct {
	// File is the name given to Parse.
	File string
	// Line and Column count from 1; 0 where they are not known.
	Line, Column int
	// Field is the path of the field, empty for the file as a whole.
	Field string
	// Text says what is wrong.
	Text string
}

// Error returns "file:line:column: field: text" as far as these are known.
func (f *Finding) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	for _, n := range []int{f.Line, f.Column} {
		if n == 0 {
			break
		}
		fmt.Fprintf(&b, ":%d", n)
	}
	if f.Field != "" {
		b.WriteString(": " + f.Field)
	}
	return b.String() + ": " + f.Text
}

// Errors are all things wrong with a file, by line.
type Errors []*Finding

// Error returns one finding a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the findings as errors.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, f := range e {
		out[i] = f
	}
	return out
}

// sortUnique orders the findings by place and drops repetitions.
func (e Errors) sortUnique() Errors {
	slices.SortStableFunc(e, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(e, func(a, b *Finding) bool { return *a == *b })
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// yamlErrors takes the places out of the text of the YAML parser's error.
func yamlErrors(file string, err error) Errors {
	var errs Errors
	for _, m := range yamlLine.FindAllStringSubmatch(err.Error(), -1) {
		line, _ := strconv.Atoi(m[1]) // digits, by the expression
		errs = append(errs, &Finding{File: file, Line: line, Text: m[2]})
	}
	if errs == nil {
		return Errors{{File: file, Text: err.Error()}}
	}
	return errs.sortUnique()
}
