package kind

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

var (
	ownKey    = regexp.MustCompile(`(?:^|[{,])\s*["']?(` + regexp.QuoteMeta(api.Domain) + `/[^"':\s{},]*)["']?:(?:\s|$)`)
	madeName  = regexp.MustCompile(`^(?:  +generateName:|metadata:\s*\{(?:.*,)?\s*generateName:)`)
	madeValue = regexp.MustCompile(`generateName:\s*`)
	opensRaw  = regexp.MustCompile(`[:\-]\s+[|>][-+1-9]*\s*(?:#.*)?$`)
	keyAlone  = regexp.MustCompile(`^\s*(?:- +)?["']?([\w./-]+)["']?:`)
)

// engineKeys are the labels and annotations of children that only the engine writes.
var engineKeys = []string{
	api.AnnotationOwner, api.AnnotationFile, api.AnnotationDrawn, api.AnnotationDesired, api.AnnotationWrittenBy, api.LabelOwnerUID,
}

// checkLines finds errors in the literal lines of a file that no value can mend:
// annotations of our domain that authors may not write, and generateName.
func checkLines(f folder.File) []error {
	var errs []error
	lines := strings.Split(string(f.Data), "\n")
	for i, line := range lines {
		fail := func(off int, format string, args ...any) {
			column := utf8.RuneCountInString(line[:off]) + 1
			place := template.Place{File: f.Shown, Line: i + 1, Column: column}
			errs = append(errs, &template.Error{Place: place, Err: fmt.Errorf(format, args...)})
		}
		if madeName.MatchString(line) && (line[0] != ' ' || underMetadata(lines, i)) {
			fail(madeValue.FindStringIndex(line)[1], "generateName would make a new object every time: use metadata.name")
		}
		if !strings.Contains(line, api.Domain+"/") || strings.HasPrefix(strings.TrimSpace(line), "#") || inRaw(lines, i) {
			continue
		}
		for _, m := range ownKey.FindAllStringSubmatchIndex(line, -1) {
			if wrong := wrongKey(line[m[2]:m[3]], isLabel(lines, i, m[2])); wrong != "" {
				fail(m[2], "%s", wrong)
			}
		}
	}
	return errs
}

// isLabel reports whether a key stands among labels.
func isLabel(lines []string, i, keyAt int) bool {
	under := keyOfBrace(lines[i][:keyAt])
	if under == "" {
		under = findKeyAbove(lines, i)
	}
	return strings.HasSuffix(strings.ToLower(under), "labels")
}

var (
	inMarks  = regexp.MustCompile(`\{\{.*?\}\}|"(?:[^"\\]|\\.)*"|'[^']*'`)
	beforeIt = regexp.MustCompile(`([\w./-]+)["']?:\s*$`)
)

// keyOfBrace returns the key of the innermost brace that is open at the end of a
// text, or "".
func keyOfBrace(text string) string {
	bare := inMarks.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
	var open []int
	for i, c := range []byte(bare) {
		switch {
		case c == '{':
			open = append(open, i)
		case c == '}' && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return ""
	}
	if m := beforeIt.FindStringSubmatch(text[:open[len(open)-1]]); m != nil {
		return m[1]
	}
	return ""
}

// wrongKey returns why an author may not write a key of our domain, or "".
func wrongKey(key string, label bool) string {
	for _, known := range api.AuthorAnnotations {
		if key == known && !label {
			return ""
		}
	}
	noun := "annotation"
	if label {
		noun = "label"
	}
	for _, known := range engineKeys {
		if key == known {
			return "the " + noun + " " + key + " is written by the engine"
		}
	}
	text := "there is no " + noun + " " + key
	if now := api.RenamedAnnotations[key]; now != "" && !label {
		return text + ": it is called " + now + " now"
	}
	for _, known := range api.AuthorAnnotations {
		if !label && schema.Suggest(path.Base(key), []string{path.Base(known)}) != "" {
			return text + "; did you mean " + known + "?"
		}
	}
	return text
}

// findParent returns the index of the line that line i is nested in, or -1.
func findParent(lines []string, i int) int {
	for j := i - 1; j >= 0; j-- {
		bare := strings.TrimSpace(lines[j])
		if strings.HasPrefix(lines[j], "---") {
			return -1
		}
		if bare != "" && !strings.HasPrefix(bare, "#") && !strings.HasPrefix(bare, "{{") && countIndent(lines[j]) < countIndent(lines[i]) {
			return j
		}
	}
	return -1
}

// findKeyAbove returns the key that line i is nested in, or "".
func findKeyAbove(lines []string, i int) string {
	if i = findParent(lines, i); i >= 0 {
		if m := keyAlone.FindStringSubmatch(lines[i]); m != nil {
			return m[1]
		}
	}
	return ""
}

// underMetadata reports whether a line is a field of the object's own metadata.
func underMetadata(lines []string, i int) bool {
	at := findParent(lines, i)
	return at >= 0 && strings.HasPrefix(lines[at], "metadata:")
}

// inRaw reports whether a line is text of a block scalar.
func inRaw(lines []string, i int) bool {
	for i = findParent(lines, i); i >= 0; i = findParent(lines, i) {
		if opensRaw.MatchString(lines[i]) {
			return true
		}
	}
	return false
}

// countIndent returns the number of blanks at the start of a line.
func countIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
