package chart

import (
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A document is one YAML document of a template: where it stands, and what its
// lines say literally.
type document struct {
	span
	apiVersion, kind string
	// all are the kinds that its branches say.
	all []apischema.GroupVersionKind
	// hook is the value of helm.sh/hook, and where it stands.
	hook   string
	hookAt int
}

var (
	apiLine  = regexp.MustCompile(`(?m)^apiVersion:[ \t]*(\S[^\n]*?)?[ \t]*$`)
	kindLine = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([A-Za-z]+)["']?[ \t]*(?:#[^\n]*)?$`)
	hookLine = regexp.MustCompile(`(?m)^[ \t]+["']?helm\.sh/hook["']?:[ \t]*["']?([^"'\n]+)["']?`)
	bareText = regexp.MustCompile(`^["']?([A-Za-z0-9./-]+)["']?(?:[ \t]*#.*)?$`)
	partLine = regexp.MustCompile(`(?m)^---[^\n]*\n?`)
)

// groupVersionKind returns the group, version and kind of the document.
func (d *document) groupVersionKind() apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(d.apiVersion, d.kind)
}

// findDocuments returns the documents of a template. A partial has none.
func (s *source) findDocuments() []*document {
	if s.isPartial() {
		return nil
	}
	var all []*document
	from := 0
	for _, part := range append(partLine.FindAllStringIndex(s.text, -1), []int{len(s.text), len(s.text)}) {
		if d := s.readDocument(span{from, part[0]}); d != nil {
			all = append(all, d)
		}
		from = part[1]
	}
	return all
}

// readDocument reads the lines of one document. It returns nil if the document has no kind.
func (s *source) readDocument(at span) *document {
	text := s.textOf(at)
	d := &document{span: at}
	for _, m := range kindLine.FindAllStringSubmatchIndex(text, -1) {
		if !s.isGone(at.from + m[0]) {
			d.kind = text[m[2]:m[3]]
		}
	}
	for _, m := range apiLine.FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 || s.isGone(at.from+m[0]) {
			continue
		}
		if v := bareText.FindStringSubmatch(text[m[2]:m[3]]); v != nil {
			d.apiVersion = v[1]
			d.all = append(d.all, apischema.FromAPIVersionAndKind(v[1], s.kindNear(at, at.from+m[0])))
		}
	}
	for _, m := range hookLine.FindAllStringSubmatchIndex(text, 1) {
		d.hook, d.hookAt = text[m[2]:m[3]], at.from+m[0]
	}
	if d.kind == "" && d.apiVersion == "" {
		return nil
	}
	return d
}

// kindNear is the kind that is said nearest to a line: after it, or else before.
func (s *source) kindNear(in span, off int) string {
	for _, at := range []span{{off, in.to}, {in.from, off}} {
		for _, m := range kindLine.FindAllStringSubmatchIndex(s.textOf(at), -1) {
			if !s.isGone(at.from + m[0]) {
				return s.textOf(span{at.from + m[2], at.from + m[3]})
			}
		}
	}
	return ""
}

func (s *source) documentAt(off int) *document {
	for _, d := range s.findDocuments() {
		if d.from <= off && off < d.to {
			return d
		}
	}
	return nil
}

// isBalanced reports whether no block of the source crosses the bounds of a span.
func (s *source) isBalanced(at span) bool {
	for _, b := range s.blocks {
		for _, a := range b {
			first, inside := at.from <= b[0].from && b[0].from < at.to, at.from <= a.from && a.from < at.to
			if first != inside {
				return false
			}
		}
	}
	return true
}

