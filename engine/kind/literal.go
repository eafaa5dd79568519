package kind

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// literalDocuments finds the lines `apiVersion: X` and `kind: Y` at column 0 of
// a file's own text, which say what a folder can create before it ever runs,
// and the annotations of ours on these documents. Both lines must stand in the
// same branch; documents part at --- at column 0.
// open reports whether something is printed where no literal document is: there may
// be others.
func literalDocuments(f folder.File, tree *parse.Tree) (found []*literal, open bool, err error) {
	l := &literals{file: f, text: string(f.Data), source: strings.Split(string(f.Data), "\n")}
	l.list(tree.Root, nil)
	l.takeMarks()
	l.takeNames()
	l.errs = append(l.errs, checkLines(f)...)
	return l.found, slices.ContainsFunc(l.prints, l.isAlone), errors.Join(l.errs...)
}

type literals struct {
	file   folder.File
	text   string
	source []string // lines
	found  []*literal
	// spans are the texts, in order; parts is how many lines of --- there were.
	spans []span
	parts int
	// prints are where actions print.
	prints []span
	errs   []error
}

// A literal is a document and the branch and part of the file that it is in.
type literal struct {
	Document
	span
	at int // byte offset of its place
}

// A span is a text between actions: what branches it is in, and how many lines
// of --- are before it.
type span struct {
	from, to int // byte offsets
	branch   branch
	part     int
}

// A branch is where a text stands: the lists of if, with and range around it,
// outermost first.
type branch []arm

// An arm is one list of a branching action; dot reports whether `.` is another
// one there.
type arm struct {
	list *parse.ListNode
	dot  bool
}

// isPrefixOf reports whether all that is in o is in b too.
func (b branch) isPrefixOf(o branch) bool { return len(b) <= len(o) && slices.Equal(b, o[:len(b)]) }

// changesDot reports whether `.` may be another than the resource.
func (b branch) changesDot() bool { return slices.ContainsFunc(b, func(a arm) bool { return a.dot }) }

// A header is what one branch has said of the current document.
type header struct {
	apiVersion, kind string
	from, at         int // byte offsets of the first and the last of both
	// computed is the key that an action makes the value of, and where.
	computed   string
	computedAt int
	// empty is a key that has no value, which is reported where it stands.
	empty string
}

var computedLine = regexp.MustCompile(`^(apiVersion|kind):[^#\n]*$`)

// emptyLine is a header line without a value, as at the end of a file that was cut off.
var emptyLine = regexp.MustCompile(`^(apiVersion|kind):[ \t]*(?:#.*)?$`)

var headerLine = regexp.MustCompile(`^(apiVersion|kind):[ \t]+["']?([A-Za-z0-9./-]+)["']?[ \t]*(?:#.*)?$`)

// list reads one branch.
func (l *literals) list(list *parse.ListNode, in branch) {
	if list == nil {
		return
	}
	h := header{}
	below := func(list *parse.ListNode, dot bool) {
		l.list(list, append(in[:len(in):len(in)], arm{list, dot}))
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			h = l.readLines(n, h, in)
		case *parse.ActionNode:
			if isPrinting(n) {
				l.prints = append(l.prints, span{branch: in, part: l.parts})
			}
		case *parse.IfNode:
			below(n.List, false)
			below(n.ElseList, false)
		case *parse.WithNode:
			below(n.List, true)
			below(n.ElseList, false)
		case *parse.RangeNode:
			below(n.List, true)
			below(n.ElseList, false)
		}
	}
	l.endHeader(h)
}

// isPrinting reports whether an action prints anything.
func isPrinting(n *parse.ActionNode) bool {
	called, _ := n.Pipe.Cmds[0].Args[0].(*parse.IdentifierNode)
	return len(n.Pipe.Decl) == 0 && (called == nil || called.Ident != "wait" && called.Ident != "fail")
}

