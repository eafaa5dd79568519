package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// pathOf is the file that a URI names; "" if it names none on disk.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	file := u.Path
	if filepath.Separator == '\\' { // file:///c:/x
		file = strings.TrimPrefix(file, "/")
	}
	return filepath.Clean(filepath.FromSlash(file))
}

// uriOf is the URI of a file.
func uriOf(file string) string {
	slashed := filepath.ToSlash(file)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// countUnits returns how many UTF-16 code units a text has.
func countUnits(text string) int {
	n := 0
	for _, r := range text {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// offsetOf is where a position is in a text, in bytes. One behind the end of its line is
// that end, and one within a character the character's begin.
func offsetOf(text string, at position) int {
	start := 0
	for range at.Line {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return len(text)
		}
		start += i + 1
	}
	left := at.Character
	for i, r := range text[start:] {
		if size := countUnits(string(r)); r == '\n' || left < size {
			return start + i
		} else {
			left -= size
		}
	}
	return len(text)
}

// positionOf is the position of a byte in a text.
func positionOf(text string, offset int) position {
	offset = max(0, min(offset, len(text)))
	line := strings.Count(text[:offset], "\n")
	return position{line, countUnits(text[strings.LastIndexByte(text[:offset], '\n')+1 : offset])}
}

// spanOf is the range between two bytes of a text.
func spanOf(text string, from, to int) span {
	return span{positionOf(text, from), positionOf(text, to)}
}

// lineOf is a line of a text, counted from 1, and where it begins.
func lineOf(text string, number int) (line string, start int) {
	for n := 1; ; n++ {
		end := strings.IndexByte(text[start:], '\n')
		if n == number || end < 0 {
			if end < 0 {
				return text[start:], start
			}
			return text[start : start+end], start
		}
		start += end + 1
	}
}

var word = regexp.MustCompile(`^[\w.-]*`)

// spanOfPlace returns the range of a place, which counts characters from 1, in a text. Without a
// length, it is the range of the word there.
func spanOfPlace(text string, at template.Place, length int) span {
	line, start := lineOf(text, max(at.Line, 1))
	from := runeOffset(line, max(at.Column, 1)-1)
	to := from + runeOffset(line[from:], length)
	if length == 0 {
		to = from + len(word.FindString(line[from:]))
	}
	return spanOf(text, start+from, start+to)
}

// runeOffset returns where the n-th character of a text begins, in bytes.
func runeOffset(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// applyChange returns a text after a change of the protocol.
func applyChange(text string, change *span, with string) string {
	if change == nil {
		return with
	}
	from, to := offsetOf(text, change.Start), offsetOf(text, change.End)
	return text[:from] + with + text[max(from, to):]
}

// fenceCode returns a text in a code fence of Markdown.
func fenceCode(language, text string) string { return fmt.Sprintf("```%s\n%s\n```", language, text) }
