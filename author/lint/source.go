package lint

import (
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// linesByFile returns the lines of a folder's templates, by the name that messages give the file.
func linesByFile(c *catalog.Catalog, name string) map[string][]string {
	all := map[string][]string{}
	f := c.Folder(name)
	if f == nil {
		return all
	}
	files := append(append([]folder.File{}, f.Children...), f.Partials...)
	if f.Status != nil {
		files = append(files, *f.Status)
	}
	for _, file := range files {
		all[file.Shown] = strings.Split(string(file.Data), "\n")
	}
	return all
}

// completeFinding adds to a finding what only the source shows: how much to underline, and whether
// braces are why it does not parse.
func (l *linter) completeFinding(f *typecheck.Finding) {
	if f.Class == typecheck.Syntax && strings.HasPrefix(f.Text, "there is no annotation ") {
		f.Class = InvalidAnnotation
	}
	lines := l.texts[f.Place.File]
	if f.Place.Line < 1 || f.Place.Line > len(lines) {
		return
	}
	line := lines[f.Place.Line-1]
	if f.Class == typecheck.Syntax && strings.Contains(line, "{{{") {
		at := strings.Index(line, "{{{")
		f.Class, f.Length, f.Place.Column = TripleBraces, 3, utf8.RuneCountInString(line[:at])+1
		f.Text = "{{{ is not what a template begins with: write {{ … }}, and for a map within braces { {{ … }} }"
	}
	if f.Length == 0 && f.Place.Column > 0 {
		if runes := []rune(line); f.Place.Column <= len(runes) {
			f.Length = underlineLength(string(runes[f.Place.Column-1:]))
		}
	}
}

// underlineLength returns how many characters of a text to underline: an action, or a key or value.
func underlineLength(text string) int {
	if strings.HasPrefix(text, "{{") {
		if end := strings.Index(text, "}}"); end > 0 {
			return utf8.RuneCountInString(text[:end+2])
		}
	}
	if end := strings.Index(text, ": "); end > 0 {
		text = text[:end]
	}
	if end := strings.Index(text, " #"); end > 0 {
		text = text[:end]
	}
	return utf8.RuneCountInString(strings.TrimRight(text, " :"))
}
