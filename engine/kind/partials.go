package kind

import (
	"bytes"
	"errors"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkPartials checks the lines of partials, and refuses what stands outside
// of any define: nothing prints it.
func (k *Kind) checkPartials(f *folder.Folder) error {
	var errs []error
	for _, p := range f.Partials {
		errs = append(append(errs, checkLines(p)...), checkStructural(p)...)
		tree := k.Templates.Tree(p.Shown)
		if tree == nil {
			continue
		}
		for _, n := range tree.Root.Nodes {
			if text, ok := n.(*parse.TextNode); ok && len(bytes.TrimSpace(text.Text)) == 0 {
				continue
			}
			place := k.Templates.Place(tree, n)
			if text, ok := n.(*parse.TextNode); ok {
				lead := text.Text[:len(text.Text)-len(bytes.TrimLeft(text.Text, " \t\r\n"))]
				if breaks := bytes.Count(lead, []byte("\n")); breaks > 0 {
					place.Line, place.Column = place.Line+breaks, len(lead)-bytes.LastIndexByte(lead, '\n')
				}
			}
			errs = append(errs, &template.Error{Place: place,
				Err: errors.New("this stands outside of any define, and so nothing prints it: a partial holds {{ define \"name\" }} … {{ end }}")})
			break
		}
	}
	return errors.Join(errs...)
}
