package lint

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// TestFindings: every error is told, with its place.
func TestFindings(t *testing.T) {
	at := func(file string, line, column int) template.Place {
		return template.Place{File: file, Line: line, Column: column}
	}
	known := typecheck.Finding{Class: typecheck.UnknownField, Place: at("a.yaml", 1, 2), Text: "no field x"}
	err := errors.Join(
		&template.Error{Place: at("a.yaml", 3, 4), Quote: "{{ x }}", Err: errors.New("there is no function x")},
		errors.Join(nil, known, errors.New("b.yaml:5:6: too bad: really")),
		crdfile.Errors{{File: "c.yaml", Line: 7, Field: "spec.x", Text: "must be a string"}, {File: "c.yaml", Text: "is empty"}},
		fmt.Errorf("templates/x: there is no CRD crds/x.yaml"),
		errors.New("reading settings: nothing there"),
	)
	want := []typecheck.Finding{
		{Class: typecheck.Syntax, Place: at("a.yaml", 3, 4), Length: 7, Text: "there is no function x"},
		known,
		{Class: typecheck.Syntax, Place: at("b.yaml", 5, 6), Text: "too bad: really"},
		{Class: typecheck.Syntax, Place: at("c.yaml", 7, 1), Text: "spec.x: must be a string"},
		{Class: typecheck.Syntax, Place: at("c.yaml", 1, 1), Text: "is empty"},
		{Class: typecheck.Syntax, Place: at("templates/x", 1, 1), Text: "there is no CRD crds/x.yaml"},
		{Class: typecheck.Syntax, Text: "reading settings: nothing there"},
	}
	if diff := cmp.Diff(want, Findings(err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := Findings(nil); got != nil {
		t.Errorf("nothing is wrong, and %v is found", got)
	}
}
