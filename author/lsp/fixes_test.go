package lsp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// fixed is a file after the editor took the action of that title for one of the findings
// of another one; "" if none offers it.
func (e *editor) fixed(from, title, file string) string {
	e.t.Helper()
	var titles []string
	for _, a := range e.offered(from) {
		if titles = append(titles, a.Title); strings.HasPrefix(a.Title, title) {
			return e.applied(file, a.Edit.Changes)
		}
	}
	e.t.Errorf("%s: no action %q, only %q for %s in\n%s", from, title, titles, shown(e.told[from]), e.texts[from])
	return ""
}

// offered are the actions for the findings of a file.
func (e *editor) offered(file string) (all []codeAction) {
	e.t.Helper()
	e.mu.Lock()
	found := e.told[file].Diagnostics
	e.mu.Unlock()
	for _, d := range found {
		var got []codeAction
		e.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri(file)}, "range": d.Range,
			"context": map[string]any{"diagnostics": []diagnostic{d}}}, &got)
		all = append(all, got...)
	}
	return all
}

// warned sets a text and waits for a finding.
func (e *editor) warned(file, text string) {
	e.t.Helper()
	if e.versions[file] == 0 {
		e.open(file, text)
	} else {
		e.set(file, text)
	}
	e.until(file+" has a finding", func() bool { return e.current(file) && len(e.found(file)) > 0 })
}

const fields = `              text: {type: string}
              size: {type: integer}
              flag: {type: boolean}
              names: {type: array, items: {type: string}}
`

// small is a root with one kind of few fields, and what its file of children begins with.
func small(t *testing.T) (e *editor, file, head string) {
	t.Helper()
	root := t.TempDir()
	const name = "pages.example.com"
	write(t, root, "crds/"+name+".yaml", strings.Replace(page, "              text: {type: string}\n", fields, 1))
	write(t, root, "templates/"+name+"/_parts.tpl", "{{ define \"labels\" }}a: b{{ end }}\n")
	write(t, root, "templates/"+name+"/a.yaml", "")
	return startEditor(t, root), "templates/" + name + "/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n"
}

// A fix is what the action of a title makes of a line.
type fix struct{ line, title, want string }

func tryFixes(t *testing.T, all []fix) {
	t.Helper()
	e, file, head := small(t)
	for _, tt := range all {
		e.warned(file, head+tt.line)
		if got := e.fixed(file, tt.title, file); got != head+tt.want {
			t.Errorf("%s: got %s", tt.line, strings.TrimPrefix(got, head))
		}
	}
}

// TestEmptyOfItsType: what stands for an absent value is of its type.
func TestEmptyOfItsType(t *testing.T) {
	tryFixes(t, []fix{
		{"  a: b{{ add 1 .spec.size }}\n", "Use ifNil with 0", "  a: b{{ add 1 (ifNil 0 .spec.size) }}\n"},
		{"  a: b{{ .spec.size }}\n", "Use ifNil with 0", "  a: b{{ ifNil 0 .spec.size }}\n"},
		{"  a: b{{ .spec.flag }}\n", "Use ifNil with false", "  a: b{{ ifNil false .spec.flag }}\n"},
		{"  a: b{{ upper .spec.text }}{{ .spec.size }}\n", "Use ifNil with 0", "  a: b{{ upper .spec.text }}{{ ifNil 0 .spec.size }}\n"},
	})
}

// TestReplace: what a finding suggests is an edit.
func TestReplace(t *testing.T) {
	tryFixes(t, []fix{
		{"  a: {{ .spec.txet }}\n", "Replace by spec.text", "  a: {{ .spec.text }}\n"},
		{"  a: {{ $s := .spec }}{{ $s.txet }}\n", "Replace by spec.text", "  a: {{ $s := .spec }}{{ $s.text }}\n"},
		{"  a: {{ with .spec }}{{ .txet }}{{ end }}\n", "Replace by spec.text", "  a: {{ with .spec }}{{ .text }}{{ end }}\n"},
		{"  a: {{ with .spec }}{{ .metadata.name }}{{ end }}\n", "Replace by $.metadata", "  a: {{ with .spec }}{{ $.metadata.name }}{{ end }}\n"},
		{"  a: {{ uper .spec.text }}\n", "Replace by upper", "  a: {{ upper .spec.text }}\n"},
		{"  a: {{ include \"lables\" . }}\n", "Replace by labels", "  a: {{ include \"labels\" . }}\n"},
		{"  a: b\nimutable: true\n", "Replace by immutable", "  a: b\nimmutable: true\n"},
	})
}

