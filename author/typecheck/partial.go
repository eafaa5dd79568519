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

func (w *path) template(n *parse.TemplateNode) signal {
	w.asking = true
	dot := w.pipe(n.Pipe)
	w.asking = false
	if w.ends != "" || w.over {
		return stops
	}
	return w.call(n, n.Name, dot)
}

// call walks a define.
func (w *path) call(n parse.Node, name string, dot *val) signal {
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
		tree: tree, dot: dot, root: dot, site: n, called: w.place(n), up: before,
		vars: []variable{{name: "$", v: dot}}, loop: w.loops(tree),
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

func (w *walker) loops(tree *parse.Tree) map[string]bool {
	if w.looped[tree] == nil {
		w.looped[tree] = loopVars(tree.Root)
	}
	return w.looped[tree]
}

func include(w *path, fn *parse.IdentifierNode, args []arg) *val {
	name, ok := args[0].constant.(string)
	if !ok {
		for other := range w.defines {
			w.flow.Called[other] = true // any may be meant
		}
		return from(signature.String, args)
	}
	piece := w.sketch.Inside(func() { w.call(fn, name, args[1].val) })
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
		if n := h.v.length(); n < 0 || out.longest < 0 {
			out.longest = -1
		} else {
			out.longest += n
		}
	}
	return out
}

// pieced is the value as another piece.
func (a arg) pieced(p template.Piece) *val {
	out := *a.val
	out.piece = &p
	return &out
}

func encode(w *path, fn *parse.IdentifierNode, args []arg) *val {
	a := args[0]
	out := from(signature.String, args)
	out.sources = through(fn, out.sources)
	if a.piece != nil {
		return out
	}
	piece := w.sketch.Encoded(fn.Ident, template.Standin{
		Value: &printed{v: a.val, node: w.at(fn, a), tree: w.frame.tree, called: w.frame.called, encoded: true},
		Map:   a.surely(signature.Map), List: a.surely(signature.List),
		Unsure: !a.surely(signature.Map) && !a.surely(signature.List) && a.can&(signature.Map|signature.List) != 0,
	})
	out.piece = &piece
	return out
}

// decode reads what an include gives; anything else is data.
func decode(w *path, fn *parse.IdentifierNode, args []arg) *val {
	a := args[0]
	if a.piece == nil || !a.piece.Included() {
		out := from(signature.Any, args)
		if fn.Ident == "fromYamlArray" || fn.Ident == "fromJsonArray" {
			out.can = signature.List
		}
		return out
	}
	w.work(a.piece.Size() / bytesPerWork)
	d := w.sketch.Draw(*a.piece)
	if d.Err != nil {
		w.syntax(d.Err, w.place(fn))
		return anything()
	}
	label := fmt.Sprintf("what include %q gives", a.label)
	out := *w.sum(sumKey{fn, w.frame.site}, w.shaped(d.Root, label))
	w.counter++
	out.id = fmt.Sprintf("made%d", w.counter)
	return &out
}

// shaped is the value of a shape.
func (w *path) shaped(s *template.Shape, label string) *val {
	switch {
	case s.Empty:
		return ofKinds(signature.Nil)
	case s.Hole != nil:
		return unnamed(s.Hole)
	case s.Parts != nil:
		out := ofKinds(signature.String)
		for _, p := range s.Parts {
			out.sources = bothSources(out.sources, unnamed(p).deepSources())
		}
		return out
	case s.List:
		return w.shapedList(s, label)
	case s.Map:
		return w.shapedMap(s, label)
	}
	out := constant(s.Literal)
	out.id = ""
	return out
}

// unnamed is the value of a hole, or of a literal part.
func unnamed(p any) *val {
	h, ok := p.(*printed)
	if !ok {
		return constant(p)
	}
	out := *h.v
	out.id, out.parent, out.piece = "", "", nil
	return &out
}

func (w *path) shapedList(s *template.Shape, label string) *val {
	out := ofKinds(signature.List)
	out.elem = ofKinds(0)
	for _, i := range s.Items {
		v := w.shaped(i, label+" as an item")
		if i.Gives() {
			v = v.item()
		}
		out.elem = join(out.elem, v.as(^signature.Nil))
	}
	out.weigh()
	return out
}

func (w *path) shapedMap(s *template.Shape, label string) *val {
	out := ofKinds(signature.Map)
	out.fields, out.closed, out.label = map[string]*val{}, true, label
	for _, e := range s.Entries {
		switch name, literal := literalKey(e.Key); {
		case e.Key == nil:
			more := unnamed(e.Value.Hole).opened()
			for name, f := range more.fields {
				out.fields[name] = f
			}
			out.closed = out.closed && more.closed
			out.elem = join(out.elem, more.elem)
		case literal:
			out.fields[name] = w.shaped(e.Value, label)
		default:
			out.elem = join(out.elem, w.shaped(e.Value, label))
		}
	}
	if len(out.fields) > 0 && !out.full() && out.elem == nil {
		out.can |= signature.Nil // a map that lost all its keys is left out
	}
	out.weigh()
	return out
}

func literalKey(key *template.Shape) (string, bool) {
	if key == nil {
		return "", false
	}
	name, ok := key.Literal.(string)
	return name, ok
}
