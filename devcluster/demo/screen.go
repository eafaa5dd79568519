package main

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen writes for people: plain lines, and on a terminal a block that is
// drawn again in place.
type screen struct {
	file     *os.File
	began    time.Time
	terminal bool
	drawn    int // lines of the block, which the cursor is below
}

func newScreen(file *os.File) *screen {
	terminal := term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{file: file, began: time.Now(), terminal: terminal}
}

// Write makes the screen an io.Writer; what it writes stays.
func (s *screen) Write(data []byte) (int, error) { return s.file.Write(data) }

// printHeading prints the heading of a part.
func (s *screen) printHeading(text string) { fmt.Fprintf(s, "\n%s\n\n", s.styleText("1", text)) }

// printStep prints what is done, and after how many seconds.
func (s *screen) printStep(format string, values ...any) {
	fmt.Fprintf(s, "%s  %s\n", s.styleText("2", s.formatElapsed()), fmt.Sprintf(format, values...))
}

// formatElapsed returns how many seconds the demo has run.
func (s *screen) formatElapsed() string { return fmt.Sprintf("%7.1f s", time.Since(s.began).Seconds()) }

// drawBlock replaces the block that it drew before. It is only for terminals.
func (s *screen) drawBlock(lines []string) {
	width, _, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 1 {
		width = 80
	}
	var text strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", s.drawn)
	}
	for _, line := range lines {
		fmt.Fprintf(&text, "\r\x1b[K%s\n", cutLine(line, width-1))
	}
	fmt.Fprint(&text, "\x1b[J")
	s.drawn = len(lines)
	_, _ = s.Write([]byte(text.String())) // a broken terminal is nothing to tell it about
}

// styleText puts text in an ANSI style on terminals that want it.
func (s *screen) styleText(code, text string) string {
	if !s.terminal || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// formatReady returns a mark of one column. It has no style, since lines of a block are cut by
// their number of characters.
func formatReady(ready bool) string {
	if ready {
		return "✓"
	}
	return "·"
}

// cutLine returns at most width characters of a line.
func cutLine(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width-1)]) + "…"
}

// alignColumns aligns rows of cells. The last cell of a row is not padded.
func alignColumns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
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
