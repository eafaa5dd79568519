package kinds

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A made is a kind that was made up: group, names, fields and folder.
type made struct {
	group, plural, kind, version string
	// other is a further served version with the same schema, or "".
	other  string
	fields []*field
	// gate, many and tune are fields of one purpose each: whether the file
	// gated makes a child, how many ranged makes, and what tuned says.
	gate, many, tune *field
	files            map[string]string
	children         []childKind
	// gadget is the CRD of a kind of child, or nil.
	gadget map[string]any
	// late: that CRD comes after the resources.
	late     bool
	compiled *kind.Kind
}

var syllables = []string{"ba", "lo", "mir", "ket", "zu", "fen", "dor", "pli", "sha", "wo", "gri", "nax", "tul", "ve"}

// word is a name that nobody has used.
func word(r *rand.Rand) string {
	var b strings.Builder
	for range 2 + r.IntN(3) {
		b.WriteString(pick(r, syllables))
	}
	return b.String()
}

// makeUp makes a kind up; number keeps the groups of one run apart.
func makeUp(r *rand.Rand, number int) *made {
	plural := word(r)
	m := &made{
		group:  fmt.Sprintf("%s%d.%s", word(r), number, pick(r, []string{"example.com", "dev.test", "internal"})),
		plural: plural + pick(r, []string{"s", "es", ""}),
		kind:   strings.ToUpper(plural[:1]) + plural[1:], version: pick(r, []string{"v1", "v1alpha1", "v2beta3"}), files: map[string]string{},
	}
	if r.IntN(3) == 0 {
		m.other = "v9"
	}
	for i := range 3 + r.IntN(7) {
		m.fields = append(m.fields, newField(r, fmt.Sprintf("%s%d", word(r), i), 0))
	}
	m.gate = &field{name: word(r) + "Gate", kind: "bool", required: true}
	m.many = &field{name: word(r) + "Many", kind: "int", required: true}
	m.tune = &field{name: word(r) + "Tune", kind: "text", required: true}
	m.choose(r, number)
	m.writeFolder(r)
	return m
}

// choose picks 1 to 8 kinds of children.
func (m *made) choose(r *rand.Rand, number int) {
	n := 1 + r.IntN(8)
	m.children = shuffled(r, catalogue)[:n]
	if r.IntN(2) == 0 {
		return
	}
	group, plural := fmt.Sprintf("%s%d.example.org", word(r), number), word(r)
	of := strings.ToUpper(plural[:1]) + plural[1:]
	m.children[n-1] = gadget(group, of)
	m.late = r.IntN(2) == 0
	free := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	m.gadget = definition(group, plural, of, []string{"v1"},
		map[string]any{"type": "object", "properties": map[string]any{"spec": free, "status": free}})
}

// name is the CRD's name.
func (m *made) name() string       { return m.plural + "." + m.group }
func (m *made) apiVersion() string { return m.group + "/" + m.version }

// crd is the kind's definition.
func (m *made) crd() map[string]any {
	versions := []string{m.version}
	if m.other != "" {
		versions = append(versions, m.other)
	}
	integer := map[string]any{"type": "integer"}
	free := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	conditions := map[string]any{"type": "array", "items": free}
	return definition(m.group, m.plural, m.kind, versions, map[string]any{
		"type": "object", "required": []any{"spec"},
		"properties": map[string]any{
			"spec": object(append(slices.Clone(m.fields), m.gate, m.many, m.tune)),
			"status": map[string]any{"type": "object", "properties": map[string]any{
				"observedGeneration": integer, "childrenReady": integer, "childrenTotal": integer, "conditions": conditions,
				"children": map[string]any{"type": "array", "items": free},
				"said":     map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
				"counted":  integer,
			}},
		},
	})
}

// definition is a CRD whose first version is the one that is stored.
func definition(group, plural, of string, versions []string, schema map[string]any) map[string]any {
	var list []any
	for i, v := range versions {
		list = append(list, map[string]any{
			"name": v, "served": true, "storage": i == 0, "schema": map[string]any{"openAPIV3Schema": schema},
			"subresources": map[string]any{"status": map[string]any{}},
		})
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": list,
			"names": map[string]any{"kind": of, "plural": plural, "singular": strings.ToLower(of), "listKind": of + "List"},
		},
	}
}

// write writes the kind into a root.
func (m *made) write(t testing.TB, root string) {
	t.Helper()
	crd, err := yaml.Marshal(m.crd())
	if err != nil {
		t.Fatal(err)
	}
	kit.Write(t, root, map[string]string{"crds/" + m.name() + ".yaml": string(crd)})
	for name, text := range m.files {
		kit.Write(t, root, map[string]string{"templates/" + m.name() + "/" + name: text})
	}
}

// understand compiles the kinds in a root, apart from any operator.
func understand(t testing.TB, root string, kinds []*made) {
	t.Helper()
	loaded, err := catalog.Load([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range kinds {
		if m.compiled = loaded.Kinds[m.name()]; m.compiled == nil {
			t.Fatalf("%s does not compile: %v\n%s", m.name(), loaded.Broken[m.name()], m.show())
		}
	}
}

// show prints the folder.
func (m *made) show() string {
	var b strings.Builder
	for _, name := range sortedKeys(m.files) {
		fmt.Fprintf(&b, "--- %s\n%s", name, m.files[name])
	}
	return b.String()
}

// newSpec is a random spec.
func (m *made) newSpec(r *rand.Rand) map[string]any {
	return values(r, append(slices.Clone(m.fields), m.gate, m.many, m.tune))
}

// manifest is a resource as JSON.
func (m *made) manifest(t testing.TB, name string, spec map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": m.apiVersion(), "kind": m.kind, "metadata": map[string]any{"name": name},
		"spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keep writes the folder to UNSEEN_KEEP for a person to look at.
func (m *made) keep(t testing.TB) {
	if dir := os.Getenv("UNSEEN_KEEP"); dir != "" {
		m.write(t, dir)
	}
}
