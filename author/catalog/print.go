package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// Print returns what was rendered of a resource as `jacquard render` prints it: the
// children, each with a comment that names the resource and the place of its template,
// and a line for each file that waits.
func Print(r *Resource, result *render.Result) (children, waits string, err error) {
	var all, waiting strings.Builder
	for _, w := range result.Waiting {
		fmt.Fprintf(&waiting, "%s: %s waits: %s\n", r, r.Kind.Templates.Tree(w.File).ParseName, w.Message)
	}
	for _, c := range result.Children {
		text, err := funcs.YAML(c.Object.Object)
		if err != nil {
			return "", "", fmt.Errorf("printing a child of %s: %w", r, err)
		}
		begins := c.Doc.Place()
		fmt.Fprintf(&all, "---\n# %s: %s:%d%s\n%s", r, begins.File, begins.Line, patchNote(c.Policy), text)
	}
	return all.String(), waiting.String(), nil
}

// patchNote returns what the comment of a document adds if the document is a patch, or "".
func patchNote(p render.Policy) string {
	switch {
	case p.Subresource != "":
		return " (patch of " + p.Subresource + ")"
	case p.Patch:
		return " (patch)"
	}
	return ""
}

// Twice refuses the same resource given more than once. The error has both places.
func Twice(resources []*Resource) error {
	var errs []error
	first := map[string]*Resource{}
	for _, r := range resources {
		id := r.Kind.Name + " " + r.String()
		if other := first[id]; other != nil {
			errs = append(errs, fmt.Errorf("%s: %s is given twice: it stands at %s already",
				r.Source.Place("metadata.name"), r, other.Source.Place("metadata.name")))
			continue
		}
		first[id] = r
	}
	return errors.Join(errs...)
}
