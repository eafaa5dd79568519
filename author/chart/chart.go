package chart

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template/parse"
)

// A Target is the kind that a chart becomes. Nothing of it is optional.
type Target struct {
	Group, Version, Kind, Plural, Singular string
}

// Name is the name of the CRD and of the folder.
func (t Target) Name() string { return t.Plural + "." + t.Group }

// A File is one file of the result; Path is inside the root, with slashes.
type File struct {
	Path string
	Data []byte
}

// A Note says what of a chart was not carried over as it was, and what to do.
type Note struct {
	// File is inside the chart; Line counts from 1, or is 0 for a whole file.
	File string
	Line int
	// What says what it is, Do what the reader may do about it.
	What, Do string
}

// String returns file:line: what: do.
func (n Note) String() string {
	at := n.File
	if n.Line > 0 {
		at = fmt.Sprintf("%s:%d", n.File, n.Line)
	}
	return fmt.Sprintf("%s: %s: %s", at, n.What, n.Do)
}

// A Result is what a chart became: files, by path, and notes, by place.
type Result struct {
	Files []File
	Notes []Note
	// Example is the path of a resource. There is a golden case of it too, which
	// does not say yet what it wants: that is for whoever renders it to write.
	Example string
}

// notesFile is the file of a folder that keeps the notes.
const notesFile = ".from-chart.md"

// Convert makes a kind of the chart at the root of a file system. Its error is
// about what is no chart, or no template that Helm itself could read; all else
// becomes a Note.
func Convert(fsys fs.FS, target Target) (*Result, error) {
	c, err := readChart(fsys)
	if err != nil {
		return nil, err
	}
	v := &conversion{chart: c, target: target, fixed: map[string]bool{}, moved: map[string]bool{}, taken: map[string]string{}}
	if err := v.parse(); err != nil {
		return nil, err
	}
	v.leaveOut()
	v.rewriteSources()
	if err := v.finishResult(); err != nil {
		return nil, err
	}
	return v.result, nil
}

// A conversion is one chart on its way.
type conversion struct {
	*chart
	target Target
	result *Result
	notes  []Note
	// defines are the places of the defines that count, by name.
	defines map[string]*define
	// fixed are the fields, as paths, that a subchart would need true.
	fixed map[string]bool
	// moved are the values whose default a partial prints now, as paths.
	moved map[string]bool
	// taken are the files of the chart that templates take as they are: their
	// names in files/ by their path.
	taken map[string]string
	// texts are the values that calls of tpl may be given.
	texts   map[*parse.CommandNode]held
	decided []decision
	// declared are the children that kind.yaml must declare.
	declared []declared
	reads    []declared
}

// addNote adds a note to the result.
func (v *conversion) addNote(n Note) { v.notes = append(v.notes, n) }

// finishResult puts the result together.
func (v *conversion) finishResult() error {
	v.result = &Result{}
	dir := path.Join("templates", v.target.Name())
	used, err := v.findUses()
	if err != nil {
		return err
	}
	for _, s := range v.sources {
		if text := s.resultText(); !s.left && strings.TrimSpace(text) != "" {
			v.add(path.Join(dir, s.as), []byte(text))
		}
	}
	for _, from := range sortedKeys(v.taken) {
		v.add(path.Join(dir, "files", v.taken[from]), v.files[from])
	}
	for _, name := range sortedKeys(v.crds) {
		v.add(path.Join("schemas", v.name+"-"+path.Base(name)), v.crds[name])
	}
	v.addSettings(dir)
	if err := v.addSchema(dir, used); err != nil {
		return err
	}
	v.addNotes(dir)
	slices.SortFunc(v.result.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

func (v *conversion) add(name string, data []byte) {
	v.result.Files = append(v.result.Files, File{Path: name, Data: data})
}

// addNotes sorts the notes, each once, and writes them down.
func (v *conversion) addNotes(dir string) {
	for _, s := range v.sources {
		v.notes = append(v.notes, s.keptNotes()...)
	}
	v.notes = append(v.notes, v.notesDecided()...)
	slices.SortStableFunc(v.notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	v.result.Notes = slices.Compact(v.notes)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, made of the Helm chart %s %s\n\nWhat could not be carried over as it was:\n\n", v.target.Name(), v.name, v.version)
	for _, n := range v.result.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	if len(v.result.Notes) == 0 {
		b.WriteString("- nothing\n")
	}
	v.add(path.Join(dir, notesFile), []byte(b.String()))
}