// isAlone reports whether a place is in no document that is literal.
func (l *literals) isAlone(at span) bool {
	return !slices.ContainsFunc(l.found, func(d *literal) bool {
		return d.part == at.part && (d.branch.isPrefixOf(at.branch) || at.branch.isPrefixOf(d.branch))
	})
}

// readLines reads the whole lines of a text. What an action continues is not literal.
func (l *literals) readLines(n *parse.TextNode, h header, in branch) header {
	off := int(n.Pos)
	s := span{from: off, to: off, branch: in, part: l.parts}
	for _, line := range strings.SplitAfter(string(n.Text), "\n") {
		start := off
		off += len(line)
		atColumn0 := start == 0 || l.text[start-1] == '\n'
		whole := strings.HasSuffix(line, "\n") || off == len(l.text) || l.trimmedAfter(off)
		if m := computedLine.FindStringSubmatch(line); m != nil && atColumn0 && !whole {
			h.computed, h.computedAt = m[1], start
		}
		line = strings.TrimRight(line, "\n")
		if atColumn0 && whole && strings.HasPrefix(line, "---") {
			l.endHeader(h)
			h = header{}
			l.spans = append(l.spans, s)
			l.parts++
			s = span{from: off, branch: in, part: l.parts}
		} else if m := headerLine.FindStringSubmatch(line); m != nil && atColumn0 && whole {
			h = l.addLine(h, m, start, s)
		} else if m := emptyLine.FindStringSubmatch(line); m != nil && atColumn0 && whole {
			h.empty = m[1]
			l.addError(start, "%s has no value: write it, or remove the line", m[1])
		}
		s.to = off
	}
	l.spans = append(l.spans, s)
	return h
}

// trimmedAfter reports whether the text that ends at off was cut there by a trim
// marker, so that its line ends in the source too.
func (l *literals) trimmedAfter(off int) bool {
	return off < len(l.text) && l.text[off] == '\n'
}

// addLine adds one line to a header: its key and its value.
func (l *literals) addLine(h header, line []string, at int, in span) header {
	if key, value := line[1], line[2]; key == "kind" {
		h.kind = value
	} else {
		h.apiVersion = value
	}
	if h.at = at; h.kind == "" || h.apiVersion == "" {
		h.from = at
	}
	if h.kind == "" || h.apiVersion == "" {
		return h
	}
	gv, err := apischema.ParseGroupVersion(h.apiVersion)
	if err != nil {
		l.addError(at, "%s is no apiVersion: write group/version", h.apiVersion)
	}
	document := Document{
		GroupVersionKind: gv.WithKind(h.kind), Place: l.placeOf(at), Start: l.placeOf(h.from), File: fileStem(l.file),
		Marks: map[string]string{}, Certain: map[string]bool{},
	}
	l.found = append(l.found, &literal{Document: document, span: in, at: at})
	return header{}
}

// endHeader checks a header at the end of a document or of a branch.
func (l *literals) endHeader(h header) {
	for _, missing := range []struct{ key, value, other, otherValue string }{
		{"kind", h.kind, "apiVersion", h.apiVersion}, {"apiVersion", h.apiVersion, "kind", h.kind},
	} {
		switch {
		case missing.value != "" || missing.otherValue == "" || h.empty == missing.key:
		case h.computed == missing.key:
			l.addError(h.computedAt,
				"%s without a literal %s in the same branch: %s may not be computed: write the kinds that there are in branches of `if`",
				missing.other, missing.key, missing.key)
		default:
			l.addError(h.at, "%s without a literal %s in the same branch: write the line `%s: …` at column 0 beside it",
				missing.other, missing.key, missing.key)
		}
	}
}

// placeOf returns the place of an offset.
func (l *literals) placeOf(off int) template.Place {
	before := l.text[:off]
	return template.Place{File: l.file.Shown, Line: strings.Count(before, "\n") + 1, Column: off - strings.LastIndexByte(before, '\n')}
}

// addError records an error at an offset.
func (l *literals) addError(off int, format string, args ...any) {
	l.errs = append(l.errs, &template.Error{Place: l.placeOf(off), Err: fmt.Errorf(format, args...)})
}
