package laws

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

const (
	guide     = "docs/templates.md"
	reference = "docs/reference.md"
)

// TestFunctionsAreDocumented: docs/reference.md names every function that
// there is, and no other.
func TestFunctionsAreDocumented(t *testing.T) {
	sameNames(t, "## Functions", slices.Concat(slices.Collect(maps.Keys(funcs.Table())), template.Specials()))
	sameNames(t, "## Refused functions", slices.Collect(maps.Keys(funcs.Refused())))
}

// sameNames compares the first column of a section's tables with the names
// that there are.
func sameNames(t *testing.T, heading string, names []string) {
	t.Helper()
	sameRows(t, heading, section(t, reference, heading), names)
}

// sameRows compares the first column of a text's tables with the names that
// there are.
func sameRows(t *testing.T, heading, text string, names []string) {
	t.Helper()
	documented := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.SplitN(line, "|", 3); len(cells) == 3 {
			maps.Copy(documented, codes(cells[1]))
		}
	}
	for _, name := range names {
		if !documented[name] {
			t.Errorf("%s: %q has no row for `%s`", reference, heading, name)
		}
	}
	for name := range documented {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %q has a row for `%s`, which does not exist", reference, heading, name)
		}
	}
}

// TestSettingsAreDocumented: docs/reference.md has a row for every field of
// kind.yaml that its JSON Schema has, at every depth, and for no other.
func TestSettingsAreDocumented(t *testing.T) {
	var root property
	if err := json.Unmarshal(read(t, "docs/kind.schema.json"), &root); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(section(t, reference, "## kind.yaml"), "\n### ")
	sameRows(t, "## kind.yaml", table, root.fields(""))
}

// A property is what a JSON Schema says of a field.
type property struct {
	Properties map[string]property `json:"properties"`
	Items      *property           `json:"items"`
	AnyOf      []property          `json:"anyOf"`
}

// object is the property, or what it may be instead that has fields.
func (p property) object() property {
	for _, one := range p.AnyOf {
		if one.Properties != nil {
			return one
		}
	}
	return p
}

// fields are the paths of the fields below a property that hold no others but
// lists, as the table has them.
func (p property) fields(path string) []string {
	var all []string
	for name, field := range p.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if field.Items != nil && field.Items.object().Properties != nil {
			all = append(append(all, at), field.Items.object().fields(at+"[]")...)
			continue
		}
		if field.Properties != nil {
			all = append(all, field.fields(at)...)
			continue
		}
		all = append(all, at)
	}
	return all
}

// TestAuthorsAnnotationsAreDocumented: docs/reference.md has a row for every
// annotation that a template may write, and for no other.
func TestAuthorsAnnotationsAreDocumented(t *testing.T) {
	sameRows(t, "## Annotations", section(t, reference, "## Annotations"), api.AuthorAnnotations)
}