// TestDeclare: a field is declared with the type that its use asks for.
func TestDeclare(t *testing.T) {
	e, file, head := small(t)
	for _, tt := range []struct{ line, want string }{
		{"  a: b{{ .spec.tls.secret }}\n", "tls: {type: object, properties: {secret: {type: string}}}"},
		{"  a: b{{ range .spec.hosts }}{{ .name }}{{ end }}\n", "hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}"},
		{"  a: b{{ range $i, $h := .spec.hosts }}{{ $h.name }}{{ end }}\n", "hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}"},
		{"  a: b{{ range .spec.hosts }}{{ . }}{{ end }}\n", "hosts: {type: array, items: {type: string}}"},
		{"  a: b{{ add .spec.num 1 }}\n", "num: {type: integer}"},
		{"  a: b{{ .spec.num | mul 2 }}\n", "num: {type: integer}"},
		{"  a: b{{ if .spec.on }}c{{ end }}\n", "on: {type: boolean}"},
		{"  a: b{{ .spec.other }}\n", "other: {type: string}"},
	} {
		e.warned(file, head+tt.line)
		if got := e.fixed(file, "Declare ", "crds/pages.example.com.yaml"); !strings.Contains(got, " "+tt.want+"\n") {
			t.Errorf("%s: the CRD is\n%s", tt.line, got)
		}
	}
}

// TestRanges: a finding is about a word, or at most about the inside of an action.
func TestRanges(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, tt := range []struct {
		line string
		want [2]int
	}{
		{"  a: {{ $s := .spec }}{{ $s. }}", [2]int{24, 28}},
		{"  a: {{ .spec.imgae }}\r", [2]int{8, 19}},
		{"  a: {{ if }}b{{ end }}", [2]int{8, 10}},
		{"  a: {{ nonsense . }}", [2]int{8, 18}},
	} {
		e.warned(cm, cmText+tt.line+"\n")
		e.mu.Lock()
		got := e.told[cm].Diagnostics[0].Range
		e.mu.Unlock()
		if got.Start.Line != 5 || got.End.Line != 5 || got.Start.Character < tt.want[0] || got.End.Character > tt.want[1] {
			t.Errorf("%q: got %s", tt.line, shown(got))
		}
	}
}

// TestNoCRDYet: a template before its CRD is told so, and has what each resource has.
func TestNoCRDYet(t *testing.T) {
	root := copied(t, app)
	const file = "templates/pages.example.com/a.yaml"
	write(t, root, file, "")
	e := startEditor(t, root)
	e.open(file, cmText+"  a: {{ . }}\n")
	e.until("there is no CRD", func() bool {
		return slices.ContainsFunc(e.found(file), func(f string) bool { return strings.Contains(f, "there is no CRD") && strings.HasPrefix(f, "1:1 ") })
	})
	e.offers(file, cmText+"  a: {{ .‸ }}\n", []string{"apiVersion", "kind", "metadata", "spec"}, nil)
	e.offers(file, cmText+"  a: {{ .s‸ }}\n", []string{"spec"}, nil)
}

// TestCreate: what is missing is made: a CRD that lint has nothing to say of, a partial
// in a file of its own, and one in the file that there is.
func TestCreate(t *testing.T) {
	e, file, head := small(t)
	made := func(from, title string) (name, text string) {
		t.Helper()
		for _, a := range e.offered(from) {
			if strings.HasPrefix(a.Title, title) && len(a.Edit.DocumentChanges) == 2 {
				changes := shown(a.Edit.DocumentChanges)
				var all []struct {
					Kind, URI string
					Edits     []textEdit
				}
				if err := json.Unmarshal([]byte(changes), &all); err != nil || all[0].Kind != "create" || len(all[1].Edits) != 1 {
					t.Fatalf("%v: %s", err, changes)
				}
				return strings.TrimPrefix(pathOf(all[0].URI), e.root+"/"), all[1].Edits[0].NewText
			}
		}
		t.Fatalf("%s: no action %q", from, title)
		return "", ""
	}
	e.warned(file, head+"  a: {{ include \"ports\" . }}\n")
	parts := "templates/pages.example.com/_parts.tpl"
	if got := e.fixed(file, "Define ports in _parts.tpl", parts); !strings.HasSuffix(got, "\n{{- define \"ports\" }}\n{{- end }}\n") {
		t.Errorf("got %s", got)
	}
	const other = "templates/notes.example.com/a.yaml"
	write(t, e.root, other, "")
	e.open(other, head+"  a: {{ include \"app.ports\" . }}\n")
	e.until("there is no CRD", func() bool {
		return slices.ContainsFunc(e.found(other), func(f string) bool { return strings.Contains(f, "there is no CRD") })
	})
	name, text := made(other, "Create crds/")
	if name != "crds/notes.example.com.yaml" || !strings.Contains(text, "kind: Note\n") {
		t.Errorf("%s is\n%s", name, text)
	}
	write(t, e.root, name, text)
	e.open(name)
	e.until("the partial is missing", func() bool {
		return slices.ContainsFunc(e.found(other), func(f string) bool { return strings.Contains(f, "there is no template") })
	})
	if name, text = made(other, "Create templates/"); name != "templates/notes.example.com/_app-ports.tpl" || text != "{{- define \"app.ports\" }}\n{{- end }}\n" {
		t.Errorf("%s is\n%s", name, text)
	}
	e.set(other, head+"  a: b{{ .spec.size }}\n")
	e.until("the field is unknown", func() bool {
		return slices.ContainsFunc(e.found(other), func(f string) bool { return strings.Contains(f, "no field spec.size") })
	})
	if got := e.fixed(other, "Declare ", "crds/notes.example.com.yaml"); !strings.Contains(got, "size: {type: string}") {
		t.Errorf("the CRD is\n%s", got)
	}
}
