//go:build !operator

package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/jacquard-operator/jacquard/author/golden"
)

// A jsonCase is one case for programs; one without a name is a kind that does
// not load.
type jsonCase struct {
	Kind     string   `json:"kind"`
	Case     string   `json:"case,omitempty"`
	Failed   bool     `json:"failed"`
	Seconds  float64  `json:"seconds"`
	Findings []string `json:"findings,omitempty"`
	Wrote    []string `json:"writtenFiles,omitempty"`
	Skipped  string   `json:"skipped,omitempty"`
}

// writeJSON writes the report for programs.
func (r *testReport) writeJSON(o *testOptions) error {
	all, failed, _ := r.countCases()
	report := struct {
		Cases    []jsonCase         `json:"cases"`
		Coverage []*golden.Coverage `json:"coverage,omitempty"`
		All      int                `json:"total"`
		Failed   int                `json:"failed"`
		Seconds  float64            `json:"seconds"`
	}{Cases: []jsonCase{}, All: all, Failed: failed, Seconds: r.took.Seconds()}
	for _, k := range r.kinds {
		if k.coverage != nil {
			report.Coverage = append(report.Coverage, k.coverage)
		}
		if k.broken != nil {
			report.Cases = append(report.Cases, jsonCase{Kind: k.Name, Failed: true, Findings: listMessages(k.broken)})
			report.All, report.Failed = report.All+1, report.Failed+1
		}
		for _, c := range k.cases {
			report.Cases = append(report.Cases, jsonCase{k.Name, c.one.Name, c.hasFailed(), c.took.Seconds(), c.listFindings(), c.wrote, c.skipped})
		}
	}
	return encodeJSON(o.out, report)
}

// listFindings returns the findings, and what is wrong with the files of the case.
func (c *testedCase) listFindings() []string {
	if c.err != nil {
		return append(c.findings, listMessages(c.err)...)
	}
	return c.findings
}

// writeMarkdown writes what fails, for a comment on a pull request. It has no times, so that the
// same result is the same text.
func (r *testReport) writeMarkdown(o *testOptions) error {
	var failures strings.Builder
	broken := 0
	for _, k := range r.kinds {
		if k.broken != nil {
			broken++
			fmt.Fprintf(&failures, "FAIL %s\n%s", k.Name, indentText(strings.Join(listMessages(k.broken), "\n")))
		}
		for _, c := range k.cases {
			if c.hasFailed() {
				fmt.Fprintf(&failures, "FAIL %s/%s\n%s", k.Name, c.one.Name, indentText(strings.Join(c.listFindings(), "\n")))
			}
		}
	}
	m := &markdown{}
	title := "### Tests: " + r.formatSummary()
	if broken > 0 {
		title += fmt.Sprintf("; kinds that do not load: %d", broken)
	}
	m.addText("%s", title)
	m.addFence("text", failures.String())
	var covered strings.Builder
	r.printCoverage(&covered, o.coverage)
	if covered.Len() > 0 {
		m.addText("Coverage:")
		m.addFence("text", covered.String())
	}
	return m.write(o.out)
}

// A junitSuites is a report in the form that most CI systems read:
// https://github.com/testmoapp/junitxml.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// writeJUnit writes the report for CI systems.
func (r *testReport) writeJUnit(o *testOptions) error {
	var suites junitSuites
	for _, k := range r.kinds {
		suite := junitSuite{Name: k.Name, Tests: len(k.cases)}
		if k.broken != nil {
			said := strings.Join(listMessages(k.broken), "\n")
			first, _, _ := strings.Cut(said, "\n")
			suite.Tests, suite.Failures = 1, 1
			suite.Cases = append(suite.Cases, junitCase{Class: k.Name, Name: "loads", Failure: &junitFailure{first, said}})
		}
		for _, c := range k.cases {
			one := junitCase{Class: k.Name, Name: c.one.Name, Time: fmt.Sprintf("%.3f", c.took.Seconds())}
			switch {
			case c.hasFailed():
				suite.Failures++
				first, _, _ := strings.Cut(strings.Join(c.listFindings(), "\n"), "\n")
				one.Failure = &junitFailure{first, strings.Join(c.listFindings(), "\n")}
			case c.skipped != "":
				suite.Skipped++
				one.Skipped = &junitSkipped{c.skipped}
			}
			suite.Cases = append(suite.Cases, one)
		}
		suites.Suites = append(suites.Suites, suite)
	}
	fmt.Fprint(o.out, xml.Header)
	encoder := xml.NewEncoder(o.out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(o.out, "\n")
	return err
}
