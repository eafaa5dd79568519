package kind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// structural are the annotations that decide what a document is; they cannot
// depend on anything.
var structural = []string{api.AnnotationOwnership, api.AnnotationSubresource, api.AnnotationAdopt}

// A mark is one literal annotation of ours and where it stands.
type mark struct {
	span
	key, value     string
	line           int // index
	keyAt, valueAt int // byte offsets in the line
	wrong          string
}

// takeMarks finds the annotations of ours, gives them to their documents, and
// checks them there.
func (l *literals) takeMarks() {
	taken := make([][]mark, len(l.found))
	for _, m := range l.findMarks() {
		if m.wrong != "" {
			l.failMark(m, m.valueAt, "%s", m.wrong)
			continue
		}
		of := l.documentsOf(m)
		for _, i := range of {
			if l.takeMark(m, l.found[i]) {
				taken[i] = append(taken[i], m)
			}
		}
		if len(of) == 0 && slices.Contains(structural, m.key) {
			l.failMark(m, m.keyAt,
				"%s is about a document whose apiVersion and kind are literal lines at column 0, in the same branch; there are none", m.key)
		}
	}
	for i, d := range l.found {
		l.checkTogether(d, taken[i])
	}
}

// documentsOf finds the documents that an annotation is about: those whose
// branch is around it or within its own, else all of its part of the file.
func (l *literals) documentsOf(m mark) []int {
	var near, all []int
	for i, d := range l.found {
		if m.part != d.part {
			continue
		}
		all = append(all, i)
		if m.branch.isPrefixOf(d.branch) || d.branch.isPrefixOf(m.branch) {
			near = append(near, i)
		}
	}
	if near == nil {
		return all
	}
	return near
}

// takeMark gives an annotation to a document.
func (l *literals) takeMark(m mark, d *literal) bool {
	if err := CheckMark(d.GroupVersionKind, m.key, m.value); err != nil {
		l.failMark(m, m.valueAt, "%w", err)
		return false
	}
	if !m.branch.isPrefixOf(d.branch) && slices.Contains(structural, m.key) {
		l.failMark(m, m.keyAt, "%s must not depend on anything: write it in the same branch as apiVersion and kind", m.key)
	}
	if _, twice := d.Marks[m.key]; !twice {
		d.Marks[m.key] = m.value
	}
	if m.branch.isPrefixOf(d.branch) {
		d.Certain[m.key] = true
	}
	return true
}

// checkTogether checks what the annotations of one document make together.
func (l *literals) checkTogether(d *literal, marks []mark) {
	key, err := CheckMarks(d.GroupVersionKind, d.Marks)
	at := slices.IndexFunc(marks, func(m mark) bool { return m.key == key })
	switch {
	case err != nil && at < 0:
		l.addError(d.at, "%w", err)
	case err != nil:
		l.failMark(marks[at], marks[at].keyAt, "%w", err)
	}
	if at := slices.IndexFunc(marks, func(m mark) bool { return m.key == api.AnnotationAdopt }); at >= 0 && !l.nameIsSafe(d) {
		l.failMark(marks[at], marks[at].keyAt, "%s is only for names that are literal or made of .metadata.name: a name out of the resource's spec could take over anything", api.AnnotationAdopt)
	}
}

func (l *literals) failMark(m mark, off int, format string, args ...any) {
	l.errs = append(l.errs, &template.Error{
		Place: template.Place{File: l.file.Shown, Line: m.line + 1, Column: columnOf(l.source[m.line], off)}, Err: fmt.Errorf(format, args...)})
}

// columnOf returns the column of an offset in a line.
func columnOf(line string, off int) int { return utf8.RuneCountInString(line[:off]) + 1 }

// findMarks finds the lines of the file's own text that are annotations of ours on a document.
func (l *literals) findMarks() []mark {
	var all []mark
	start := 0
	for i, line := range l.source {
		for _, at := range ownKeys(l.source, i) {
			m := mark{key: line[at[0]:at[1]], line: i, keyAt: at[0]}
			s, ok := l.spanAt(start + at[0])
			if !ok && slices.Contains(structural, m.key) && !l.inAction(start+at[0]) {
				l.failMark(m, m.keyAt, partialMark, m.key)
			}
			if !ok || !slices.Contains(api.AuthorAnnotations, m.key) || isLabel(l.source, i, at[0]) {
				continue
			}
			m.span = s
			m.read(line, at[1], inFlow(l.source, i, at[0]))
			if m.wrong == "" && !ofDocument(l.source, i) {
				m.valueAt, m.wrong = m.keyAt, m.key+" does nothing here: it belongs to metadata.annotations of the document"
			}
			all = append(all, m)
		}
		start += len(line) + 1
	}
	return all
}

