package template

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Document is one YAML document that a file rendered, values put in.
type Document struct {
	// Object is the document; the caller owns it.
	Object map[string]any
	// Start is where the document begins in the template.
	Start Place

	out  *output
	root *node
}

var separator = regexp.MustCompile(`(?m)^---(?:[ \t]+.*|[ \t]*|[ \t]*#.*)$`)

// split parts a skeleton at lines of --- at column 0.
func (o *output) split() []*output {
	var docs []*output
	start := 0
	for _, m := range append(separator.FindAllIndex(o.buf, -1), []int{len(o.buf), len(o.buf)}) {
		docs = append(docs, o.cut(start, m[0]))
		start = m[1]
	}
	return docs
}

// cut is the part of the skeleton from one offset to another.
func (o *output) cut(from, to int) *output {
	before := countHoles(o.buf[:from])
	n := countHoles(o.buf[from:to])
	part := &output{buf: o.buf[from:to], holes: o.holes[before : before+n]}
	for _, m := range o.marks {
		if m.off >= to {
			break
		}
		if m.off < from && !m.whole {
			m.at.off += from - m.off
		}
		m.off = max(m.off-from, 0)
		part.marks = append(part.marks, m)
	}
	return part
}

func countHoles(text []byte) int {
	n := 0
	for i := bytes.IndexByte(text, holeValue[0]); i >= 0 && i+holeSize <= len(text); {
		if r, _ := utf8.DecodeRune(text[i:]); isHole(r) {
			n++
		}
		next := bytes.IndexByte(text[i+1:], holeValue[0])
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return n
}

// documents parses the skeletons of a file and puts the values in.
func (s *Set) documents(src *source, out *output) ([]*Document, error) {
	var docs []*Document
	var errs []error
	for _, part := range out.split() {
		d, err := s.document(src, part)
		if err != nil {
			errs = append(errs, err)
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	return docs, errors.Join(errs...)
}

// document is one document, or nil if nothing is in it.
func (s *Set) document(src *source, out *output) (*Document, error) {
	root, err := s.shapes.parse(out.buf)
	if err != nil {
		return nil, out.explain(src, err)
	}
	f := s.filler(src, out)
	f.network = root.isKind("NetworkPolicy")
	v, err := f.fill(root, "")
	if err != nil {
		return nil, err
	}
	if _, gone := v.(absent); gone {
		return nil, nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, f.errorf(root, "the document is %s, not a map of fields", describe(v))
	}
	return &Document{Object: object, Start: f.at(root.line, root.column).place(), out: out, root: root}, nil
}

func (s *Set) filler(src *source, out *output) *filler {
	return &filler{
		holes: out.holes, lim: s.limits.Functions,
		at: func(line, column int) pos { return out.origin(src, line, column) },
	}
}

// value parses one skeleton, of any type, and puts the values in.
func (s *Set) value(at pos, out *output) (any, error) {
	root, err := s.shapes.parse(out.buf)
	if err != nil {
		return nil, out.explain(at.src, err)
	}
	v, err := s.filler(at.src, out).fill(root, "")
	if _, gone := v.(absent); gone {
		return nil, err
	}
	return v, err
}

// explain gives a shape's error its place in the template.
func (o *output) explain(src *source, err error) error {
	var bad *shapeError
	if !errors.As(err, &bad) {
		return err
	}
	at := o.origin(src, bad.line, bad.column)
	if at.src == nil {
		return err
	}
	lines := strings.Split(at.src.text, "\n")
	place := at.place()
	return &Error{Place: place, Quote: strings.TrimSpace(lines[place.Line-1]), Err: bad.err}
}

// origin is the template position of a line and column of the skeleton as it
// was parsed, that is with its holes numbered.
func (o *output) origin(src *source, line, column int) pos {
	text, off := string(o.buf), 0
	for ; line > 1; line-- {
		next := strings.IndexByte(text[off:], '\n')
		if next < 0 {
			break
		}
		off += next + 1
	}
	end := strings.IndexByte(text[off:], '\n')
	if end < 0 {
		end = len(text) - off
	}
	off += columnOffset(text[off:off+end], column, countHoles(o.buf[:off]))
	at, _ := locate(o.marks, off)
	if at.src == nil {
		at.src = src
	}
	return at
}

// columnOffset is the byte offset of a column (from 1) of a line whose holes
// are numbered from first.
func columnOffset(line string, column, first int) int {
	seen := 0
	for off, r := range line {
		if seen >= column-1 {
			return off
		}
		seen++
		if isHole(r) {
			seen += len(itoa(first)) + 1
			first++
		}
	}
	return max(len(line)-1, 0)
}

// isKind says whether the document's literal kind is this.
func (n *node) isKind(kind string) bool {
	for _, e := range n.entries {
		if !e.merge && e.key.value == "kind" {
			return e.value.value == kind
		}
	}
	return false
}
