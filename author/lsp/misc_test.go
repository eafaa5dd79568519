package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLineEnds: actions write the line ends of the file.
func TestLineEnds(t *testing.T) {
	e, file, head := small(t)
	text := strings.ReplaceAll(head+"  a: {{ .spec.size | default 2 }}\n", "\n", "\r\n")
	e.warned(file, text)
	got := e.fixed(file, "Silence ", file)
	if strings.Count(got, "\n") != strings.Count(text, "\n")+1 || strings.Count(got, "\r\n") != strings.Count(got, "\n") {
		t.Errorf("got %q", got)
	}
}

// TestStrayed: a file that nothing reads says so.
func TestStrayed(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open("templates/x.yaml", cmText)
	e.finds("templates/x.yaml", "1:1 not-part this file is not part of a kind")
	const below = "templates/" + app + "/sub/a.yaml"
	e.open(below, cmText)
	e.finds(below, "1:1 syntax a folder holds")
}

// TestEmptyRoot: a root without anything in it is told of.
func TestEmptyRoot(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.server.mu.Lock()
	sp := e.server.newSpace([]string{t.TempDir()})
	e.server.spaces = append(e.server.spaces, sp)
	e.server.mu.Unlock()
	e.notify("initialized", map[string]any{})
	e.until("there is nothing in the root", func() bool {
		return slices.ContainsFunc(e.messages, func(m string) bool { return strings.Contains(m, "neither crds/ nor templates/") })
	})
}

// TestKeywords: keywords are offered where they may stand, and told of.
func TestKeywords(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.offers(cm, cmText+"  a: {{ ‸ }}\n", []string{"if", "range"}, []string{"else", "end", "break", "continue"})
	e.offers(cm, cmText+"  a: {{ if .spec }}{{ ‸\n", []string{"else", "end"}, []string{"break"})
	e.offers(cm, cmText+"  a: {{ range .spec.ports }}{{ ‸\n", []string{"end", "break", "continue"}, nil)
	e.offers(cm, cmText+"  a: {{ include ‸ }}\n", []string{`"containerPorts"`}, nil)
	e.offers(cm, cmText+"  a: {{ (child ‸ }}\n", []string{`"deployment"`}, nil)
	e.offers(status, "‸\n", nil, []string{"apiVersion", "kind", "metadata"})
	e.offers(example, "apiVersion: ‸\n", []string{"apps/v1"}, nil)
	if got := e.completes(example, "apiVersion: ‸\n"); len(got) == 0 || got[0] != "app.huolala.cn/v1" {
		t.Errorf("got %q", got)
	}
	e.set(cm, cmText+"  a: {{ range .spec.ports }}{{- end }}\n")
	for name, want := range map[string]string{"deepCopy": "Returns x itself.", "b32dec": "decoded from base32", "dir": "all but the last element",
		"ge": "x y\n```\nReturns whether x is at least y"} {
		if got := functions()[name].describeFunction(); !strings.Contains(got, want) || strings.Contains(got, ";") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for marked, want := range map[string]string{"{{ ra‸nge": "once for each item", "{{- e‸nd": "closes the last"} {
		if got := e.hovers(cm, marked); !strings.Contains(got, want) {
			t.Errorf("%s: got %q", marked, got)
		}
	}
}

// TestFromExamples: from a field of an example, and of status.yaml, to the CRD.
func TestFromExamples(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(example)
	e.open(status)
	for file, part := range map[string]string{example: "  ima‸ge:", status: "readyRe‸plicas:"} {
		var got []location
		e.call("textDocument/definition", e.at(file, part), &got)
		line := ""
		if len(got) == 1 && got[0].URI == e.uri(crd) {
			data, err := os.ReadFile(filepath.Join(e.root, crd))
			if err != nil {
				t.Fatal(err)
			}
			line, _ = lineOf(string(data), got[0].Range.Start.Line+1)
		}
		if want := strings.TrimSpace(strings.ReplaceAll(part, "‸", "")); !strings.HasPrefix(strings.TrimSpace(line), want) {
			t.Errorf("%s %s: got %s, %q", file, part, shown(got), line)
		}
	}
}

// TestListItem: below a list, an item begins.
func TestListItem(t *testing.T) {
	e := startEditor(t, copied(t, app))
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    ‸\n"
	if got, want := e.accepts(cm, pod, "- name"), strings.Replace(pod, "‸", "- name: ", 1); got != want {
		t.Errorf("got %s", got)
	}
	if got := e.accepts(cm, strings.Replace(pod, "‸", "- im‸", 1), "image"); got != strings.Replace(pod, "‸", "- image: ", 1) {
		t.Errorf("got %s", got)
	}
}

// TestPartialHover: of a partial, hover shows how it begins.
func TestPartialHover(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open("templates/" + app + "/deployment.yaml")
	var got hover
	e.call("textDocument/hover", e.at("templates/"+app+"/deployment.yaml", `include "container‸Ports"`), &got)
	if text := got.Contents.Value; !strings.Contains(text, "Partial `containerPorts`") || !strings.Contains(text, "range") || strings.Contains(text, "define") {
		t.Errorf("got %s", text)
	}
}
