package kind

import (
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Name is what is literal of a name: the texts before, between and after what
// actions print. A name that is wholly literal is one text.
type Name []string

// Literal reports whether the name is wholly literal.
func (n Name) Literal() bool { return len(n) == 1 }

// Matches reports whether a name may be printed so.
func (n Name) Matches(name string) bool {
	if n.Literal() {
		return name == n[0]
	}
	last := len(n) - 1
	rest, starts := strings.CutPrefix(name, n[0])
	rest, ends := strings.CutSuffix(rest, n[last])
	for _, part := range n[1:last] {
		var found bool
		_, rest, found = strings.Cut(rest, part)
		ends = ends && found
	}
	return starts && ends
}

// CanMake reports whether a file can make an object of that kind, in that place and
// of that name, for a resource of that namespace; literal: by a document whose
// name is wholly literal. Names are compared as far as they are literal, and where
// a file may make documents that are not, any name is possible.
func (k *Kind) CanMake(file, own string, gk apischema.GroupKind, at types.NamespacedName) (can, literal bool) {
	written := false
	for _, d := range k.Documents {
		if d.GroupKind() != gk {
			continue
		}
		written = true
		if d.File != file || d.Patch() || !k.MayBeIn(d.GroupVersionKind, own, at.Namespace) {
			continue
		}
		can = can || d.Names == nil
		for _, n := range d.Names {
			if n.Matches(at.Name) {
				can, literal = true, literal || n.Literal()
			}
		}
	}
	if open := k.open[file] && slices.ContainsFunc(k.Children, func(c Child) bool {
		return c.GroupKind() == gk && k.MayBeIn(c.GroupVersionKind, own, at.Namespace)
	}); written || open {
		return can || open, literal
	}
	return slices.ContainsFunc(k.Settings.Children, func(r ChildRule) bool {
		return r.GVK().GroupKind() == gk && k.MayBeIn(r.GVK(), own, at.Namespace)
	}), false
}

var documentLine = regexp.MustCompile(`(?m)^(?:apiVersion:|kind:|---)`)

// callsDocuments reports whether a file calls a define that has the lines of a
// document.
func (k *Kind) callsDocuments(file string) bool {
	defines := k.Templates.Defines()
	return slices.ContainsFunc(k.Templates.CallsOf(file), func(name string) bool {
		found := false
		if tree := defines[name]; tree != nil {
			eachText(tree.Root, func(text []byte) { found = found || documentLine.Match(text) })
		}
		return found
	})
}

// eachText visits the texts of a tree.
func eachText(list *parse.ListNode, visit func([]byte)) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			visit(n.Text)
		case *parse.IfNode:
			eachText(n.List, visit)
			eachText(n.ElseList, visit)
		case *parse.WithNode:
			eachText(n.List, visit)
			eachText(n.ElseList, visit)
		case *parse.RangeNode:
			eachText(n.List, visit)
			eachText(n.ElseList, visit)
		}
	}
}

// MayBeIn reports whether objects of a kind may be in a namespace, "" for none, for a
// resource of the namespace own.
func (k *Kind) MayBeIn(gvk apischema.GroupVersionKind, own, namespace string) bool {
	where, _ := k.Placement(gvk)
	return namespace == own || namespace == "" && k.ClusterScoped(gvk) ||
		slices.Contains(where.Listed, namespace) || where.Rendered && namespace != ""
}

// A nameLine is a line that may give a document its name.
type nameLine struct {
	span
	value string
	line  int // index
	// own: the line is of the document's own metadata, not of metadata within it.
	own bool
}

var nameStart = regexp.MustCompile(`^(?:metadata:\s*\{(?:.*,)?\s*|\s+)["']?name["']?:\s*(.*)$`)

// nameLines are the lines that may give a document its name.
func (l *literals) nameLines(d *literal) []nameLine {
	var all []nameLine
	start := 0
	for i, line := range l.source {
		m := nameStart.FindStringSubmatch(line)
		off := start
		start += len(line) + 1
		if m == nil || countIndent(line) > 0 && !underMetadata(l.source, i) {
			continue
		}
		s, ok := l.spanAt(off + strings.Index(line, "name"))
		if !ok || s.part != d.part || !s.branch.isPrefixOf(d.branch) && !d.branch.isPrefixOf(s.branch) {
			continue
		}
		value, own := m[1], true
		if countIndent(line) == 0 {
			value, _, _ = strings.Cut(strings.ReplaceAll(value, "}}", "\x00"), "}")
			value, _, _ = strings.Cut(strings.ReplaceAll(value, "\x00", "}}"), ",")
		} else {
			own = countIndent(l.source[findParent(l.source, i)]) == 0
		}
		all = append(all, nameLine{s, value, i, own})
	}
	return all
}

// takeNames finds what is literal of the documents' names: in lines that are
// printed whenever the document is. Any name is possible where there is none.
func (l *literals) takeNames() {
	for _, d := range l.found {
		for _, line := range l.nameLines(d) {
			if !line.own || !line.branch.isPrefixOf(d.branch) {
				continue
			}
			name := l.nameOf(line)
			if name == nil {
				d.Names = nil
				break
			}
			d.Names = append(d.Names, name)
		}
	}
}

var (
	anAction  = regexp.MustCompile(`\{\{.*?\}\}`)
	aControl  = regexp.MustCompile(`\{\{-?\s*(?:if|with|range|else|end|block|break|continue)\b`)
	aRemark   = regexp.MustCompile(`\s+#.*$`)
	inNames   = regexp.MustCompile(`^[A-Za-z0-9._:-]*$`)
	trimsLine = regexp.MustCompile(`^\s*\{\{-`)
)

// nameOf is what is literal of a name; nil if that cannot be told.
func (l *literals) nameOf(n nameLine) Name {
	value := strings.TrimSpace(aRemark.ReplaceAllString(n.value, ""))
	if len(value) > 1 && strings.ContainsAny(value[:1], `"'`) && value[0] == value[len(value)-1] {
		value = value[1 : len(value)-1]
	}
	if value == "" || aControl.MatchString(value) {
		return nil
	}
	name := Name(anAction.Split(value, -1))
	if slices.ContainsFunc(name, func(part string) bool { return !inNames.MatchString(part) }) {
		return nil
	}
	if n.line+1 < len(l.source) && trimsLine.MatchString(l.source[n.line+1]) {
		name = append(name, "") // it may go on there
	}
	return name
}
