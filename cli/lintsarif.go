//go:build !operator

package cli

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// The form SARIF 2.1.0, as far as findings need it. A library (go-sarif) has types
// for all of the format; these are the ten that are filled, and a test reads what they
// make with that library.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		HelpURI string    `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Message  *sarifText    `json:"message,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line      int `json:"startLine"`
		Column    int `json:"startColumn"`
		EndColumn int `json:"endColumn"`
	}
)

// lintDocs is where the classes of findings are described.
const lintDocs = "https://github.com/jacquard-operator/jacquard/blob/main/docs/tools.md#jacquard-lint"

// notCheckedRule is what SARIF calls notes, which have no class.
const notCheckedRule = "not-checked"

func findingsSARIF(l linted) (string, error) {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "jacquard", InformationURI: lintDocs, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	for _, f := range l.listFindings() {
		run.add("error", f)
	}
	for _, f := range l.listSilenced() {
		run.add("error", f)
	}
	for _, f := range l.listUnchecked() {
		run.add("note", f)
	}
	slices.SortFunc(run.Tool.Driver.Rules, func(a, b sarifRule) int { return cmp.Compare(a.ID, b.ID) })
	var text strings.Builder
	err := encodeJSON(&text, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
	return text.String(), err
}

// add adds a finding, and its class if that is the first of it.
func (r *sarifRun) add(level string, f lintFinding) {
	class := cmp.Or(string(f.Class), notCheckedRule)
	if !slices.ContainsFunc(r.Tool.Driver.Rules, func(rule sarifRule) bool { return rule.ID == class }) {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, sarifRule{class, sarifText{"jacquard lint: " + class}, lintDocs})
	}
	one := sarifResult{ // a viewer would make a link of [a](b)
		RuleID: class, Level: level, Message: sarifText{strings.ReplaceAll(f.Text, "](", `\](`)}, Locations: []sarifLocation{{Physical: sarifAt(f.Place, f.Length)}},
	}
	if f.Called.File != "" {
		one.Related = []sarifLocation{{ID: 1, Message: &sarifText{"called from here"}, Physical: sarifAt(f.Called, 0)}}
	}
	if f.reason != "" {
		one.Suppressions = []sarifSuppression{{"inSource", f.reason}}
	}
	r.Results = append(r.Results, one)
}

// sarifAt is a place; one that is in no file is the root as a whole, since GitHub
// refuses a result without a place.
func sarifAt(at template.Place, length int) sarifPhysical {
	parts := strings.Split(cmp.Or(at.File, "."), "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	column := max(at.Column, 1)
	return sarifPhysical{
		Artifact: sarifArtifact{strings.Join(parts, "/")},
		Region:   sarifRegion{Line: max(at.Line, 1), Column: column, EndColumn: column + max(1, length)},
	}
}
