//go:build !operator

package cli

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFences: whatever a text has, its fence ends where the text does, and all of it
// is there. test/pipeline reads comments with a parser of Markdown.
func TestFences(t *testing.T) {
	parts := []string{"`", "``", "```", "~~~", "\n", "a", " ", "\t", "@b", "<b>", "\u202e", "\r", "\x1b", "é", "\xff"}
	random := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		text.WriteString("end")
		m := &markdown{}
		m.addFence("text", text.String())
		var out strings.Builder
		if err := m.write(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n\n"), "\n")
		ticks, is := strings.CutSuffix(lines[0], "text")
		if !is || strings.Trim(ticks, "`") != "" || len(ticks) < 3 || lines[len(lines)-1] != ticks {
			t.Fatalf("%q: this is no fence:\n%s", text.String(), out.String())
		}
		inside := strings.Join(lines[1:len(lines)-1], "\n")
		if strings.Contains(inside, ticks) {
			t.Fatalf("%q: the fence ends inside:\n%s", text.String(), out.String())
		}
		if inside != revealText(text.String()) || strings.ContainsAny(inside, "\u202e\r\x1b") || !utf8.ValidString(inside) {
			t.Fatalf("%q: the text is another one: %q", text.String(), inside)
		}
	}
}

// TestCodeSpans: a text in a line stays in its code span, and on that line.
func TestCodeSpans(t *testing.T) {
	for text, want := range map[string]string{
		"a":                                 "`a`",
		"":                                  "(empty)",
		" \t ":                              "` [U+0009] `",
		"  ":                                "(empty)",
		"a`b":                               "``a`b``",
		"`a``":                              "``` `a`` ```",
		"a\nb":                              "`a[U+000A]b`",
		"\u202ea\u200b":                     "`[U+202E]a[U+200B]`",
		strings.Repeat("é", widestMarkdown): "`" + strings.Repeat("é", widestMarkdown/2) + fmt.Sprintf("… (%d more bytes)`", widestMarkdown),
	} {
		if got := inCode(text); got != want {
			t.Errorf("%q is %s, wanted is %s", text, got, want)
		}
	}
}

// TestCut: a comment has no more than its share, and says what is not in it.
func TestCut(t *testing.T) {
	m := &markdown{}
	m.addText("### Title")
	m.addFence("text", strings.Repeat("line ```\n", 4000))
	m.addText("after")
	m.addFence("text", "a\nb")
	var out strings.Builder
	if err := m.write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	shown := strings.Count(text, "line ```\n")
	said := fmt.Sprintf("**Cut:** %d lines are left out here.", 4000-shown+3)
	if len(text) > mostMarkdown+200 || shown < 1000 || !strings.Contains(text, said) || strings.Contains(text, "after") {
		t.Errorf("of %d bytes, %d lines are shown; wanted is %q:\n%s", len(text), shown, said, text[len(text)-300:])
	}
	if strings.Count(text, "\n````") != 2 {
		t.Error("the fence is not closed")
	}
}
