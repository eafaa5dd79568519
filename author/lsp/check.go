package lsp

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// now is the folder of a kind as the editor has it; nil if it could not be read. The
// server's mutex is held.
func (sp *space) now(name string) *folder.Folder {
	if sp.catalog == nil || name == "" || sp.catalog.Folder(name) == nil && sp.catalog.Roots[name] != "" {
		return nil
	}
	f := folder.Folder{Name: name}
	if read := sp.catalog.Folder(name); read != nil {
		f = *read
	}
	f.Children, f.Partials = slices.Clone(f.Children), slices.Clone(f.Partials)
	for _, files := range [][]folder.File{f.Children, f.Partials} {
		for i := range files {
			sp.unsaved(&files[i])
		}
	}
	for _, file := range []**folder.File{&f.Status, &f.Settings, &f.Config, &f.Health} {
		if *file != nil {
			one := **file
			sp.unsaved(&one)
			*file = &one
		}
	}
	sp.add(&f)
	return &f
}

// add adds the templates that were opened since the folder was read.
func (sp *space) add(f *folder.Folder) {
	for file, doc := range sp.server.docs {
		shown, inside, ok := sp.show(file)
		base := path.Base(inside)
		if !ok || path.Dir(inside) != "templates/"+f.Name ||
			slices.ContainsFunc(templates(f), func(one folder.File) bool { return one.Shown == shown }) {
			continue
		}
		one := folder.File{Name: base, Shown: shown, Data: folder.Clean([]byte(doc.text))}
		switch {
		case base == "status.yaml":
			f.Status = &one
		case strings.HasSuffix(base, ".tpl"):
			f.Partials = append(f.Partials, one)
		case strings.HasSuffix(base, ".yaml") && base != "kind.yaml" && base != "config.yaml":
			f.Children = append(f.Children, one)
		}
	}
}

// unsaved puts what the editor has into a file.
func (sp *space) unsaved(f *folder.File) {
	if doc := sp.server.docs[sp.abs(f.Shown)]; doc != nil {
		f.Data = folder.Clean([]byte(doc.text))
	}
}

// own are the findings that a file shows by itself; ok is false where only a whole check
// can say. A panic is an error. Read is given what is analysed of the folder.
func (sp *space) own(shown, inside, text string, read func(*folder.Folder)) (found []typecheck.Finding, ok bool, err error) {
	defer panics.Catch(&err, "checking "+shown)
	if strings.HasPrefix(inside, "crds/") || strings.HasPrefix(inside, "schemas/") {
		_, err := crdfile.Parse(shown, []byte(text))
		return lint.Findings(err), true, nil
	}
	if err := sp.ready(); err != nil {
		return nil, false, err
	}
	sp.server.mu.Lock()
	name := kindOf(inside)
	f := sp.now(name)
	if f == nil || !slices.ContainsFunc(templates(f), func(f folder.File) bool { return f.Shown == shown }) {
		sp.server.mu.Unlock()
		return nil, false, nil
	}
	some := []string{shown}
	if strings.HasSuffix(shown, ".tpl") {
		some = sp.texts.callers(f, shown)
	}
	small, c, crd := sp.texts.reduced(f, some...), sp.catalog, sp.crds[name]
	sp.server.mu.Unlock()
	if crd == nil {
		return nil, false, nil
	}
	read(small)
	return lint.Own(apart(c, small, crd, shown), name, shown), true, nil
}

// typed tells the findings of a file that just changed: its own, and those of the last
// whole check where their lines went.
func (sp *space) typed(ctx context.Context, doc *document) error {
	shown, inside, inRoot := sp.show(doc.path)
	if !inRoot {
		return nil
	}
	own, ok, err := sp.own(shown, inside, doc.text, sp.server.count)
	if err != nil {
		return err
	}
	sp.server.mu.Lock()
	rest, told := sp.rest[shown]
	based := sp.based[shown]
	if !ok && !told {
		rest = sp.all()[shown]
	}
	if !told {
		based = doc.text
	}
	sp.server.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// Of a template, what is on a line that changed is most likely mended. What only the
	// whole check sees of another file stays until it is checked again.
	rest = moved(rest, based, doc.text, !ok || strings.HasPrefix(inside, "crds/"))
	if !ok && len(rest) == 0 {
		return nil
	}
	sp.server.publish(doc, sp.diagnostics(append(own, rest...), doc.text))
	return nil
}

