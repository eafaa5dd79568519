package typecheck

import (
	"errors"
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// print prints a value: as structure what include and toYaml give, else as a
// hole.
func (w *path) print(n *parse.ActionNode, v *val) {
	at := printedNode(n.Pipe)
	if !v.exact {
		w.use(at, v, false)
	}
	if v.piece != nil {
		w.broken(n, w.sketch.Print(w.frame.tree, n.Pipe, *v.piece))
		return
	}
	w.broken(n, w.sketch.Print(w.frame.tree, n.Pipe, &printed{v: v, node: at, tree: w.frame.tree, called: w.frame.called}))
}

// printedNode is what a message about a printed value points at.
func printedNode(p *parse.PipeNode) parse.Node {
	last := p.Cmds[len(p.Cmds)-1].Args[0]
	if inner, ok := last.(*parse.PipeNode); ok {
		return printedNode(inner)
	}
	return last
}

// says says what is wrong with a printed value.
func (w *walker) says(class Class, h *printed, place template.Place, text string) {
	w.said.add(Finding{Class: class, Place: place, Length: w.length(h.tree, h.node), Text: text, Called: h.called})
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
	case h.v.surely(signature.List | signature.Map):
		w.says(WrongType, h, at, fmt.Sprintf("%s is %s and cannot be part of a text: print it as a whole value, or use toYaml or toJson",
			w.called(h.node, h.v), h.v.can&^signature.Nil))
	case !h.v.free && h.v.can&(signature.List|signature.Map) != 0:
		w.says(WrongType, h, at, fmt.Sprintf("%s may be %s and cannot be part of a text then: ask with kindIs, or use toYaml or toJson",
			w.called(h.node, h.v), h.v.can&(signature.List|signature.Map)))
	case !h.v.absent():
		w.mask(h.node, h.v)
	default:
		w.says(Nil, h, at, w.mayBeAbsent(h, "nil cannot be part of a text: give it a default, or leave the text out with `if`"))
	}
}

func (w *path) mayBeAbsent(h *printed, what string) string {
	if h.v.nothing() && !h.v.way {
		return fmt.Sprintf("%s is absent, and %s", w.called(h.node, h.v), what)
	}
	return fmt.Sprintf("%s may be absent, and %s", w.called(h.node, h.v), what)
}

// syntax says that what is printed is no YAML.
func (w *path) syntax(err error, called template.Place) {
	if errors.Is(err, template.ErrBudget) {
		return
	}
	for _, one := range flat(err) {
		var placed *template.Error
		if errors.As(one, &placed) {
			w.said.add(Finding{Class: Syntax, Place: placed.Place, Text: placed.Err.Error(), Called: elsewhere(called, placed.Place)})
		}
	}
}

// elsewhere is the call, where the place is in a define.
func elsewhere(called, place template.Place) template.Place {
	if called.File == place.File {
		return template.Place{}
	}
	return called
}

func flat(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
