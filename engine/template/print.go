package template

import (
	"bytes"
	"regexp"
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
	value  any
	at     pos
	sealed bool
}

// An output is a skeleton that is being written.
type output struct {
	buf   []byte
	holes []hole
	marks []mark
	line  int // where the current line begins
	scan  lineScan
	// sealed: some hole is.
	sealed bool
	// passages are there if the execution is traced; start is where a part begins in
	// what they are about.
	passages []passage
	start    int
}

// newOutput makes an output with room for a usual file of this text.
func newOutput(text int) *output {
	size := min(text, 4096)
	return &output{buf: make([]byte, 0, size), holes: make([]hole, 0, 1+size/64), marks: make([]mark, 0, 1+size/32)}
}

// linePrefix is what stands on the current line so far.
func (o *output) linePrefix() []byte { return o.buf[o.line:] }

// writeText writes the author's own text.
func (x *exec) writeText(at pos, text string) error {
	x.recordPassage()
	x.out.marks = append(x.out.marks, mark{off: len(x.out.buf), at: at})
	return x.write(at, text)
}

// write appends to the skeleton. It is an error if it becomes too long.
func (x *exec) write(at pos, text string) error {
	if x.spent += len(text); x.spent > x.set.limits.Output {
		return at.errorAt("the template prints more than %d bytes: %w", x.set.limits.Output, ErrBudget)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		x.out.line = len(x.out.buf) + i + 1
	}
	x.out.buf = append(x.out.buf, text...)
	return nil
}

// printValue prints a value: a hole, unless it is the author's own text.
func (x *exec) printValue(at pos, v any) error {
	x.recordPassage()
	switch p := v.(type) {
	case *fragment:
		return x.printFragment(at, p)
	case *encoded:
		return x.printEncoded(at, p)
	case *carrier:
		before := x.taint
		x.taint = notSealed
		whole, err := x.toText(p)
		if x.taint != notSealed {
			whole = sealValue(whole, sealedText)
		}
		if x.taint = before; err != nil {
			return at.wrapError(err)
		}
		v = whole
	}
	return x.printHole(at, holeValue, v)
}

// printHole prints a hole.
func (x *exec) printHole(at pos, kind string, v any) error {
	x.out.marks = append(x.out.marks, mark{off: len(x.out.buf), at: at, whole: true})
	v, secret := unsealValue(v)
	x.out.holes = append(x.out.holes, hole{v, at, secret})
	x.out.sealed = x.out.sealed || secret
	if err := x.chargeBytes(holeBytes); err != nil {
		return at.wrapError(err)
	}
	return x.write(at, kind)
}

// printEncoded prints toYaml's and toJson's values. YAML alone on its line
// may be further entries beside a map's own or further items of a list.
func (x *exec) printEncoded(at pos, e *encoded) error {
	yaml := strings.Contains(strings.ToLower(e.form), "yaml")
	if yaml && e.value == nil {
		return nil
	}
	if e.newline {
		if err := x.write(at, "\n"); err != nil {
			return err
		}
	}
	if e.blanks < 0 && len(bytes.TrimLeft(x.out.linePrefix(), " ")) > 0 {
		return x.printHole(at, holeValue, e)
	}
	if err := x.write(at, strings.Repeat(" ", max(e.blanks, 0))); err != nil {
		return err
	}
	bare := &encoded{value: e.value, form: e.form, blanks: -1, sealed: e.sealed}
	if !yaml {
		return x.printHole(at, holeValue, bare)
	}
	return x.printEntries(at, bare)
}

// printEntries prints a value of toYaml: the entries of a map, the items of a list, or a scalar.
func (x *exec) printEntries(at pos, e *encoded) error {
	kind := holeValue
	switch v := e.value.(type) {
	case map[string]any:
		kind = holeMap
	case []any:
		kind = holeList
	case Standin:
		kind = v.holeKind()
	}
	if err := x.write(at, holeLead(kind)); err != nil {
		return err
	}
	if err := x.printHole(at, kind, e); err != nil {
		return err
	}
	return x.write(at, holeTail(kind))
}

