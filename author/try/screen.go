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

// printText prints formatted text.
func (s *screen) printText(format string, values ...any) { fmt.Fprintf(s.file, format, values...) }

// printHeading begins a part.
func (s *screen) printHeading(text string) { s.printText("\n%s\n\n", s.styleText("1", text)) }

// styleText puts text in an ANSI style where somebody looks who wants it.
func (s *screen) styleText(code, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// printIndented prints a text two columns to the right.
func (s *screen) printIndented(text string) {
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		s.printText("  %s", line)
	}
}

// printBeside prints two texts side by side. The lines of the first that are in added are red.
func (s *screen) printBeside(left, right string, added map[int]bool) {
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
			a = s.styleText("31", a)
		}
		s.printText("%s\n", strings.TrimRight("  "+a+padding+b, " "))
	}
	s.printText("\n")
}

// alignColumns returns rows of cells as lines with aligned columns.
func alignColumns(rows [][]string) []string {
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
