//go:build !operator

package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/chart"
	"github.com/jacquard-operator/jacquard/author/golden"
	"github.com/jacquard-operator/jacquard/author/scaffold"
)

// fromChart makes a kind of the Helm chart in a directory.
func (o *newOptions) fromChart() (*scaffold.Draft, error) {
	n := o.names
	dir, err := os.OpenRoot(o.chart) // a link in a chart leads to no other file of its reader
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w: give the directory of an unpacked chart", err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	made, err := chart.Convert(dir.FS(), chart.Target{Group: n.Group, Version: n.Version, Kind: n.Kind, Plural: n.Plural,
		Singular: n.Singular})
	if err != nil {
		return nil, err
	}
	draft := scaffold.NewDraft(n.Name())
	draft.Rough, draft.Example = true, made.Example
	for _, f := range made.Files {
		draft.Files = append(draft.Files, scaffold.File(f))
	}
	for _, note := range made.Notes {
		draft.Note(note.String())
	}
	return draft, nil
}

// expectRefusal makes a case of a rough draft want the error that it has, and adds a note on that.
func expectRefusal(one *catalog.Case, err error, draft *scaffold.Draft) {
	said := listMessages(err)
	draft.AddTemplate("tests/"+one.Name+"/"+catalog.FileWantError, golden.WantError(said))
	draft.Note("the case " + one.Name + " is refused, and wants to be until you mend it: " + strings.Join(said, "; "))
}
