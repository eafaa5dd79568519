package cli

import (
	"bytes"
	"io"
	"unicode"
)

// stripControls returns a writer that replaces control characters but tabs and line breaks. What a
// cluster holds was written by whoever may write there, and must not control the terminal.
func stripControls(w io.Writer) io.Writer { return shown{w} }

type shown struct{ io.Writer }

// Write writes all, with a mark instead of each control character.
func (s shown) Write(text []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if _, err := s.Writer.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
