package typecheck

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A printed is a value in a hole, and the action that prints it.
type printed struct {
	v      *val
	node   parse.Node
	tree   *parse.Tree
	called template.Place
	// encoded: it is the text of toYaml, toJson or the like.
	encoded bool
}

// deepCalls bounds how often a define is walked inside itself.
const deepCalls = 3

// walkTemplate walks the define that a template action calls.
func (w *path) walkTemplate(n *parse.TemplateNode) signal {
	w.asking = true
	dot := w.evalPipe(n.Pipe)
	w.asking = false
	if w.ends != "" || w.over {
		return stops
	}
	return w.walkDefine(n, n.Name, dot)
}

// walkDefine walks a define.
func (w *path) walkDefine(n parse.Node, name string, dot *val) signal {
	tree := w.defines[name]
	if tree == nil {
		return goOn
	}
	w.flow.Called[name] = true
	inside := 0
	for f := w.frame; f != nil; f = f.up {
		if f.tree == tree {
			inside++
		}
	}
	if inside >= deepCalls {
		return goOn
	}
	before := w.frame
	w.frame = &frame{
		tree: tree, dot: dot, root: dot, site: n, called: w.placeOf(n), up: before,
		vars: []variable{{name: "$", v: dot}}, loop: w.findLoopVars(tree),
	}
	s := w.list(tree.Root)
	if w.frame.stopped != nil && before.stopped == nil {
		before.stopped = nil
	}
	w.frame = before
	if s == stops {
		return stops
	}
	return goOn
}

// findLoopVars returns the variables that loops of a tree set.
func (w *walker) findLoopVars(tree *parse.Tree) map[string]bool {
	if w.looped[tree] == nil {
		w.looped[tree] = loopVars(tree.Root)
	}
	return w.looped[tree]
}

// evalInclude returns the value of a call of include.
func evalInclude(w *path, fn *parse.IdentifierNode, args []arg) *val {
	name, ok := args[0].constant.(string)
	if !ok {
		for other := range w.defines {
			w.flow.Called[other] = true // any may be meant
		}
		return valueFrom(signature.String, args)
	}
	piece := w.sketch.Inside(func() { w.walkDefine(fn, name, args[1].val) })
	out := ofKinds(signature.String)
	out.piece, out.label, out.longest = &piece, name, 0
	parts := piece.Parts()
	for _, p := range parts {
		text, literal := p.(string)
		if literal && out.longest >= 0 {
			out.longest += len([]rune(text))
		}
		h, hole := p.(*printed)
		if !hole {
			continue
		}
		out.sources = bothSources(out.sources, h.v.deepSources())
		if n := h.v.maxLength(); n < 0 || out.longest < 0 {
			out.longest = -1
		} else {
			out.longest += n
		}
	}
	return out
}

// withPiece returns the value as another piece.
func (a arg) withPiece(p template.Piece) *val {
	out := *a.val
	out.piece = &p
	return &out
}

// evalEncode returns the value of a call that encodes its argument, such as toYaml.
func evalEncode(w *path, fn *parse.IdentifierNode, args []arg) *val {
	a := args[0]
	out := valueFrom(signature.String, args)
	out.sources = markMade(fn, out.sources)
	if a.piece != nil {
		return out
	}
	piece := w.sketch.Encoded(fn.Ident, template.Standin{
		Value: &printed{v: a.val, node: w.argNode(fn, a), tree: w.frame.tree, called: w.frame.called, encoded: true},
		Map:   a.isSurely(signature.Map), List: a.isSurely(signature.List),
		Unsure: !a.isSurely(signature.Map) && !a.isSurely(signature.List) && a.can&(signature.Map|signature.List) != 0,
	})
	out.piece = &piece
	return out
}

// evalDecode reads what an include returns. Anything else is data.
func evalDecode(w *path, fn *parse.IdentifierNode, args []arg) *val {
	a := args[0]
	if a.piece == nil || !a.piece.Included() {
		out := valueFrom(signature.Any, args)
		if fn.Ident == "fromYamlArray" || fn.Ident == "fromJsonArray" {
			out.can = signature.List
		}
		return out
	}
	w.addWork(a.piece.Size() / bytesPerWork)
	d := w.sketch.Draw(*a.piece)
	if d.Err != nil {
		w.reportSyntax(d.Err, w.placeOf(fn))
		return anyValue()
	}
	label := fmt.Sprintf("what include %q gives", a.label)
	out := *w.joinSum(sumKey{fn, w.frame.site}, w.shapeValue(d.Root, label))
	w.counter++
	out.id = fmt.Sprintf("made%d", w.counter)
	return &out
}

// shapeValue returns the value of a shape.
func (w *path) shapeValue(s *template.Shape, label string) *val {
	switch {
	case s.Empty:
		return ofKinds(signature.Nil)
	case s.Hole != nil:
		return unnamedValue(s.Hole)
	case s.Parts != nil:
		out := ofKinds(signature.String)
		for _, p := range s.Parts {
			out.sources = bothSources(out.sources, unnamedValue(p).deepSources())
		}
		return out
	case s.List:
		return w.shapedList(s, label)
	case s.Map:
		return w.shapedMap(s, label)
	}
	out := constantValue(s.Literal)
	out.id = ""
	return out
}

// unnamedValue returns the value of a hole, or of a literal part, without its name.
func unnamedValue(p any) *val {
	h, ok := p.(*printed)
	if !ok {
		return constantValue(p)
	}
	out := *h.v
	out.id, out.parent, out.piece = "", "", nil
	return &out
}

func (w *path) shapedList(s *template.Shape, label string) *val {
	out := ofKinds(signature.List)
	out.elem = ofKinds(0)
	for _, i := range s.Items {
		v := w.shapeValue(i, label+" as an item")
		if i.Gives() {
			v = v.itemValue()
		}
		out.elem = joinValues(out.elem, v.keepKinds(^signature.Nil))
	}
	out.weighValue()
	return out
}

func (w *path) shapedMap(s *template.Shape, label string) *val {
	out := ofKinds(signature.Map)
	out.fields, out.closed, out.label = map[string]*val{}, true, label
	for _, e := range s.Entries {
		switch name, literal := literalKey(e.Key); {
		case e.Key == nil:
			more := unnamedValue(e.Value.Hole).openSchema()
			for name, f := range more.fields {
				out.fields[name] = f
			}
			out.closed = out.closed && more.closed
			out.elem = joinValues(out.elem, more.elem)
		case literal:
			out.fields[name] = w.shapeValue(e.Value, label)
		default:
			out.elem = joinValues(out.elem, w.shapeValue(e.Value, label))
		}
	}
	if len(out.fields) > 0 && !out.isFilled() && out.elem == nil {
		out.can |= signature.Nil // a map that lost all its keys is left out
	}
	out.weighValue()
	return out
}

func literalKey(key *template.Shape) (string, bool) {
	if key == nil {
		return "", false
	}
	name, ok := key.Literal.(string)
	return name, ok
}
