//go:build !operator

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A findingPrinter writes findings to stdout and the summary to stderr.
type findingPrinter struct {
	out, trouble io.Writer
	colour       bool
	files        map[string][]string // lines of files that were quoted
}

func newFindingPrinter(out, trouble io.Writer) *findingPrinter {
	return &findingPrinter{out: out, trouble: trouble, colour: isTerminal(out), files: map[string][]string{}}
}

// isTerminal reports whether a person looks, who did not ask for plain text.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printFindings writes what was found in one of the forms.
func (p *findingPrinter) printFindings(form string, l linted) error {
	var text string
	switch form {
	case "json":
		data, err := findingsJSON(l)
		if err != nil {
			return err
		}
		text = data
	case "sarif":
		data, err := findingsSARIF(l)
		if err != nil {
			return fmt.Errorf("printing findings: %w", err)
		}
		text = data
	case "markdown":
		if err := p.formatMarkdown(l).write(p.out); err != nil {
			return fmt.Errorf("printing findings: %w", err)
		}
	case "github":
		for _, f := range l.listFindings() {
			text += githubLine("error", string(f.Class), f)
		}
		for _, f := range l.listUnchecked() {
			text += githubLine("notice", notChecked, f)
		}
	default:
		for _, f := range l.listFindings() {
			text += p.quoteFinding(f)
		}
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		return fmt.Errorf("printing findings: %w", err)
	}
	for _, f := range l.listUnchecked() {
		fmt.Fprintf(p.trouble, "%s: %s: %s\n", f.Place, notChecked, f.Text)
	}
	_, err := fmt.Fprintln(p.trouble, formatSummary(l))
	return err
}

// notChecked is how the forms for people call what no schema knows.
const notChecked = "not checked"

// formatSummary returns how many kinds were checked, and how many findings there are of each sort.
func formatSummary(l linted) string {
	found, with := l.listFindings(), map[string]bool{}
	for _, f := range found {
		if f.kind != "" {
			with[f.kind] = true
		}
	}
	text := formatPlural(l.countKinds(), "kind") + ", no findings"
	if len(found) > 0 {
		text = fmt.Sprintf("%s, %s", formatPlural(l.countKinds(), "kind"), formatPlural(len(found), "finding"))
	}
	if len(with) > 0 {
		text += fmt.Sprintf(" in %d of them", len(with))
	}
	if n := len(l.listSilenced()); n > 0 {
		text += fmt.Sprintf(", %d silenced", n)
	}
	if n := len(l.listUnchecked()); n > 0 {
		text += fmt.Sprintf(", %d %s", n, notChecked)
	}
	tried := 0
	for _, r := range l {
		tried += r.Tried
	}
	if tried > 0 {
		text += fmt.Sprintf(", %s of the cluster tried", formatPlural(tried, "resource"))
	}
	return text
}

// quoteFinding returns a finding with the line that it is about, and a mark below.
func (p *findingPrinter) quoteFinding(f lintFinding) string {
	head := f.Error()
	if f.Place.File == "" { // the text names the file
		head = f.Text
	}
	if p.colour {
		head = strings.Replace(head, f.Text, "\x1b[1m"+f.Text+"\x1b[0m", 1)
	}
	line, ok := p.readLine(f.Place)
	if !ok {
		return head + "\n"
	}
	runes := []rune(line)
	column := min(max(f.Place.Column, 1), len(runes)+1) - 1
	length := f.Length
	if length == 0 {
		length = wordAt(runes[column:])
	}
	runes, column = cutAround(runes, column)
	length = max(1, min(length, len(runes)-column))
	mark := strings.Repeat("^", length)
	if p.colour {
		mark = "\x1b[31m" + mark + "\x1b[0m"
	}
	number := fmt.Sprintf("%5d", f.Place.Line)
	return fmt.Sprintf("%s\n%s | %s\n%s | %s%s %s\n", head, number, string(runes),
		strings.Repeat(" ", len(number)), blankText(runes[:column]), mark, f.Class)
}

// wordAt is the length of the field, name or number that a text begins with.
func wordAt(text []rune) int {
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-$/@", r) {
			return i
		}
	}
	return len(text)
}

// widest is how many characters of a line are quoted.
const widest = 160

// cutAround keeps what surrounds a column of a long line.
func cutAround(line []rune, column int) ([]rune, int) {
	if len(line) <= widest {
		return line, column
	}
	from := min(max(0, column-widest/2), len(line)-widest)
	return line[from : from+widest], column - from
}

// blankText returns blanks that are as wide as the text. Tabs stay tabs.
func blankText(text []rune) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(text))
}

// readLine returns the text of the line at a place, or false if that is in no file.
func (p *findingPrinter) readLine(at template.Place) (string, bool) {
	lines, read := p.files[at.File]
	if !read {
		data, err := os.ReadFile(at.File)
		if err == nil && utf8.Valid(data) {
			lines = strings.Split(string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))), "\n")
		}
		p.files[at.File] = lines
	}
	if at.Line < 1 || at.Line > len(lines) || strings.TrimSpace(lines[at.Line-1]) == "" {
		return "", false
	}
	return lines[at.Line-1], true
}

// The JSON form, which other programs rely on.
type (
	jsonFindings struct {
		Version  int           `json:"version"`
		Findings []jsonFinding `json:"findings"`
		Silenced []jsonFinding `json:"ignored,omitempty"`
		// NotChecked have no class.
		NotChecked []jsonFinding `json:"notChecked,omitempty"`
	}
	jsonFinding struct {
		Kind    string     `json:"kind,omitempty"`
		Class   string     `json:"class,omitempty"`
		Message string     `json:"message"`
		File    string     `json:"file,omitempty"`
		Line    int        `json:"line,omitempty"`
		Column  int        `json:"column,omitempty"`
		Length  int        `json:"length,omitempty"`
		Called  *jsonPlace `json:"calledFrom,omitempty"`
		Reason  string     `json:"reason,omitempty"`
	}
	jsonPlace struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
)

func findingsJSON(l linted) (string, error) {
	all := jsonFindings{
		Version: 1, Findings: append([]jsonFinding{}, inJSON(l.listFindings())...),
		Silenced: inJSON(l.listSilenced()), NotChecked: inJSON(l.listUnchecked()),
	}
	var text strings.Builder
	if err := encodeJSON(&text, all); err != nil {
		return "", fmt.Errorf("printing findings: %w", err)
	}
	return text.String(), nil
}

func inJSON(found []lintFinding) []jsonFinding {
	var all []jsonFinding
	for _, f := range found {
		one := jsonFinding{
			Kind: f.kind, Class: string(f.Class), Message: f.Text,
			File: f.Place.File, Line: f.Place.Line, Column: f.Place.Column, Length: f.Length,
			Reason: f.reason,
		}
		if f.Called.File != "" {
			one.Called = &jsonPlace{f.Called.File, f.Called.Line, f.Called.Column}
		}
		all = append(all, one)
	}
	return all
}

var (
	githubText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// githubLine is a workflow command that annotates a line of a file.
func githubLine(level, title string, f lintFinding) string {
	text := f.Text
	if f.Called.File != "" {
		text += " (called from " + f.Called.String() + ")"
	}
	where := ""
	if f.Place.File != "" {
		where = fmt.Sprintf("file=%s,line=%d,col=%d,endColumn=%d,", githubValue.Replace(f.Place.File),
			f.Place.Line, f.Place.Column, f.Place.Column+max(1, f.Length))
	}
	return fmt.Sprintf("::%s %stitle=jacquard %s::%s\n", level, where, title, githubText.Replace(text))
}
