package scaffold

import (
	"path"
	"slices"
	"strings"
)

// A File is a file to be written: Path is where, from the root, with slashes.
type File struct {
	Path string
	Data []byte
}

// A Draft is a new kind as files that are not yet written. A golden case may
// lack its want.yaml and want-status.yaml: what comes out is then what is
// wanted.
type Draft struct {
	// Name is the CRD's name, Example the file that holds a resource.
	Name, Example string
	Files         []File
	// Notes are what its author should look at, a sentence each; what is about
	// a line of a file begins with file:line:.
	Notes []string
	// Rough: it may need its author's hand before it works, and is written all
	// the same.
	Rough bool
}

// NewDraft is the draft of a kind by the CRD's name, still without files.
func NewDraft(name string) *Draft {
	return &Draft{Name: name, Example: "examples/" + name + ".yaml"}
}

// addCRD adds the CRD.
func (d *Draft) addCRD(text string) { d.add("crds/"+d.Name+".yaml", text) }

// addExample adds the example, and a golden case of it.
func (d *Draft) addExample(text string) {
	d.add(d.Example, text)
	d.AddTemplate("tests/example/resource.yaml", text)
}

// AddTemplate adds a file of the folder by its path inside of it.
func (d *Draft) AddTemplate(name, text string) {
	d.add(path.Join("templates", d.Name, name), text)
}

// Note adds something that the author should look at, once.
func (d *Draft) Note(text string) {
	if !slices.Contains(d.Notes, text) {
		d.Notes = append(d.Notes, text)
	}
}

func (d *Draft) add(name, text string) {
	d.Files = append(d.Files, File{Path: name, Data: []byte(text)})
	slices.SortStableFunc(d.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}
