package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// A screen writes for people.
type screen struct {
	file   *os.File
	colour bool
}

func newScreen(file *os.File) *screen {
	info, err := file.Stat()
	person := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	return &screen{file: file, colour: person && os.Getenv("NO_COLOR") == ""}
}

func (s *screen) print(format string, values ...any) { fmt.Fprintf(s.file, format, values...) }

// heading begins a part.
func (s *screen) heading(text string) { s.print("\n%s\n\n", s.style("1", text)) }

// style puts text in an ANSI style where somebody looks who wants it.
func (s *screen) style(code, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// indented prints a text two columns to the right.
func (s *screen) indented(text string) {
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		s.print("  %s", line)
	}
}

// beside prints two texts side by side, the first with those of its lines red
// that added names.
func (s *screen) beside(left, right string, added map[int]bool) {
	const width = 36
	lefts, rights := strings.Split(strings.TrimSpace(left), "\n"), strings.Split(strings.TrimSpace(right), "\n")
	for i := range max(len(lefts), len(rights)) {
		var a, b string
		if i < len(lefts) {
			a = lefts[i]
		}
		if i < len(rights) {
			b = rights[i]
		}
		padding := strings.Repeat(" ", max(1, width-utf8.RuneCountInString(a)))
		if added[i] {
			a = s.style("31", a)
		}
		s.print("%s\n", strings.TrimRight("  "+a+padding+b, " "))
	}
	s.print("\n")
}

// columns aligns rows of cells.
func columns(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2))
		}
		lines[i] = strings.TrimRight(line.String(), " ")
	}
	return lines
}