// printFragment prints a fragment as the author's own text. One of several lines, or of one entry
// or item, that nobody indented goes below its key, or keeps the line's blanks. In a comment it
// stays one. Entries that begin with a line break right behind other text, as {{- include … }}
// stands, begin a line.
func (x *exec) printFragment(at pos, f *fragment) error {
	prefix := x.out.linePrefix()
	if len(prefix) == 0 || f.laid {
		return x.appendFragment(at, f)
	}
	begins := strings.HasPrefix(f.text, "\n") && !bytes.HasSuffix(prefix, []byte(" "))
	whole := f
	f = f.withoutEnds("\n")
	if x.out.inComment() && strings.Contains(f.text, "\n") {
		return nil
	}
	if begins && !x.out.inQuotes() && x.isStructure(f) {
		return x.appendFragment(at, whole)
	}
	if !strings.Contains(f.text, "\n") && !x.belongsBelow(prefix, f) {
		return x.appendFragment(at, f)
	}
	bare := bytes.TrimLeft(prefix, " -")
	width := len(prefix) - len(bare)
	switch {
	case len(bare) == 0:
		return x.appendIndented(at, f, "", width)
	case behindColon(prefix):
		if inFlow(prefix) && strings.IndexByte("{[\"'", f.text[0]) < 0 && !x.out.inBlock() {
			return at.errorAt("an include of several lines cannot stand within { } or [ ]: write the map around it in block style, one key a line")
		}
		if err := x.write(at, "\n"); err != nil {
			return err
		}
		return x.appendIndented(at, f, strings.Repeat(" ", width+2), width+2)
	}
	return x.appendIndented(at, f, "", len(prefix)-len(bytes.TrimLeft(prefix, " ")))
}

// afterKey is a line that has come to the value of a key.
var afterKey = regexp.MustCompile(`^[ -]*(?:"[^"]*"|'[^']*'|[^\s"'{\[#:][^:#"']*): +$`)

// belongsBelow reports whether a fragment of one line is an entry or an item, which
// cannot stand on the line of its key. One that ends in a colon may be the
// beginning of a text, such as of a URL.
func (x *exec) belongsBelow(prefix []byte, f *fragment) bool {
	if !behindColon(prefix) || !afterKey.Match(prefix) || strings.HasPrefix(f.text, "{") || strings.HasPrefix(f.text, "[") ||
		strings.HasSuffix(f.text, ":") {
		return false
	}
	return x.isStructure(f) && !x.out.inBlock()
}

// isStructure reports whether a fragment is entries or items.
func (x *exec) isStructure(f *fragment) bool {
	root, err := x.set.shapes.parse([]byte(f.text))
	return err == nil && (root.kind == mapNode || root.kind == listNode)
}

// behindColon reports whether a line ends in a colon and blanks.
func behindColon(prefix []byte) bool {
	bare := bytes.TrimRight(prefix, " ")
	return len(bare) < len(prefix) && bytes.HasSuffix(bare, []byte(":"))
}

func (x *exec) appendIndented(at pos, f *fragment, first string, n int) error {
	if size := len(f.text) + n*(1+strings.Count(f.text, "\n")); size+x.spent > x.set.limits.Output {
		return at.errorAt("the template prints more than %d bytes: %w", x.set.limits.Output, ErrBudget)
	}
	return x.appendFragment(at, f.withIndent(first, n))
}

// appendFragment appends a fragment as it is.
func (x *exec) appendFragment(at pos, f *fragment) error {
	base := len(x.out.buf)
	for _, m := range f.marks {
		x.out.marks = append(x.out.marks, mark{m.off + base, m.at, m.whole})
	}
	x.out.holes = append(x.out.holes, f.holes...)
	x.out.sealed = x.out.sealed || f.sealed
	if err := x.chargeBytes(holeBytes * len(f.marks)); err != nil {
		return at.wrapError(err)
	}
	return x.write(at, f.text)
}
