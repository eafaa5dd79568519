package typecheck

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// documents are those that the path has written.
func (w *path) documents(name string) []*Document {
	var all []*Document
	for _, d := range w.sketch.Documents(name) {
		if d.Err != nil {
			w.syntax(d.Err, template.Place{})
			continue
		}
		w.doubles(d.Twice)
		b := &builder{path: w, network: says(d.Root, "kind", "NetworkPolicy"), role: d.Root.Role()}
		for _, kind := range []string{"Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
			b.routes = b.routes || says(d.Root, "kind", kind)
		}
		root := b.node(d.Root, spot{})
		if !d.Root.Map && d.Root.Hole == nil {
			w.said.add(Finding{Class: Syntax, Place: root.Place, Text: "a document is a map of fields, and this is none"})
			continue
		}
		all = append(all, &Document{Place: root.Place, Root: root})
	}
	return all
}

func says(s *template.Shape, key, value string) bool {
	for _, e := range s.Entries {
		if name, ok := literalKey(e.Key); ok && name == key {
			return e.Value.Literal == value
		}
	}
	return false
}

// A builder makes the nodes of a document and checks what may not be absent.
type builder struct {
	*path
	network bool
	// role: no rules at its top are an empty list.
	role bool
	// routes: the document is an Ingress or a route of the Gateway API.
	routes bool
}

// A spot is where a node stands: in a list, or below a key that may not lose
// anything.
type spot struct {
	item  bool
	keeps string
	key   string
	// may: the value itself may be nothing.
	may bool
}

func (b *builder) node(s *template.Shape, at spot) *Node {
	n := &Node{Place: s.Place()}
	switch {
	case s.Empty:
		b.empty(n, at)
		n.Value = &Value{Known: true, MaxLen: -1}
	case s.Hole != nil:
		n.Value = b.whole(s, at)
	case s.Parts != nil:
		for i, p := range s.Parts {
			n.Text = append(n.Text, b.part(s, i, p))
		}
	case s.List:
		b.listing(n, s, at)
	case s.Map:
		b.mapping(n, s, at)
	default:
		n.Value = constant(s.Literal).shown()
	}
	return n
}

// empty checks a place where nothing is written.
func (b *builder) empty(n *Node, at spot) {
	switch {
	case at.item:
		b.said.add(Finding{Class: Nil, Place: n.Place,
			Text: "an item of a list is nil on one path through this template: leave the whole item out with `if`"})
	case at.keeps != "" && !at.may:
		b.said.add(Finding{Class: Nil, Place: n.Place,
			Text: fmt.Sprintf("%s is nil on one path through this template, and %s: "+
				"give it a value, or leave it out with `if` around the whole key", at.key, b.reason(at))})
	}
}

// reason says why nothing may be absent below a key.
func (b *builder) reason(at spot) string {
	switch {
	case at.keeps == "rules" && b.routes:
		return "rules with less in them match more requests, so a render refuses this"
	case at.key == at.keeps:
		return fmt.Sprintf("an absent %s would select or allow more", at.keeps)
	}
	return fmt.Sprintf("without it %s would select or allow more", at.keeps)
}

func (b *builder) whole(s *template.Shape, at spot) *Value {
	h, ok := s.Hole.(*printed)
	if !ok {
		return constant(s.Hole).shown()
	}
	if !h.v.absent() {
		if at.item || at.keeps != "" {
			b.mask(h.node, h.v)
		}
		return h.v.shown()
	}
	place := b.sketch.Place(h.tree, h.node)
	switch {
	case at.item && !s.Gives():
		b.says(Nil, h, place, b.mayBeAbsent(h, "an item of a list cannot be nil: leave the item out with `if`"))
	case at.keeps != "" && !at.may:
		b.says(Nil, h, place, b.mayBeAbsent(h, b.reason(at)+": give it a default, or leave it out with `if` around the whole key"))
	}
	return h.v.shown()
}

func (b *builder) part(s *template.Shape, i int, p any) *Value {
	h, ok := p.(*printed)
	if !ok {
		return constant(p).shown()
	}
	b.inText(h, s.PartPlace(i))
	return h.v.shown()
}

func (b *builder) listing(n *Node, s *template.Shape, at spot) {
	n.Items = []*Node{}
	for _, i := range s.Items {
		if i.Gives() {
			n.Beside = append(n.Beside, b.whole(i, spot{}))
			continue
		}
		item := b.node(i, spot{item: true, keeps: at.keeps})
		if i.Map && lost(item) {
			b.said.add(Finding{Class: Nil, Place: item.Place,
				Text: "every field of this item may be absent, and an item of a list cannot be nil: leave the item out with `if`"})
		}
		n.Items = append(n.Items, item)
	}
}

// lost reports whether a map may lose all its keys.
func lost(n *Node) bool {
	if len(n.Keys) == 0 || len(n.Beside) > 0 {
		return false
	}
	for _, e := range n.Keys {
		switch v := e.Node; {
		case v.Value != nil && (v.Value.Nil || v.Value.Known && v.Value.Const == nil):
		case v.Keys != nil && lost(v):
		default:
			return false
		}
	}
	return true
}

func (b *builder) mapping(n *Node, s *template.Shape, at spot) {
	n.Keys = []Entry{}
	for _, e := range s.Entries {
		if e.Key == nil {
			n.Beside = append(n.Beside, b.whole(e.Value, spot{}))
			continue
		}
		name, literal := literalKey(e.Key)
		below := spot{keeps: at.keeps, key: name}
		if !literal {
			below.key = "a key"
		}
		if below.keeps == "" && literal && template.Widens(name, b.network) {
			below.keeps = name
			below.may = b.role && name == "rules" && at == spot{}
		}
		key := &Node{Place: e.Key.Place(), Value: constant(name).shown()}
		if !literal {
			key = b.node(e.Key, spot{})
		}
		n.Keys = append(n.Keys, Entry{Key: key, Name: name, Node: b.node(e.Value, below)})
	}
}

// doubles says which keys stand twice, unless that may be on paths which exclude
// each other.
func (w *path) doubles(all []template.Twice) {
	for _, t := range all {
		if t.First == t.Second || !w.straight(t.First, t.Second) {
			continue
		}
		w.said.add(Finding{
			Class: Syntax, Place: t.Second, Length: len([]rune(t.Key)),
			Text: fmt.Sprintf("the key %q stands here and at %s in the same map", t.Key, t.First),
		})
	}
}
