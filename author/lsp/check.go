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

// currentFolder returns the folder of a kind as the editor has it, or nil if it could not be read.
// The server's mutex is held.
func (sp *space) currentFolder(name string) *folder.Folder {
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
			sp.useUnsaved(&files[i])
		}
	}
	for _, file := range []**folder.File{&f.Status, &f.Settings, &f.Config, &f.Health} {
		if *file != nil {
			one := **file
			sp.useUnsaved(&one)
			*file = &one
		}
	}
	sp.add(&f)
	return &f
}

// add adds the templates that were opened since the folder was read.
func (sp *space) add(f *folder.Folder) {
	for file, doc := range sp.server.docs {
		shown, inside, ok := sp.shownPath(file)
		base := path.Base(inside)
		if !ok || path.Dir(inside) != "templates/"+f.Name ||
			slices.ContainsFunc(templatesOf(f), func(one folder.File) bool { return one.Shown == shown }) {
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

// useUnsaved replaces the data of a file by the text that the editor has, if it has one.
func (sp *space) useUnsaved(f *folder.File) {
	if doc := sp.server.docs[sp.absPath(f.Shown)]; doc != nil {
		f.Data = folder.Clean([]byte(doc.text))
	}
}

// ownFindings returns the findings that a file shows by itself. ok is false where only a whole
// check can find anything. A panic becomes an error. read is called with the part of the folder
// that is analysed.
func (sp *space) ownFindings(shown, inside, text string, read func(*folder.Folder)) (found []typecheck.Finding, ok bool, err error) {
	defer panics.Catch(&err, "checking "+shown)
	if strings.HasPrefix(inside, "crds/") || strings.HasPrefix(inside, "schemas/") {
		_, err := crdfile.Parse(shown, []byte(text))
		return lint.Findings(err), true, nil
	}
	if err := sp.ensureCatalog(); err != nil {
		return nil, false, err
	}
	sp.server.mu.Lock()
	name := kindOf(inside)
	f := sp.currentFolder(name)
	if f == nil || !slices.ContainsFunc(templatesOf(f), func(f folder.File) bool { return f.Shown == shown }) {
		sp.server.mu.Unlock()
		return nil, false, nil
	}
	some := []string{shown}
	if strings.HasSuffix(shown, ".tpl") {
		some = sp.texts.callersOf(f, shown)
	}
	small, c, crd := sp.texts.reduceFolder(f, some...), sp.catalog, sp.crds[name]
	sp.server.mu.Unlock()
	if crd == nil {
		return nil, false, nil
	}
	read(small)
	return lint.Own(isolateFile(c, small, crd, shown), name, shown), true, nil
}

// publishTyped publishes the findings of a file that just changed. These are its own, and those of
// the last whole check, moved to where their lines are now.
func (sp *space) publishTyped(ctx context.Context, doc *document) error {
	shown, inside, inRoot := sp.shownPath(doc.path)
	if !inRoot {
		return nil
	}
	own, ok, err := sp.ownFindings(shown, inside, doc.text, sp.server.countTemplates)
	if err != nil {
		return err
	}
	sp.server.mu.Lock()
	rest, told := sp.rest[shown]
	based := sp.based[shown]
	if !ok && !told {
		rest = sp.allFindings()[shown]
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
	rest = moveFindings(rest, based, doc.text, !ok || strings.HasPrefix(inside, "crds/"))
	if !ok && len(rest) == 0 {
		return nil
	}
	sp.server.publishDiagnostics(doc, sp.toDiagnostics(append(own, rest...), doc.text))
	return nil
}

// moveFindings returns the findings about a text at their places in its next version. It drops
// those of lines that changed, unless keep is set.
func moveFindings(found []typecheck.Finding, before, now string, keep bool) []typecheck.Finding {
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

// allFindings returns the findings of the last whole check by file, each once. The server's mutex
// is held.
func (sp *space) allFindings() map[string][]typecheck.Finding {
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

// isStray reports whether a file in a root looks like a template, although nothing reads it.
func isStray(inside string) bool {
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

// publishFindings publishes the findings of the last whole check. It remembers those of open files
// that these do not show by themselves.
func (sp *space) publishFindings(docs map[string]*document) {
	sp.server.mu.Lock()
	all := sp.allFindings()
	open := map[string]*document{}
	for file, doc := range docs {
		if shown, _, ok := sp.shownPath(file); ok && sp.server.spaceOf(file) == sp && sp.server.docs[file] != nil {
			open[shown] = doc
		}
	}
	ofFolders(all, open)
	for shown := range open {
		if _, inside, _ := sp.shownPath(sp.absPath(shown)); isStray(inside) && len(all[shown]) == 0 {
			all[shown] = append(all[shown], typecheck.Finding{Class: notPart, Place: template.Place{File: shown, Line: 1, Column: 1},
				Text: "this file is not part of a kind: templates are in templates/NAME.GROUP/ itself, without directories below"})
		}
	}
	gone := slices.Collect(maps.Keys(sp.told))
	sp.told = map[string]bool{}
	sp.server.mu.Unlock()
	for shown, doc := range open {
		_, inside, _ := sp.shownPath(doc.path)
		own, ok, err := sp.ownFindings(shown, inside, doc.text, func(*folder.Folder) {})
		if err != nil {
			sp.server.logError(err)
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
			sp.server.publishDiagnostics(doc, sp.toDiagnostics(found, doc.text))
		} else if shown != "" {
			file := &document{path: sp.absPath(shown), uri: uriOf(sp.absPath(shown)), version: -1}
			file.text = sp.server.textOf(file.path)
			sp.server.publishDiagnostics(file, sp.toDiagnostics(found, file.text))
		}
	}
}

// severities, as the protocol numbers them.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

// toDiagnostics converts findings to diagnostics of the protocol.
func (sp *space) toDiagnostics(found []typecheck.Finding, text string) []diagnostic {
	all := []diagnostic{}
	for _, f := range found {
		severity := severityWarning
		if f.Class == typecheck.Syntax || f.Class == typecheck.UnknownField || f.Class == lint.TripleBraces {
			severity = severityError
		}
		if f.Class == notPart {
			severity = severityInformation
		}
		d := diagnostic{Range: sp.rangeOf(f, text), Severity: severity, Code: string(f.Class), Source: "jacquard", Message: f.Text}
		if f.Called.File != "" {
			file := sp.absPath(f.Called.File)
			d.Related = []nearby{{location{uriOf(file), spanOfPlace(sp.server.textOf(file), f.Called, 1)}, "called from here"}}
			d.Message += fmt.Sprintf(" (called from %s)", f.Called)
		}
		all = append(all, d)
	}
	return all
}
