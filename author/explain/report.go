package explain

import (
	"errors"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Report is why a resource has what it has.
type Report struct {
	// Kind is the name of the resource's CRD, and Resource how people call it:
	// Page default/hello.
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	// Errors say why nothing of the resource is applied, whatever the files
	// say.
	Errors []string `json:"errors,omitempty"`
	// Conditions are those of the live resource; nil without a cluster.
	Conditions []Condition `json:"conditions,omitempty"`
	// Files are the files that make children, by name, and then status.yaml.
	Files []File `json:"files"`
	// Rest are live objects of the resource for which no document stands.
	Rest []Live `json:"otherObjects,omitempty"`
	// Notes say what is not known, or to be known besides.
	Notes []string `json:"notes,omitempty"`
}

// What became of a file.
const (
	Rendered = "rendered" // it made documents
	Empty    = "empty"    // it made none
	Waits    = "waits"
	Failed   = "failed"
)

// A File is one file of the kind and what became of it.
type File struct {
	// File is how errors call it: templates/pages.example.com/page.yaml.
	File    string `json:"file"`
	Verdict string `json:"state"`
	// Message says what it waits for or why it failed, Place where, and Within
	// in which branches that is.
	Message string `json:"message,omitempty"`
	Place   *Place `json:"place,omitempty"`
	Within  []Turn `json:"enclosingBranches,omitempty"`
	// Branches are those that it came to, each with those that lie in it.
	Branches []*Branch `json:"branches,omitempty"`
	// Documents are what it made, LeftOut what its text could make and did not.
	Documents []Document `json:"documents,omitempty"`
	LeftOut   []LeftOut  `json:"notRendered,omitempty"`
}

// A Place is file, line and column, from 1.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// placeOf returns a place of a template as one of the report.
func placeOf(p template.Place) Place { return Place{p.File, p.Line, p.Column} }

// A Branch is an if, with or range that the execution came to, at one place of
// its way.
type Branch struct {
	Place
	// Text is the author's own text.
	Text string `json:"text"`
	// Outcome says in words which way it went, and Took and Left how often.
	Outcome string `json:"outcome"`
	Took    int    `json:"takenCount"`
	Left    int    `json:"skippedCount"`
	// Came is what its condition came to: true, a number, "nothing", "a string",
	// "a list of 3", "a value of a Secret"; several if it was come to often.
	Came []string `json:"conditionValues"`
	// Calls are where templates were called to get here from the branch above.
	Calls []Place `json:"calls,omitempty"`
	// Taken and NotTaken are the branches in its two arms.
	Taken    []*Branch `json:"taken,omitempty"`
	NotTaken []*Branch `json:"notTaken,omitempty"`
}

// A Turn is the way that was taken at a branch.
type Turn struct {
	Place
	Text    string `json:"text"`
	Outcome string `json:"outcome"`
	Came    string `json:"conditionValue,omitempty"`
}

// A Document is an object that a file made.
type Document struct {
	// Object is how people call it: Service default/web; of a patch, Patch is
	// what is patched: the object itself or a subresource.
	Object string `json:"object"`
	Place  Place  `json:"place"`
	Patch  string `json:"patch,omitempty"`
	// Because are the branches that it stands in, outermost first.
	Because []Turn `json:"enclosingBranches,omitempty"`
	// Live is the object in the cluster; nil if there is none, or no cluster.
	Live *Live `json:"live,omitempty"`
	// Unknown says why it is not known whether there is such an object.
	Unknown string `json:"unknown,omitempty"`
}

// A LeftOut is a document that the file's text holds and that was not made.
type LeftOut struct {
	// Kind is the kind of the object.
	Kind  string `json:"kind"`
	Place Place  `json:"place"`
	// By is the branch that went the other way; nil if the execution ended
	// before it came there.
	By *Turn `json:"branch,omitempty"`
}

// splitPlace returns an error's message without its place, and the place.
func splitPlace(err error) (string, *Place) {
	var at *template.Error
	if !errors.As(err, &at) {
		return err.Error(), nil
	}
	p := placeOf(at.Place)
	if at.Quote != "" {
		return at.Quote + ": " + at.Err.Error(), &p
	}
	return at.Err.Error(), &p
}
