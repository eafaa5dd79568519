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

// apart is a catalog with a folder in which no other file than one hides what that one
// shows: what is wrong with others is taken out of them.
func apart(c *catalog.Catalog, f *folder.Folder, crd *schema.CRD, shown string) *catalog.Catalog {
	with := c.With(f, crd)
	for range mostMends {
		if with.Kinds[f.Name] != nil || with.Understood(f.Name) != nil {
			break
		}
		changed := false
		for _, found := range lint.Findings(with.Broken[f.Name]) {
			if found.Place.File != shown && hush(f, found) {
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

// hush takes the action out of a file of a folder that a finding is about, or all of the
// file if it is about none; false if there is nothing to take out.
func hush(f *folder.Folder, found typecheck.Finding) bool {
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
			files[i].Data = hushed(string(was), found.Place.Line)
			if bytes.Equal(files[i].Data, was) {
				files[i].Data = slices.Concat(stub(was), definesOf(was, nil))
			}
			return !bytes.Equal(files[i].Data, was)
		}
	}
	return false
}

// hushed is a text without what is wrong on a line, with all of its partials.
func hushed(text string, line int) []byte {
	now := mended(text)
	if now == text {
		for _, a := range actionsOf(text) {
			if lineAt(text, a.from) <= line && line <= lineAt(text, a.to) && a.word != "define" && a.word != "end" {
				now = blank(now, a.from, a.to)
			}
		}
		now = mended(now)
	}
	return append([]byte(now), definesOf([]byte(text), []byte(now))...)
}

// definesOf are empty partials under the names of a text that another one lacks.
func definesOf(text, among []byte) []byte {
	var b strings.Builder
	there := firsts(defineName, among)
	for _, name := range firsts(defineName, text) {
		if !slices.Contains(there, name) {
			b.WriteString("{{ define \"" + name + "\" }}{{ end }}")
			there = append(there, name)
		}
	}
	return []byte(b.String())
}
