package lsp

import (
	"slices"
	"strings"
	"testing"
)

// cm is the file that tests of small texts write into.
const cm = "templates/" + app + "/cm.yaml"

// cmText is how it begins.
const cmText = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n"

// accepts is a text, which has a mark for the place, after the editor took a completion.
func (e *editor) accepts(file, marked, label string) string {
	e.t.Helper()
	plain := strings.Replace(marked, "‸", "", 1)
	if e.versions[file] == 0 {
		e.open(file, plain)
	} else {
		e.set(file, plain)
	}
	var items []completionItem
	e.call("textDocument/completion", e.at(file, marked), &items)
	i := slices.IndexFunc(items, func(c completionItem) bool { return c.Label == label })
	if i < 0 {
		return "not offered"
	}
	return applyChange(plain, &items[i].TextEdit.Range, items[i].TextEdit.NewText)
}

// TestCompletionReplaces: a completion takes the place of the whole word and of nothing
// else, and closes quotation marks that are open.
func TestCompletionReplaces(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, tt := range []struct{ typed, label, want string }{
		{`a: {{ include "‸ }}`, "containerPorts", `a: {{ include "containerPorts" }}`},
		{`a: {{ include "con‸ . }}`, "containerPorts", `a: {{ include "containerPorts" . }}`},
		{`a: {{ include "con‸tai" . }}`, "containerPorts", `a: {{ include "containerPorts" . }}`},
		{`a: {{ include "‸ }} and "b"`, "containerPorts", `a: {{ include "containerPorts" }} and "b"`},
		{`a: {{ include "‸ . | printf "%s" }}`, "containerPorts", `a: {{ include "containerPorts" . | printf "%s" }}`},
		{`a: {{ (child "‸ }}`, "deployment", `a: {{ (child "deployment" }}`},
		{`a: {{ await "dep‸ }}`, "deployment", `a: {{ await "deployment" }}`},
		{`a: {{ template "‸ }}`, "containerPorts", `a: {{ template "containerPorts" }}`},
		{`a: {{ hasAPI "‸ }}`, "apps/v1", `a: {{ hasAPI "apps/v1" }}`},
		{`a: {{ hasAPI "apps/v1" "‸ }}`, "Deployment", `a: {{ hasAPI "apps/v1" "Deployment" }}`},
		{`a: {{ hasAPI "‸`, "apps/v1", `a: {{ hasAPI "apps/v1"`},
		{`a: {{ .spec.im‸age }}`, "image", `a: {{ .spec.image }}`},
		{`a: {{ .spec.‸imgae.b }}`, "image", `a: {{ .spec.image.b }}`},
		{`a: {{ incl‸ude "x" . }}`, "include", `a: {{ include "x" . }}`},
		{`a: {{ $x := 1 }}{{ $‸xy }}`, "$x", `a: {{ $x := 1 }}{{ $x }}`},
	} {
		if got := e.accepts(cm, cmText+"  "+tt.typed+"\n", tt.label); got != cmText+"  "+tt.want+"\n" {
			t.Errorf("%s: got %s", tt.typed, strings.TrimPrefix(got, cmText))
		}
	}
	for _, tt := range []struct{ typed, label, want string }{
		{"apiVersion: v1\nkind: Con‸figMpa\n", "ConfigMap", "apiVersion: v1\nkind: ConfigMap\n"},
		{"apiVersion: v‸2\nkind: ConfigMap\n", "v1", "apiVersion: v1\nkind: ConfigMap\n"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  lab‸els: {}\n", "labels", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  lab‸esl: {}\n", "labels", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n"},
	} {
		if got := e.accepts(cm, tt.typed, tt.label); got != tt.want {
			t.Errorf("%s: got %s", tt.typed, got)
		}
	}
}
