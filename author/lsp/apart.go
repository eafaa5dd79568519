package lsp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// isolateFile returns a catalog with a folder in which no other file hides findings of the shown
// one. It removes from the other files what is wrong with them.
func isolateFile(c *catalog.Catalog, f *folder.Folder, crd *schema.CRD, shown string) *catalog.Catalog {
	with := c.With(f, crd)
	for range mostMends {
		if with.Kinds[f.Name] != nil || with.Understood(f.Name) != nil {
			break
		}
		changed := false
		for _, found := range lint.Findings(with.Broken[f.Name]) {
			if found.Place.File != shown && removeFaulty(f, found) {
				changed = true
			}
		}
		if !changed {
			break
		}
		with = c.With(f, crd)
	}
	return with
}

// removeFaulty removes the action of a finding from a file of a folder. It removes all of the file
// if the finding is about no action. It returns false if there is nothing to remove.
func removeFaulty(f *folder.Folder, found typecheck.Finding) bool {
	for _, file := range []**folder.File{&f.Settings, &f.Config, &f.Health} {
		if *file != nil && (*file).Shown == found.Place.File {
			*file = nil
			return true
		}
	}
	if f.Status != nil && f.Status.Shown == found.Place.File {
		f.Status = nil
		return true
	}
	for _, files := range [][]folder.File{f.Children, f.Partials} {
		for i := range files {
			if files[i].Shown != found.Place.File {
				continue
			}
			was := files[i].Data
			files[i].Data = repairLine(string(was), found.Place.Line)
			if bytes.Equal(files[i].Data, was) {
				files[i].Data = slices.Concat(stubOf(was), definesOf(was, nil))
			}
			return !bytes.Equal(files[i].Data, was)
		}
	}
	return false
}

// repairLine returns a text without what is wrong on a line. It keeps all of the partials.
func repairLine(text string, line int) []byte {
	now := mendText(text)
	if now == text {
		for _, a := range actionsOf(text) {
			if lineAt(text, a.from) <= line && line <= lineAt(text, a.to) && a.word != "define" && a.word != "end" {
				now = blankOut(now, a.from, a.to)
			}
		}
		now = mendText(now)
	}
	return append([]byte(now), definesOf([]byte(text), []byte(now))...)
}

// definesOf are empty partials under the names of a text that another one lacks.
func definesOf(text, among []byte) []byte {
	var b strings.Builder
	there := firstGroups(defineName, among)
	for _, name := range firstGroups(defineName, text) {
		if !slices.Contains(there, name) {
			b.WriteString("{{ define \"" + name + "\" }}{{ end }}")
			there = append(there, name)
		}
	}
	return []byte(b.String())
}