// shrinkSpan returns a span without the blocks at its ends that reach out of it. That is the
// document itself, within the conditions that decide whether it is there.
func (s *source) shrinkSpan(at span) span {
	for !s.isBalanced(at) {
		first, last := -1, -1
		for i, a := range s.actions {
			if at.from <= a.from && a.to <= at.to && !a.comment {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first < 0 {
			return at
		}
		if s.reachesOut(s.actions[last], at) {
			at.to = s.actions[last].from
			continue
		}
		if !s.reachesOut(s.actions[first], at) {
			return span{at.from, at.from}
		}
		at.from = s.actions[first].to
	}
	return at
}

// reachesOut reports whether an action is part of a block that is not wholly in a
// span.
func (s *source) reachesOut(a action, at span) bool {
	for _, b := range s.blocks {
		for _, one := range b {
			if one.from == a.from {
				return b[0].from < at.from || b[len(b)-1].to > at.to
			}
		}
	}
	return false
}

// leaveOut takes out what is no part of a kind, and adapts what is said of
// documents as a whole.
func (v *conversion) leaveOut() {
	for _, s := range v.sources {
		r := &rewriter{v, s}
		r.leaveFile()
		if s.left {
			continue
		}
		r.foldAll()
	}
	for _, s := range v.sources {
		if r := (&rewriter{v, s}); !s.left {
			r.rewriteLabels()
			for _, d := range s.findDocuments() {
				r.leaveHook(d)
			}
			for _, d := range s.findDocuments() {
				r.rewriteHeader(d)
			}
			for _, d := range s.findDocuments() {
				r.markDocument(d)
			}
			r.deleteOutside()
			r.noteUnsaid()
		}
	}
	v.prefixNames()
	v.leaveParts()
	v.pruneDefines()
}

func (r *rewriter) foldAll() {
	r.foldList(r.tree.Root)
	for _, name := range sortedKeys(r.source.defines) {
		r.foldList(r.source.defines[name].Root)
	}
}

// noteUnsaid notes a file that prints something of which no line says what.
func (r *rewriter) noteUnsaid() {
	if r.isPartial() || r.left || len(r.findDocuments()) > 0 || strings.TrimSpace(r.source.resultText()) == "" {
		return
	}
	prints := slices.IndexFunc(r.actions, func(a action) bool { return !r.isGone(a.from) && !a.comment })
	if prints >= 0 {
		r.source.noteAt(r.actions[prints].from, "objects of computed kinds",
			"list the kinds that there may be under children in kind.yaml; what is not listed is refused")
	}
}

// leaveFile leaves out files that make no children.
func (r *rewriter) leaveFile() {
	switch name := strings.TrimPrefix(r.source.name, "templates/"); {
	case name == "NOTES.txt":
		r.left = true
		r.conversion.addNote(Note{File: r.source.name, What: "the notes for whoever installs the chart",
			Do: "left out: write into status.yaml what users of a resource should see"})
	case strings.HasPrefix(name, "tests/"):
		r.left = true
		r.conversion.addNote(Note{File: r.source.name, What: "a test of helm test", Do: "left out: write golden cases into tests/"})
	case !r.isPartial() && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") && !strings.HasSuffix(name, ".tpl"):
		r.left = true
		r.conversion.addNote(Note{File: r.source.name, What: "a template that is no YAML file",
			Do: "left out: name it .yaml if it makes objects"})
	}
}

// leaveHook leaves out what Helm runs at certain times.
func (r *rewriter) leaveHook(d *document) {
	if d.hook == "" {
		return
	}
	do := "left out: there are no installs and upgrades. " + hookAdvice(d)
	if strings.HasPrefix(d.hook, "test") {
		do = "left out: write golden cases into tests/"
	}
	r.conversion.addNote(Note{File: r.source.name, Line: r.lineAt(d.hookAt),
		What: "the hook " + strings.TrimSpace(d.hook) + " (" + d.kind + ")", Do: do})
	if len(r.findDocuments()) == 1 {
		r.left = true
		return
	}
	at := r.shrinkSpan(d.span)
	if line := r.lineSpan(max(d.from-1, 0)); at == d.span && partLine.MatchString(r.textOf(line)) {
		at.from = line.from
	}
	r.delete(at)
}

// hookAdvice returns what an author may write in place of a hook.
func hookAdvice(d *document) string {
	switch {
	case strings.Contains(d.hook, "delete"):
		return "What must be done before a resource goes needs a child of its own and deletionOrder in kind.yaml"
	case d.kind == "Job":
		return `Write a Job with the annotation jacquard.dev/run-once: "true", which runs once for each content; what must come after it reads it with await`
	}
	return "Write it as a child; what must come after it reads it with await"
}

// deleteOutside takes out text of a partial that is in no define. Nothing prints it.
func (r *rewriter) deleteOutside() {
	if !r.isPartial() {
		return
	}
	at := 0
	for _, a := range r.actions {
		b := r.blocks[a.from]
		if a.word != "define" || b == nil || a.from < at {
			continue
		}
		r.deleteSpan(span{at, a.from})
		at = b[len(b)-1].to
	}
	r.deleteSpan(span{at, len(r.text)})
}

// deleteSpan takes out a span except for its comments and blank lines.
func (r *rewriter) deleteSpan(at span) {
	for _, a := range r.actions {
		if a.comment && at.from <= a.from && a.to <= at.to {
			r.deleteSpan(span{at.from, a.from})
			at.from = a.to
		}
	}
	if strings.TrimSpace(r.textOf(at)) != "" {
		r.replaceSpan(at, "\n")
	}
}
