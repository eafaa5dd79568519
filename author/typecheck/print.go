package typecheck

import (
	"errors"
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// printValue prints a value. What include and toYaml return is printed as structure, anything else
// as a hole.
func (w *path) printValue(n *parse.ActionNode, v *val) {
	at := printedNode(n.Pipe)
	if !v.exact {
		w.recordUse(at, v, false)
	}
	if v.piece != nil {
		w.reportBroken(n, w.sketch.Print(w.frame.tree, n.Pipe, *v.piece))
		return
	}
	w.reportBroken(n, w.sketch.Print(w.frame.tree, n.Pipe, &printed{v: v, node: at, tree: w.frame.tree, called: w.frame.called}))
}

// printedNode is what a message about a printed value points at.
func printedNode(p *parse.PipeNode) parse.Node {
	last := p.Cmds[len(p.Cmds)-1].Args[0]
	if inner, ok := last.(*parse.PipeNode); ok {
		return printedNode(inner)
	}
	return last
}

// reportPrinted adds a finding about a printed value.
func (w *walker) reportPrinted(class Class, h *printed, place template.Place, text string) {
	w.said.add(Finding{Class: class, Place: place, Length: w.nodeLength(h.tree, h.node), Text: text, Called: h.called})
}

// inText checks a value that is part of a text.
func (w *path) inText(h *printed, place template.Place) {
	if h.encoded || h.v.can == 0 {
		return
	}
	at := w.sketch.Place(h.tree, h.node)
	if at.File == "" {
		at = place
	}
	switch {
	case h.v.isSurely(signature.List | signature.Map):
		w.reportPrinted(ArgumentType, h, at, fmt.Sprintf("%s is %s and cannot be part of a text: print it as a whole value, or use toYaml or toJson",
			w.describeValue(h.node, h.v), h.v.can&^signature.Nil))
	case !h.v.free && h.v.can&(signature.List|signature.Map) != 0:
		w.reportPrinted(ArgumentType, h, at, fmt.Sprintf("%s may be %s and cannot be part of a text then: ask with kindIs, or use toYaml or toJson",
			w.describeValue(h.node, h.v), h.v.can&(signature.List|signature.Map)))
	case !h.v.canBeAbsent():
		w.recordMask(h.node, h.v)
	default:
		w.reportPrinted(Nil, h, at, w.mayBeAbsent(h, "nil cannot be part of a text: give it a default, or leave the text out with `if`"))
	}
}

func (w *path) mayBeAbsent(h *printed, what string) string {
	if h.v.isAbsent() && !h.v.way {
		return fmt.Sprintf("%s is absent, and %s", w.describeValue(h.node, h.v), what)
	}
	return fmt.Sprintf("%s may be absent, and %s", w.describeValue(h.node, h.v), what)
}

// reportSyntax adds findings that what is printed is no YAML.
func (w *path) reportSyntax(err error, called template.Place) {
	if errors.Is(err, template.ErrBudget) {
		return
	}
	for _, one := range flattenErrors(err) {
		var placed *template.Error
		if errors.As(one, &placed) {
			w.said.add(Finding{Class: Syntax, Place: placed.Place, Text: placed.Err.Error(), Called: callerPlace(called, placed.Place)})
		}
	}
}

// callerPlace returns the place of the call, if the place is in a define of another file.
func callerPlace(called, place template.Place) template.Place {
	if called.File == place.File {
		return template.Place{}
	}
	return called
}

// flattenErrors returns the errors that are joined in an error.
func flattenErrors(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
