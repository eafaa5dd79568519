package template

import (
	"strings"
)

// The holes: one private-use character each, in the order of their values.
const (
	holeValue = "\uE000" // a value
	holeMap   = "\uE001" // the entries of a map; followed by ": 0"
	holeList  = "\uE002" // the items of a list; preceded by "- "
	holeSize  = len(holeValue)
)

func isHole(r rune) bool { return r >= 0xE000 && r <= 0xE002 }

// holeTail and holeLead are the text that makes a hole valid YAML in its place.
func holeTail(h string) string {
	if h == holeMap {
		return ": 0"
	}
	return ""
}

func holeLead(h string) string {
	if h == holeList {
		return "- "
	}
	return ""
}

// A hole is a value and the action that printed it.
type hole struct {
	value any
	at    pos
}

// A mark says which position of a template the text from off on comes from.
type mark struct {
	off int
	at  pos
	// whole: all of the text comes from that one position (an action), rather
	// than character by character.
	whole bool
}

// An output is a skeleton that is being written.
type output struct {
	buf   []byte
	holes []hole
	marks []mark
}

// linePrefix is what stands on the current line so far.
func (o *output) linePrefix() string {
	for i := len(o.buf) - 1; i >= 0; i-- {
		if o.buf[i] == '\n' {
			return string(o.buf[i+1:])
		}
	}
	return string(o.buf)
}

// emit writes the author's own text.
func (x *exec) emit(at pos, text string) error {
	x.out.marks = append(x.out.marks, mark{off: len(x.out.buf), at: at})
	return x.write(at, text)
}

func (x *exec) write(at pos, text string) error {
	if x.spent += len(text); x.spent > x.set.limits.Output {
		return at.errorf("the template prints more than %d bytes: %w", x.set.limits.Output, ErrBudget)
	}
	x.out.buf = append(x.out.buf, text...)
	return nil
}

// print prints a value: a hole, unless it is the author's own text.
func (x *exec) print(at pos, v any) error {
	switch p := v.(type) {
	case *fragment:
		return x.splice(at, p)
	case *encoded:
		return x.printEncoded(at, p)
	}
	return x.hole(at, holeValue, v)
}

func (x *exec) hole(at pos, kind string, v any) error {
	x.out.marks = append(x.out.marks, mark{off: len(x.out.buf), at: at, whole: true})
	x.out.holes = append(x.out.holes, hole{v, at})
	return x.write(at, kind)
}

// printEncoded prints toYaml's and toJson's values. YAML alone on its line
// may be further entries beside a map's own or further items of a list.
func (x *exec) printEncoded(at pos, e *encoded) error {
	yaml := strings.Contains(e.form, "Yaml")
	if yaml && e.value == nil {
		return nil
	}
	if e.newline {
		if err := x.write(at, "\n"); err != nil {
			return err
		}
	}
	if e.blanks < 0 && strings.TrimLeft(x.out.linePrefix(), " ") != "" {
		return x.hole(at, holeValue, e)
	}
	if err := x.write(at, strings.Repeat(" ", max(e.blanks, 0))); err != nil {
		return err
	}
	bare := &encoded{value: e.value, form: e.form, blanks: -1}
	if !yaml {
		return x.hole(at, holeValue, bare)
	}
	return x.entries(at, bare)
}

func (x *exec) entries(at pos, e *encoded) error {
	kind := holeValue
	switch e.value.(type) {
	case map[string]any:
		kind = holeMap
	case []any:
		kind = holeList
	}
	if err := x.write(at, holeLead(kind)); err != nil {
		return err
	}
	if err := x.hole(at, kind, e); err != nil {
		return err
	}
	return x.write(at, holeTail(kind))
}

// splice prints a fragment as the author's own text. One of several lines
// that nobody indented goes below its key, or keeps the line's blanks.
func (x *exec) splice(at pos, f *fragment) error {
	prefix := x.out.linePrefix()
	if prefix == "" || f.laid {
		return x.append(at, f)
	}
	f = f.trimmed("\n")
	if !strings.Contains(f.text, "\n") {
		return x.append(at, f)
	}
	bare := strings.TrimLeft(prefix, " -")
	width := len(prefix) - len(bare)
	switch {
	case bare == "":
		f = f.indented("", width)
	case strings.HasSuffix(strings.TrimRight(prefix, " "), ":") && strings.HasSuffix(prefix, " "):
		if err := x.write(at, "\n"); err != nil {
			return err
		}
		f = f.indented(strings.Repeat(" ", width+2), width+2)
	}
	return x.append(at, f)
}

func (x *exec) append(at pos, f *fragment) error {
	base := len(x.out.buf)
	for _, m := range f.marks {
		x.out.marks = append(x.out.marks, mark{m.off + base, m.at, m.whole})
	}
	x.out.holes = append(x.out.holes, f.holes...)
	return x.write(at, f.text)
}

// indented puts first before the first line and n blanks before every other
// line that is not empty.
func (f *fragment) indented(first string, n int) *fragment {
	blanks := strings.Repeat(" ", n)
	out := &fragment{holes: f.holes, laid: f.laid}
	var b strings.Builder
	marks := f.marks
	off := 0
	for i, line := range strings.SplitAfter(f.text, "\n") {
		lead := blanks
		if i == 0 {
			lead = first
		} else if line == "" || line == "\n" {
			lead = ""
		}
		b.WriteString(lead)
		shift := b.Len() - off
		for len(marks) > 0 && marks[0].off < off+len(line) {
			out.marks = append(out.marks, mark{marks[0].off + shift, marks[0].at, marks[0].whole})
			marks = marks[1:]
		}
		if n := len(out.marks); n > 0 && i > 0 && !out.marks[n-1].whole && out.marks[n-1].off < b.Len() {
			last := out.marks[n-1]
			out.marks = append(out.marks, mark{off: b.Len(), at: f.origin(off, last)})
		}
		b.WriteString(line)
		off += len(line)
	}
	out.text = b.String()
	return out
}

// origin is the position that the character at off comes from.
func (f *fragment) origin(off int, fallback mark) pos {
	at, _ := locate(f.marks, off)
	if at.src == nil {
		return fallback.at
	}
	return at
}

// trimmed cuts the characters of cutset off both ends.
func (f *fragment) trimmed(cutset string) *fragment {
	left := len(f.text) - len(strings.TrimLeft(f.text, cutset))
	out := &fragment{text: strings.Trim(f.text, cutset), holes: f.holes, laid: f.laid}
	for _, m := range f.marks {
		shifted := mark{max(m.off-left, 0), m.at, m.whole}
		if !m.whole && m.off < left {
			shifted.at.off += left - m.off
		}
		out.marks = append(out.marks, shifted)
	}
	return out
}

// locate finds the position that the text at off comes from: the last mark at
// or before it.
func locate(marks []mark, off int) (at pos, whole bool) {
	for i := len(marks) - 1; i >= 0; i-- {
		m := marks[i]
		if m.off > off {
			continue
		}
		if !m.whole {
			m.at.off += off - m.off
		}
		return m.at, m.whole
	}
	return pos{}, false
}
