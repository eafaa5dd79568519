package kinds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// namesUID is an annotation by which a child names the uid of another.
const namesUID = "after.example.com/uid"

// writeFolder writes the templates: one file for each kind of child, besides
// gated, ranged and tuned files of those kinds; status.yaml, partials and
// maybe kind.yaml.
func (m *made) writeFolder(r *rand.Rand) {
	a := &author{r: r, leaves: leaves(m.fields, ".spec", true)}
	for i, k := range m.children {
		m.files[fmt.Sprintf("f%d.yaml", i)] = m.plain(a, k, fmt.Sprintf("f%d", i))
	}
	m.files["gated.yaml"] = "{{- if .spec." + m.gate.name + " }}\n" + document(a, pick(r, m.children), "gated", "") + "{{- end }}\n"
	a.root = "$"
	m.files["ranged.yaml"] = "{{- range $i := until (int .spec." + m.many.name + ") }}\n---\n" + document(a, pick(r, m.children), "ranged",
		"-{{ $i }}") + "{{- end }}\n"
	a.root = ""
	tune := &author{r: r, leaves: []leaf{{m.tune, ".spec." + m.tune.name, true}}}
	m.files["tuned.yaml"] = document(tune, pick(r, m.children), "tuned", "", "    tune.example.com/value: \"[{{ .spec."+m.tune.name+" }}]\"\n")
	m.files["_names.tpl"] = "{{- /* labels: what every child carries. */}}\n{{- define \"labels\" -}}\nmade-by: unseen\nof: {{ .metadata.name }}\n{{- end }}\n" +
		"{{- define \"note\" }}note of {{ .kind }} {{ .metadata.name }}{{ end }}\n"
	m.files["status.yaml"] = m.statusFile(a)
	if r.IntN(2) == 0 || m.other != "" {
		m.files["kind.yaml"] = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nversion: " +
			pick(r, slices.DeleteFunc([]string{m.version, m.other}, func(v string) bool { return v == "" })) + "\nresyncInterval: 1h\n"
	}
}

// plain is a file that makes one child, or maybe two, or one of two sorts.
func (m *made) plain(a *author, k childKind, name string) string {
	switch a.r.IntN(5) {
	case 0:
		return document(a, k, name, "") + "---\n" + document(a, k, name, "-too")
	case 1:
		return "{{- if " + a.condition() + " }}\n" + document(a, k, name, "-yes") + "{{- else }}\n" + document(a, k, name, "-no") + "{{- end }}\n"
	case 2: // waits for another file's child and names it
		return "{{- if not (child \"tuned\") }}\n{{ wait \"tuned is not there\" }}\n{{- end }}\n" +
			document(a, k, name, "", "    "+namesUID+": {{ (child \"tuned\").metadata.uid }}\n")
	}
	return document(a, k, name, "")
}

// document is one document of a kind of child.
func document(a *author, k childKind, file, suffix string, annotations ...string) string {
	dot := a.root + "."
	name := "{{ " + dot + "metadata.name }}-" + file + suffix
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", k.apiVersion, k.kind, name)
	of := "."
	if a.root != "" {
		of = a.root
	}
	b.WriteString(pick(a.r, []string{
		"  labels: {{ include \"labels\" " + of + " }}\n",
		"  labels:\n    {{- include \"labels\" " + of + " | nindent 4 }}\n",
		"  labels:\n    own: literal\n    {{- include \"labels\" " + of + " | nindent 4 }}\n",
	}))
	lines := strings.Join(annotations, "")
	if k.policy != "" {
		lines += "    " + k.policy + "\n"
	}
	if a.r.IntN(2) == 0 {
		lines += "    note.example.com/text: {{ include \"note\" " + of + " }}\n" + a.entries(a.r.IntN(3), 4)
	}
	if lines != "" {
		b.WriteString("  annotations:\n" + lines)
	}
	return b.String() + k.body(a, name)
}

// statusFile says what the fields say, and what the children are.
func (m *made) statusFile(a *author) string {
	return "counted: {{ len (children \"ranged\") }}\nsaid:\n  first: {{ (child \"tuned\").metadata.name }}\n" + a.entries(1+a.r.IntN(4), 2) +
		"conditions:\n- type: Tuned\n  status: {{ if child \"tuned\" }}\"True\"{{ else }}\"False\"{{ end }}\n  reason: Looked\n"
}
