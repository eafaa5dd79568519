package lint

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// excludedBy says of the fields of a map, by name, why the API server refuses each beside
// the others.
func excludedBy(subject, path string, t *schema.Type, fields map[string]any) map[string]string {
	found := map[string]string{}
	for _, x := range t.Excludes(fields) {
		name := x.Path[0].(string)
		if v := fields[name]; v != nil && v != "" && v != schema.Unknown && !x.IsKept {
			found[name] = fmt.Sprintf("%s of %s must not be given %s", joinPath(path, name), subject, x.Why)
		}
	}
	return found
}

// exclusions counts, by the place of a key, in how many of the maps that it is written
// into another field excludes it. What only some ways exclude may never be together.
type exclusions map[template.Place]*exclusion

type exclusion struct {
	maps, excluded int
	text           string
}

// checkExclusive records which fields of a map exclude each other.
func (f *fitter) checkExclusive(n *typecheck.Node, t *schema.Type, path string) {
	if f.excluded == nil {
		return
	}
	fields := map[string]any{}
	for _, e := range n.Keys {
		if e.Name != "" {
			fields[e.Name] = knownValue(e.Node)
		}
	}
	found := excludedBy(f.subject, path, t, fields)
	for _, e := range n.Keys {
		if e.Name == "" {
			continue
		}
		x := f.excluded[e.Key.Place]
		if x == nil {
			x = &exclusion{}
			f.excluded[e.Key.Place] = x
		}
		x.maps++
		if text := found[e.Name]; text != "" {
			x.excluded++
			x.text = text
		}
	}
}

// knownValue returns what is known of a node: its literal value, true for a value that is always
// present, and schema.Unknown for one that may be absent.
func knownValue(n *typecheck.Node) any {
	switch {
	case n == nil:
		return nil
	case n.Value != nil && n.Value.Known:
		return n.Value.Const
	case n.Value != nil && (n.Value.Nil || n.Value.Type.Kind() == schema.KindString), n.Text != nil:
		return schema.Unknown
	case len(n.Keys) == 0 && len(n.Items) == 0 && len(n.Beside) > 0:
		return schema.Unknown
	}
	for _, e := range n.Keys {
		if v := knownValue(e.Node); v != nil && v != schema.Unknown {
			return true
		}
	}
	if len(n.Keys) > 0 {
		return schema.Unknown
	}
	return true
}

// toFindings returns a finding for each place whose maps all have fields that exclude each other.
func (all exclusions) toFindings() []typecheck.Finding {
	var found []typecheck.Finding
	for place, x := range all {
		if x.maps == x.excluded {
			found = append(found, typecheck.Finding{Class: InvalidChild, Place: place, Text: x.text})
		}
	}
	return found
}
