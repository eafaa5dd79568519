package lsp

import (
	"path"
	"regexp"
	"strings"

	"github.com/jacquard-operator/jacquard/author/scaffold"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

var (
	noCRD     = regexp.MustCompile(`(?:^|: )there is no CRD (\S+)$`)
	noPartial = regexp.MustCompile(`^there is no template "([^"]+)"`)
)

// createMissing returns an action that creates what a finding reports as missing: the CRD, or a
// partial.
func (q *query) createMissing(f typecheck.Finding, _ diagnostic) *codeAction {
	if m := noCRD.FindStringSubmatch(f.Text); m != nil {
		names, err := scaffold.ParseNames(q.name, scaffold.Names{})
		if err != nil {
			return nil
		}
		text, err := scaffold.CRD(names)
		if err != nil {
			return nil
		}
		return q.newFile(m[1], text)
	}
	m := noPartial.FindStringSubmatch(f.Text)
	if m == nil || q.folder == nil {
		return nil
	}
	text := "{{- define \"" + m[1] + "\" }}\n{{- end }}\n"
	for _, file := range q.folder.Partials {
		if path.Dir(file.Shown) != path.Dir(q.shown) {
			continue
		}
		old := string(file.Data)
		if old != "" && !strings.HasSuffix(old, "\n") {
			text = "\n" + text
		}
		return newEditAction("Define "+m[1]+" in "+path.Base(file.Shown), uriOf(q.absPath(file.Shown)), spanOf(old, len(old), len(old)), text)
	}
	return q.newFile(path.Join(path.Dir(q.shown), "_"+plainName.ReplaceAllString(m[1], "-")+".tpl"), text)
}

// plainName is what a file should not be called.
var plainName = regexp.MustCompile(`[^\w-]+`)

// newFile is an action that makes a file with a text; nil if the editor makes none.
func (q *query) newFile(shown, text string) *codeAction {
	q.server.mu.Lock()
	defer q.server.mu.Unlock()
	if !q.server.creates {
		return nil
	}
	uri := uriOf(q.absPath(shown))
	filled := documentEdit{Edits: []textEdit{{NewText: text}}}
	filled.TextDocument.URI = uri
	return &codeAction{Title: "Create " + shown, Edit: workspaceEdit{
		DocumentChanges: []any{fileCreation{"create", uri, map[string]bool{"ignoreIfExists": true}}, filled}}}
}
