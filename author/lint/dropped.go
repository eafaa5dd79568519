package lint

import (
	"fmt"
	"path"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Dropped finds the kinds of children that went since an earlier state of the
// roots and whose rights would go with them. The error says that what the
// earlier folder made cannot be told.
func Dropped(earlier, c *catalog.Catalog, name string) ([]typecheck.Finding, error) {
	k, before := followableKind(c, name), followableKind(earlier, name)
	switch {
	case k == nil: // that says enough
		return nil, nil
	case before == nil:
		if err := earlier.Broken[name]; err != nil && earlier.Folder(name) != nil {
			return nil, fmt.Errorf("what the earlier folder of %s made cannot be told: %w", name, err)
		}
		return nil, nil
	}
	at := template.Place{File: path.Join(c.Roots[name], "templates", name, "kind.yaml"), Line: 1, Column: 1}
	if n := len(k.Settings.Retired); n > 0 {
		at = k.RetiredPlace(n - 1)
	}
	var all []typecheck.Finding
	if len(before.Settings.DeletionOrder) > 0 && k.Settings.DeletionOrder == nil {
		all = append(all, typecheck.Finding{Class: DroppedKind, Place: at,
			Text: "deletionOrder is gone, and with it the right to take the finalizer off the resources: write in kind.yaml deletionOrder: []"})
	}
	for _, d := range k.Dropped(before) {
		verb, undo := "made", "deleted"
		if d.Patch() {
			verb, undo = "patched", "given back"
		}
		all = append(all, typecheck.Finding{Class: DroppedKind, Place: at, Text: fmt.Sprintf(
			"%s was %s at %s and is not any more, so what is left could be neither found nor %s: write in kind.yaml, under retired: - %s",
			d.Kind, verb, d.Place, undo, d.RetiredRule)})
	}
	return all, nil
}

// followableKind returns a kind that compiles, or at least can be followed, or else nil.
func followableKind(c *catalog.Catalog, name string) *kind.Kind {
	if k := c.Kinds[name]; k != nil {
		return k
	}
	return c.Understood(name)
}