// spanAt finds the text that holds an offset.
func (l *literals) spanAt(off int) (span, bool) {
	i := slices.IndexFunc(l.spans, func(s span) bool { return s.from <= off && off < s.to })
	if i < 0 {
		return span{}, false
	}
	return l.spans[i], true
}

// inAction reports whether an offset is within an action or a comment.
func (l *literals) inAction(off int) bool {
	open, end := strings.LastIndex(l.text[:off], "{{"), strings.LastIndex(l.text[:off], "}}")
	return open > end
}

// ownKeys are where the keys of ours in a line begin and end; none in comments
// and in texts of block scalars.
func ownKeys(lines []string, i int) [][2]int {
	line := lines[i]
	if !strings.Contains(line, api.Domain+"/") || strings.HasPrefix(strings.TrimSpace(line), "#") || inRaw(lines, i) {
		return nil
	}
	var found [][2]int
	for _, m := range ownKey.FindAllStringSubmatchIndex(line, -1) {
		found = append(found, [2]int{m[2], m[3]})
	}
	return found
}

// inFlow reports whether a key stands within braces, of its line or of the one
// that it stands under.
func inFlow(lines []string, i, keyAt int) bool {
	above := findParent(lines, i)
	return strings.Contains(lines[i][:keyAt], "{") || above >= 0 && strings.HasSuffix(strings.TrimSpace(lines[above]), "{")
}

// flowEnd ends a value within braces.
var flowEnd = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'[^']*'|[^,}"']*)`)

// read reads the value, which follows the key that ends at off; it must be a
// literal text on the same line.
func (m *mark) read(line string, off int, flow bool) {
	off += strings.IndexByte(line[off:], ':') + 1
	off += len(line[off:]) - len(strings.TrimLeft(line[off:], " \t"))
	text := line[off:]
	if flow {
		text = flowEnd.FindString(text)
	}
	m.valueAt = min(off, len(line))
	var doc yaml.Node
	switch {
	case strings.Contains(text, "{{"):
		m.wrong = fmt.Sprintf("%s must be literal: write the values that there are in branches of `if`", m.key)
	case yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.ScalarNode ||
		doc.Content[0].Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		m.wrong = fmt.Sprintf("%s must be a text on one line", m.key)
	case doc.Content[0].Tag != "!!str":
		m.wrong = fmt.Sprintf("%s must be a text: quote it", m.key)
	default:
		m.value = doc.Content[0].Value
	}
}

// ofDocument reports whether a line stands under the document's own metadata, as
// far as that can be seen.
func ofDocument(lines []string, i int) bool {
	top := i
	for at := findParent(lines, i); at >= 0; at = findParent(lines, at) {
		top = at
	}
	key := keyAlone.FindStringSubmatch(lines[top])
	return countIndent(lines[top]) > 0 || key == nil || key[1] == "metadata" || top == i
}

var nameAction = regexp.MustCompile(`\{\{-?\s*(?:(\$?)\.metadata\.name|childName\s+(\$?)\.metadata\.name\s+"[^"]*")\s*-?\}\}`)

// setsRoot finds that $ is made another than the resource.
var setsRoot = regexp.MustCompile(`\$\s*(?::?=|,)`)

// nameIsSafe reports whether the document's name is literal or made of the
// resource's name, as far as its lines show: each that gives it a name does. A
// render decides.
func (l *literals) nameIsSafe(d *literal) bool {
	lines := l.nameLines(d)
	for _, line := range lines {
		for _, m := range nameAction.FindAllStringSubmatch(line.value, -1) {
			if root := m[1]+m[2] != ""; root && setsRoot.MatchString(l.text) || !root && line.branch.changesDot() {
				return false
			}
		}
		if strings.Contains(nameAction.ReplaceAllString(line.value, ""), "{{") {
			return false
		}
	}
	return len(lines) > 0
}

const partialMark = "%s may not stand in a partial: write it in the document itself"

// checkStructural refuses in partials what decides what a document is: it must
// be seen in the document itself.
func checkStructural(f folder.File) []error {
	var errs []error
	lines := strings.Split(string(f.Data), "\n")
	for i, line := range lines {
		for _, at := range ownKeys(lines, i) {
			if key := line[at[0]:at[1]]; slices.Contains(structural, key) {
				place := template.Place{File: f.Shown, Line: i + 1, Column: columnOf(line, at[0])}
				errs = append(errs, &template.Error{Place: place, Err: fmt.Errorf(partialMark, key)})
			}
		}
	}
	return errs
}