// moved are findings about a text where they stand in its next version; those of lines
// that changed are left out, unless they are kept.
func moved(found []typecheck.Finding, before, now string, keep bool) []typecheck.Finding {
	a, b := strings.Split(before, "\n"), strings.Split(now, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var left []typecheck.Finding
	for _, f := range found {
		switch {
		case f.Place.Line > len(a)-tail:
			f.Place.Line += len(b) - len(a)
			left = append(left, f)
		case f.Place.Line <= head:
			left = append(left, f)
		case keep:
			f.Place.Line = max(1, min(f.Place.Line, len(b)-tail))
			left = append(left, f)
		}
	}
	return left
}

// all are the findings of the last whole check by file, each once. The server's mutex is
// held.
func (sp *space) all() map[string][]typecheck.Finding {
	files, seen := map[string][]typecheck.Finding{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sp.results)) {
		for _, f := range sp.results[name].Findings {
			if id := f.Error() + string(f.Class); !seen[id] {
				seen[id] = true
				files[f.Place.File] = append(files[f.Place.File], f)
			}
		}
	}
	return files
}

// notPart is the class of what is said of files that nothing reads.
const notPart typecheck.Class = "not-part"

// strayed reports whether a file in a root looks like a template and is read by nothing.
func strayed(inside string) bool {
	parts := strings.Split(inside, "/")
	if parts[0] != "templates" || path.Ext(inside) != ".yaml" && path.Ext(inside) != ".tpl" {
		return false
	}
	return len(parts) == 2 || len(parts) > 3 && parts[2] != "tests" && parts[2] != "files"
}

// ofFolders puts findings about a folder as a whole into those of its files that are open,
// since editors do not show findings of directories.
func ofFolders(all map[string][]typecheck.Finding, open map[string]*document) {
	for shown := range open {
		for _, f := range all[path.Dir(shown)] {
			f.Place = template.Place{File: shown, Line: 1, Column: 1}
			all[shown] = append(all[shown], f)
		}
	}
	for shown := range open {
		delete(all, path.Dir(shown))
	}
}

// tell tells the findings of the last whole check. Of open files it remembers what they do
// not show by themselves.
func (sp *space) tell(docs map[string]*document) {
	sp.server.mu.Lock()
	all := sp.all()
	open := map[string]*document{}
	for file, doc := range docs {
		if shown, _, ok := sp.show(file); ok && sp.server.spaceOf(file) == sp && sp.server.docs[file] != nil {
			open[shown] = doc
		}
	}
	ofFolders(all, open)
	for shown := range open {
		if _, inside, _ := sp.show(sp.abs(shown)); strayed(inside) && len(all[shown]) == 0 {
			all[shown] = append(all[shown], typecheck.Finding{Class: notPart, Place: template.Place{File: shown, Line: 1, Column: 1},
				Text: "this file is not part of a kind: templates are in templates/NAME.GROUP/ itself, without directories below"})
		}
	}
	gone := slices.Collect(maps.Keys(sp.told))
	sp.told = map[string]bool{}
	sp.server.mu.Unlock()
	for shown, doc := range open {
		_, inside, _ := sp.show(doc.path)
		own, ok, err := sp.own(shown, inside, doc.text, func(*folder.Folder) {})
		if err != nil {
			sp.server.log(err)
		}
		rest := slices.Clone(all[shown])
		if ok {
			rest = slices.DeleteFunc(rest, func(f typecheck.Finding) bool { return slices.Contains(own, f) })
			// Where the kind does not load, the whole check says less of the file than it itself.
			all[shown] = slices.Concat(own, rest)
		}
		sp.server.mu.Lock()
		sp.rest[shown], sp.based[shown] = rest, doc.text
		sp.server.mu.Unlock()
	}
	for _, shown := range append(gone, slices.Collect(maps.Keys(open))...) {
		if all[shown] == nil {
			all[shown] = []typecheck.Finding{}
		}
	}
	for shown, found := range all {
		if len(found) > 0 {
			sp.server.mu.Lock()
			sp.told[shown] = true
			sp.server.mu.Unlock()
		}
		if doc := open[shown]; doc != nil {
			sp.server.publish(doc, sp.diagnostics(found, doc.text))
		} else if shown != "" {
			file := &document{path: sp.abs(shown), uri: uriOf(sp.abs(shown)), version: -1}
			file.text = sp.server.textOf(file.path)
			sp.server.publish(file, sp.diagnostics(found, file.text))
		}
	}
}

// severities, as the protocol numbers them.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

// diagnostics are findings as the protocol has them.
func (sp *space) diagnostics(found []typecheck.Finding, text string) []diagnostic {
	all := []diagnostic{}
	for _, f := range found {
		severity := severityWarning
		if f.Class == typecheck.Syntax || f.Class == typecheck.UnknownField || f.Class == lint.Braces {
			severity = severityError
		}
		if f.Class == notPart {
			severity = severityInformation
		}
		d := diagnostic{Range: sp.rangeOf(f, text), Severity: severity, Code: string(f.Class), Source: "jacquard", Message: f.Text}
		if f.Called.File != "" {
			file := sp.abs(f.Called.File)
			d.Related = []nearby{{location{uriOf(file), placed(sp.server.textOf(file), f.Called, 1)}, "called from here"}}
			d.Message += fmt.Sprintf(" (called from %s)", f.Called)
		}
		all = append(all, d)
	}
	return all
}
