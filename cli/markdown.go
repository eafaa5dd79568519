//go:build !operator

package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A markdown is a part of a comment on a pull request. What comes from folders and
// clusters was written by strangers, so it is only in fences and code spans: there it
// is neither HTML nor a link, and mentions nobody. Go's libraries for Markdown parse it,
// or escape a list of characters, which leaves mentions and bare links; test/pipeline
// reads comments with one of them (goldmark).
type markdown struct {
	blocks []markdownBlock
}

// A markdownBlock is a paragraph, a heading or, with a language, a fence.
type markdownBlock struct{ lang, text string }

// mostMarkdown is how many bytes a command writes at most. GitHub refuses a comment
// of more than 65,536 characters, and four commands share one.
const mostMarkdown = 15_000

// widestMarkdown is how many bytes of a line in a fence, or of a code span, are shown.
const widestMarkdown = 1_000

// addText adds text that is Markdown. What strangers wrote may be in it only by inCode.
func (m *markdown) addText(format string, args ...any) {
	m.blocks = append(m.blocks, markdownBlock{"", fmt.Sprintf(format, args...)})
}

// addFence adds a text as it is, unless it is empty. lang is how it is coloured: diff or text.
func (m *markdown) addFence(lang, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		m.blocks = append(m.blocks, markdownBlock{lang, text})
	}
}

// write writes as many lines as there is room for, and says how many it leaves out.
func (m *markdown) write(w io.Writer) error {
	var out strings.Builder
	room := mostMarkdown
	cut := 0
	for _, b := range m.blocks {
		block, left := b.cutTo(room)
		if cut > 0 { // what would come after a gap would not be understood
			block, left = "", b.countLines()
		}
		out.WriteString(block)
		room -= len(block)
		cut += left
	}
	if cut > 0 {
		fmt.Fprintf(&out, "**Cut:** %s left out here. The same command without `-o markdown` prints all.\n\n", linesAre(cut))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func linesAre(n int) string {
	if n == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

// countLines returns how many lines the block has.
func (b markdownBlock) countLines() int { return strings.Count(b.text, "\n") + 1 }

// cutTo returns the block in so many bytes, and how many of its lines are not in it.
func (b markdownBlock) cutTo(room int) (text string, left int) {
	if b.lang == "" {
		if len(b.text)+2 > room {
			return "", b.countLines()
		}
		return b.text + "\n\n", 0
	}
	all := strings.Split(b.text, "\n")
	var shown strings.Builder
	kept := 0
	for _, line := range all {
		line = cutLine(revealText(line)) + "\n"
		// Around it there are two fences, which are as long as what they must outdo.
		if shown.Len()+len(line)+2*(longestRun(shown.String()+line)+4)+len(b.lang) > room {
			break
		}
		shown.WriteString(line)
		kept++
	}
	if kept == 0 {
		return "", len(all)
	}
	ticks := strings.Repeat("`", max(3, longestRun(shown.String())+1))
	return ticks + b.lang + "\n" + shown.String() + ticks + "\n\n", len(all) - kept
}

// inCode is a text as a code span, on one line.
func inCode(text string) string {
	text = cutLine(onOneLine(text))
	if strings.TrimSpace(text) == "" {
		return "(empty)"
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // which belongs to the marks
	}
	return ticks + text + ticks
}

// longestRun is how many backticks stand in a row.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// cutLine cuts a line that is too long, and adds how much is missing.
func cutLine(line string) string {
	if len(line) <= widestMarkdown {
		return line
	}
	end := widestMarkdown
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d more bytes)", line[:end], len(line)-end)
}

// revealText returns a text in which everything is seen. Control characters, and those that turn
// the direction or have no width, are replaced by their code points.
func revealText(text string) string {
	return replaceHidden(text, func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) })
}

// onOneLine returns such a text on one line. Line breaks and tabs are replaced too.
func onOneLine(text string) string { return replaceHidden(text, unicode.IsPrint) }

// replaceHidden puts code points in place of those characters of a text for which as returns false.
func replaceHidden(text string, as func(rune) bool) string {
	var out strings.Builder
	for _, r := range text {
		if as(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "[U+%04X]", r)
		}
	}
	return out.String()
}
