package kind

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// literalChildren finds the lines `apiVersion: X` and `kind: Y` at column 0 of
// a file's own text, which say what a folder can create before it ever runs.
// Both must stand in the same branch; documents part at --- at column 0.
func literalChildren(f folder.File, tree *parse.Tree) ([]Child, error) {
	l := &literals{file: f, text: string(f.Data)}
	l.list(tree.Root)
	l.errs = append(l.errs, checkLines(f)...)
	return l.found, errors.Join(l.errs...)
}

type literals struct {
	file  folder.File
	text  string
	found []Child
	errs  []error
}

// A header is what one branch has said of the current document.
type header struct {
	apiVersion, kind string
	at               int // byte offset of the later of both
	// computed is the key that an action makes the value of, and where.
	computed   string
	computedAt int
}

var computedLine = regexp.MustCompile(`^(apiVersion|kind):[^#\n]*$`)

var headerLine = regexp.MustCompile(`^(apiVersion|kind):[ \t]+["']?([A-Za-z0-9./-]+)["']?[ \t]*(?:#.*)?$`)

// list reads one branch.
func (l *literals) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	h := header{}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			h = l.lines(n, h)
		case *parse.IfNode:
			l.list(n.List)
			l.list(n.ElseList)
		case *parse.WithNode:
			l.list(n.List)
			l.list(n.ElseList)
		case *parse.RangeNode:
			l.list(n.List)
			l.list(n.ElseList)
		}
	}
	l.end(h)
}

// lines reads the whole lines of a text; what an action continues is not
// literal.
func (l *literals) lines(n *parse.TextNode, h header) header {
	off := int(n.Pos)
	for _, line := range strings.SplitAfter(string(n.Text), "\n") {
		start := off
		off += len(line)
		atColumn0 := start == 0 || l.text[start-1] == '\n'
		whole := strings.HasSuffix(line, "\n") || off == len(l.text) || l.trimmedAfter(off)
		if m := computedLine.FindStringSubmatch(line); m != nil && atColumn0 && !whole {
			h.computed, h.computedAt = m[1], start
		}
		if !atColumn0 || !whole {
			continue
		}
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "---") {
			l.end(h)
			h = header{}
			continue
		}
		if m := headerLine.FindStringSubmatch(line); m != nil {
			h = l.said(h, m[1], m[2], start)
		}
	}
	return h
}

// trimmedAfter says whether the text that ends at off was cut there by a trim
// marker, so that its line ends in the source too.
func (l *literals) trimmedAfter(off int) bool {
	return off < len(l.text) && l.text[off] == '\n'
}

func (l *literals) said(h header, key, value string, at int) header {
	if key == "kind" {
		h.kind = value
	} else {
		h.apiVersion = value
	}
	h.at = at
	if h.kind == "" || h.apiVersion == "" {
		return h
	}
	gv, err := apischema.ParseGroupVersion(h.apiVersion)
	if err != nil {
		l.fail(at, "%s is no apiVersion: write group/version", h.apiVersion)
	}
	l.found = append(l.found, Child{gv.WithKind(h.kind), l.place(at)})
	return header{}
}

// end is the end of a document or of a branch.
func (l *literals) end(h header) {
	for _, missing := range []struct{ key, value, other, otherValue string }{
		{"kind", h.kind, "apiVersion", h.apiVersion}, {"apiVersion", h.apiVersion, "kind", h.kind},
	} {
		switch {
		case missing.value != "" || missing.otherValue == "":
		case h.computed == missing.key:
			l.fail(h.computedAt, "%s without a literal %s in the same branch: %s may not be computed: write the kinds that there are in branches of `if`",
				missing.other, missing.key, missing.key)
		default:
			l.fail(h.at, "%s without a literal %s in the same branch: write the line `%s: …` at column 0 beside it",
				missing.other, missing.key, missing.key)
		}
	}
}

func (l *literals) place(off int) template.Place {
	before := l.text[:off]
	return template.Place{File: l.file.Shown, Line: strings.Count(before, "\n") + 1, Column: off - strings.LastIndexByte(before, '\n')}
}

func (l *literals) fail(off int, format string, args ...any) {
	l.errs = append(l.errs, &template.Error{Place: l.place(off), Err: fmt.Errorf(format, args...)})
}
