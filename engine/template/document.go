package template

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Document is one YAML document that a file rendered, values put in.
type Document struct {
	// Object is the document; the caller owns it.
	Object map[string]any

	out  *output
	root *node
	src  *source
}

const separator = "---"

// nextSeparator is where the next line of --- begins, alone or before a blank;
// -1 if there is none. The text begins at the beginning of a line.
func nextSeparator(text []byte) int {
	for off := 0; ; {
		i := bytes.Index(text[off:], []byte(separator))
		if i < 0 {
			return -1
		}
		start := off + i
		off = start + len(separator)
		begins := start == 0 || text[start-1] == '\n'
		if begins && (off == len(text) || bytes.IndexByte([]byte(" \t\n"), text[off]) >= 0) {
			return start
		}
	}
}

// splitDocuments yields the parts of a skeleton between lines of --- at column 0. What stands after
// the dashes belongs to the part that follows.
func (o *output) splitDocuments() iter.Seq[*output] {
	return func(yield func(*output) bool) {
		holes, marks, start := 0, 0, 0
		for start <= len(o.buf) {
			end, next := len(o.buf), len(o.buf)+1
			if i := nextSeparator(o.buf[start:]); i >= 0 {
				end, next = start+i, start+i+len(separator)
			}
			n := countHoles(o.buf[start:end])
			part := &output{buf: o.buf[start:end], holes: o.holes[holes : holes+n], passages: o.passages, start: start}
			part.marks, marks = o.marksOf(start, end, marks)
			holes += n
			if !yield(part) {
				return
			}
			start = next
		}
	}
}

// marksOf gives the marks of a part, and the first that may matter to the
// next.
func (o *output) marksOf(from, to, first int) ([]mark, int) {
	for first+1 < len(o.marks) && o.marks[first+1].off <= from {
		first++
	}
	if from == 0 && to == len(o.buf) {
		return o.marks, first
	}
	var marks []mark
	last := first
	for i := first; i < len(o.marks) && o.marks[i].off < to; i++ {
		m := o.marks[i]
		marks = append(marks, mark{max(m.off-from, 0), m.originOf(max(m.off, from)), m.whole})
		last = i
	}
	return marks, last
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

// mostErrors is how many documents of one file are looked at after the first
// that is wrong.
const mostErrors = 10

// fillDocuments parses the skeletons of a file and puts the values in.
func (s *Set) fillDocuments(ctx context.Context, file *routine, out *output) ([]*Document, error) {
	src := file.src
	var docs []*Document
	var errs []error
	left := s.newRoom()
	for part := range out.splitDocuments() {
		d, err := s.fillDocument(file, part, left)
		if err == nil {
			err = checkDeadline(ctx, pos{src, 0})
		}
		if err == nil && len(docs) >= s.limits.Documents && d != nil {
			err = pos{src, 0}.errorAt("the file renders more than %d documents: %w", s.limits.Documents, ErrBudget)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if errors.Is(err, ErrBudget) || len(errs) >= mostErrors {
			break
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	return docs, errors.Join(errs...)
}

// fillDocument returns one document, or nil if nothing is in it.
func (s *Set) fillDocument(file *routine, out *output, left *room) (*Document, error) {
	src := file.src
	root, err := s.shapes.parse(out.buf)
	if err != nil {
		return nil, out.locateError(src, err)
	}
	f := newFiller(src, out, left)
	f.network = root.hasField("kind", "NetworkPolicy")
	f.role = root.isRole()
	f.secret = root.hasField("kind", "Secret") && root.hasField("apiVersion", "v1") && isChildFile(file.name)
	v, err := f.fillNode(root, "")
	if err != nil {
		return nil, err
	}
	if _, gone := v.(absent); gone {
		return nil, nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, f.errorAt(root, "the document is %s, not a map of fields", describeType(v))
	}
	return &Document{Object: object, out: out, root: root, src: src}, nil
}

// fillValue parses one skeleton, of any type, and puts the values in.
func (s *Set) fillValue(at pos, out *output) (any, error) {
	root, err := s.shapes.parse(out.buf)
	if err != nil {
		return nil, out.locateError(at.src, err)
	}
	f := newFiller(at.src, out, s.newRoom())
	f.open = true // the caller seals the result
	v, err := f.fillNode(root, "")
	if _, gone := v.(absent); gone {
		return nil, err
	}
	return v, err
}

// locateError gives the error of a shape its place in the template.
func (o *output) locateError(src *source, err error) error {
	var bad *shapeError
	if !errors.As(err, &bad) {
		return err
	}
	at := o.originOf(src, bad.line, bad.column)
	if at.src == nil {
		return err
	}
	lines := strings.Split(at.src.text, "\n")
	place := at.toPlace()
	return &Error{Place: place, Quote: shortenQuote(strings.TrimSpace(lines[place.Line-1])), Err: bad.err}
}

// originOf returns the position in the template of a line and column of the skeleton as it was
// parsed, that is with its holes numbered.
func (o *output) originOf(src *source, line, column int) pos {
	at := locateOffset(o.marks, o.offsetOf(line, column))
	if at.src == nil {
		at.src = src
	}
	return at
}

// offsetOf returns the byte offset of such a line and column.
func (o *output) offsetOf(line, column int) int {
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
	return off + columnOffset(text[off:off+end], column, countHoles(o.buf[:off]))
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
			seen += len(formatInt(first)) + 1
			first++
		}
	}
	return max(len(line)-1, 0)
}

// isRole reports whether the document is a Role or ClusterRole that is not put
// together of others.
func (n *node) isRole() bool {
	aggregated := slices.ContainsFunc(n.entries, func(e entry) bool { return !e.merge && e.key.value == "aggregationRule" })
	isRole := n.hasField("kind", "Role") || n.hasField("kind", "ClusterRole")
	return isRole && n.hasField("apiVersion", "rbac.authorization.k8s.io/v1") && !aggregated
}

// hasField reports whether the document has this field with this value, both literal.
func (n *node) hasField(key, value string) bool {
	for _, e := range n.entries {
		if !e.merge && e.key.value == key {
			return e.value.value == value
		}
	}
	return false
}
