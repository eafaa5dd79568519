package lint

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Findings are the findings that an error of loading stands for: each of the
// errors that it joins, once, with the place that it begins with.
func Findings(err error) []flow.Finding {
	var found []flow.Finding
	seen := map[string]bool{}
	for _, one := range single(err) {
		if text := one.Error(); !seen[text] {
			seen[text] = true
			found = append(found, fault(one))
		}
	}
	return found
}

// single are the errors that err joins and says one below the other.
func single(err error) []error {
	if err == nil {
		return nil
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	var texts []string
	for _, part := range many.Unwrap() {
		all = append(all, single(part)...)
		texts = append(texts, part.Error())
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []error{err}
	}
	return all
}

// placed is the place that messages begin with.
var placed = regexp.MustCompile(`^(\S[^:\n]*):(\d+)(?::(\d+))?: `)

func fault(err error) flow.Finding {
	var known flow.Finding
	if errors.As(err, &known) {
		return known
	}
	f := flow.Finding{Class: flow.Syntax, Text: err.Error()}
	m := placed.FindStringSubmatch(f.Text)
	if m == nil {
		return f
	}
	f.Text = f.Text[len(m[0]):]
	f.Place = template.Place{File: m[1], Line: number(m[2]), Column: max(1, number(m[3]))}
	return f
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // 0 where there is none
	return n
}
