package lsp

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// mentions are what the text of a template names, as far as it can be read without parsing.
type mentions struct {
	data    []byte
	calls   []string // partials
	defines []string
	files   []string // files of the folder, without .yaml
	any     bool     // it includes by a computed name
}

// textCache keeps the mentions of texts by how errors call their file.
type textCache map[string]*mentions

var (
	callName   = regexp.MustCompile(`\b(?:include|template|block)\s+["` + "`" + `]([^"` + "`" + `\n]*)["` + "`" + `]`)
	callAny    = regexp.MustCompile(`\binclude\s+[($.]`)
	defineName = regexp.MustCompile(`\{\{-?\s*(?:define|block)\s+["` + "`" + `]([^"` + "`" + `\n]*)["` + "`" + `]`)
	fileName   = regexp.MustCompile(`\b(?:child|children|await|rendered|stable)\s+["` + "`" + `]([^"` + "`" + `\n]*)["` + "`" + `]`)
)

// mentionsOf returns the names that a file mentions, from the cache if its text is the same.
func (t textCache) mentionsOf(f folder.File) *mentions {
	m := t[f.Shown]
	same := m != nil && len(m.data) == len(f.Data) && (len(f.Data) == 0 || &m.data[0] == &f.Data[0] || bytes.Equal(m.data, f.Data))
	if !same {
		m = &mentions{data: f.Data, any: callAny.Match(f.Data)}
		m.calls, m.defines, m.files = firstGroups(callName, f.Data), firstGroups(defineName, f.Data), firstGroups(fileName, f.Data)
		t[f.Shown] = m
	}
	return m
}

// firstGroups returns the first groups of all matches.
func firstGroups(r *regexp.Regexp, text []byte) []string {
	var all []string
	for _, m := range r.FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// templatesOf returns the templates of a folder.
func templatesOf(f *folder.Folder) []folder.File {
	all := slices.Concat(f.Children, f.Partials)
	if f.Status != nil {
		all = append(all, *f.Status)
	}
	return all
}

// reduceFolder returns a folder with some of its templates, what they call, and all files that are
// no templates. It adds a stub for each file that they name. A name that is nowhere adds a stub for
// everything that it could mean.
func (t textCache) reduceFolder(f *folder.Folder, some ...string) *folder.Folder {
	all := templatesOf(f)
	taken := map[string]bool{}
	named, stubs, lost := map[string]bool{}, map[string]bool{}, false
	for todo := some; len(todo) > 0; {
		shown := todo[0]
		todo = todo[1:]
		i := slices.IndexFunc(all, func(f folder.File) bool { return f.Shown == shown })
		if i < 0 || taken[shown] {
			continue
		}
		taken[shown] = true
		m := t.mentionsOf(all[i])
		for _, file := range m.files {
			stubs[file] = true
		}
		for _, name := range m.calls {
			named[name] = true
		}
		for _, other := range all {
			if calls := t.mentionsOf(other); !taken[other.Shown] && (m.any && len(calls.defines) > 0 || haveCommon(calls.defines, m.calls)) {
				todo = append(todo, other.Shown)
			}
		}
	}
	out := &folder.Folder{Name: f.Name, Settings: f.Settings, Config: f.Config, Health: f.Health, Files: f.Files}
	var defines []string
	for _, file := range all {
		if taken[file.Shown] {
			for _, name := range t.mentionsOf(file).defines {
				delete(named, name)
			}
		} else {
			defines = append(defines, t.mentionsOf(file).defines...)
		}
		delete(stubs, strings.TrimSuffix(file.Name, ".yaml"))
	}
	lost = len(named) > 0 || len(stubs) > 0
	t.fillFolder(out, f, taken, lost)
	if lost {
		var text strings.Builder
		for _, name := range slices.Compact(slices.Sorted(slices.Values(defines))) {
			text.WriteString("{{ define \"" + name + "\" }}{{ end }}\n")
		}
		out.Partials = append(out.Partials, folder.File{Name: othersFile, Shown: othersFile, Data: []byte(text.String())})
	}
	return out
}

// othersFile holds empty partials under all names that there are: a misspelt name is
// compared with them.
const othersFile = "_others.tpl"

// fillFolder adds to a folder the templates that are taken, and stubs of others. These are all
// others, or only those that are named.
func (t textCache) fillFolder(out, f *folder.Folder, taken map[string]bool, all bool) {
	wanted := map[string]bool{}
	for _, file := range templatesOf(f) {
		if taken[file.Shown] {
			for _, name := range t.mentionsOf(file).files {
				wanted[name] = true
			}
		}
	}
	for _, file := range f.Children {
		switch {
		case taken[file.Shown]:
			out.Children = append(out.Children, file)
		case all || wanted[strings.TrimSuffix(file.Name, ".yaml")]:
			file.Data = stubOf(file.Data)
			out.Children = append(out.Children, file)
		}
	}
	for _, file := range f.Partials {
		if taken[file.Shown] {
			out.Partials = append(out.Partials, file)
		}
	}
	if f.Status != nil && taken[f.Status.Shown] {
		out.Status = f.Status
	}
}

// haveCommon reports whether two lists have a name in common.
func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// stubOf returns a file that makes the same kinds of children, and nothing else.
func stubOf(data []byte) []byte {
	var text strings.Builder
	for _, gvk := range kindsMadeBy(string(data)) {
		text.WriteString("---\napiVersion: " + gvk.GroupVersion().String() + "\nkind: " + gvk.Kind + "\nmetadata: {name: x}\n")
	}
	return []byte(text.String())
}

// kindsMadeBy returns the kinds of children that a text has at the beginning of lines.
func kindsMadeBy(text string) []apischema.GroupVersionKind {
	var all []apischema.GroupVersionKind
	for _, doc := range newDoc.Split(text, -1) {
		if strings.Contains(doc, api.AnnotationOwnership) {
			continue
		}
		gvk := headOf(doc, len(doc))
		if gvk.Kind != "" && gvk.Version != "" && !slices.Contains(all, gvk) {
			all = append(all, gvk)
		}
	}
	return all
}

// callersOf returns a template of a folder and those that call it, directly or through others.
func (t textCache) callersOf(f *folder.Folder, shown string) []string {
	all := templatesOf(f)
	found := []string{shown}
	for i := 0; i < len(found); i++ {
		at := slices.IndexFunc(all, func(f folder.File) bool { return f.Shown == found[i] })
		if at < 0 {
			continue
		}
		defines := t.mentionsOf(all[at]).defines
		for _, other := range all {
			m := t.mentionsOf(other)
			if !slices.Contains(found, other.Shown) && (haveCommon(m.calls, defines) || m.any && len(defines) > 0) {
				found = append(found, other.Shown)
			}
		}
	}
	return found
}
