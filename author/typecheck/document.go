package typecheck

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// buildDocuments returns the documents that the path has written.
func (w *path) buildDocuments(name string) []*Document {
	var all []*Document
	for _, d := range w.sketch.Documents(name) {
		if d.Err != nil {
			w.reportSyntax(d.Err, template.Place{})
			continue
		}
		w.reportDoubleKeys(d.Twice)
		b := &builder{path: w, network: hasField(d.Root, "kind", "NetworkPolicy"), role: d.Root.Role()}
		for _, kind := range []string{"Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
			b.routes = b.routes || hasField(d.Root, "kind", kind)
		}
		root := b.buildNode(d.Root, spot{})
		if !d.Root.Map && d.Root.Hole == nil {
			w.said.add(Finding{Class: Syntax, Place: root.Place, Text: "a document is a map of fields, and this is none"})
			continue
		}
		all = append(all, &Document{Place: root.Place, Root: root})
	}
	return all
}

// hasField reports whether a map has this key with this literal value.
func hasField(s *template.Shape, key, value string) bool {
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

// buildNode returns the node of a shape.
func (b *builder) buildNode(s *template.Shape, at spot) *Node {
	n := &Node{Place: s.Place()}
	switch {
	case s.Empty:
		b.checkEmpty(n, at)
		n.Value = &Value{Known: true, MaxLen: -1}
	case s.Hole != nil:
		n.Value = b.buildValue(s, at)
	case s.Parts != nil:
		for i, p := range s.Parts {
			n.Text = append(n.Text, b.buildPart(s, i, p))
		}
	case s.List:
		b.buildList(n, s, at)
	case s.Map:
		b.buildMap(n, s, at)
	default:
		n.Value = constantValue(s.Literal).exportValue()
	}
	return n
}

// checkEmpty checks a place where nothing is written.
func (b *builder) checkEmpty(n *Node, at spot) {
	switch {
	case at.item:
		b.said.add(Finding{Class: Nil, Place: n.Place,
			Text: "an item of a list is nil on one path through this template: leave the whole item out with `if`"})
	case at.keeps != "" && !at.may:
		b.said.add(Finding{Class: Nil, Place: n.Place,
			Text: fmt.Sprintf("%s is nil on one path through this template, and %s: "+
				"give it a value, or leave it out with `if` around the whole key", at.key, b.absenceReason(at))})
	}
}

// absenceReason returns why nothing may be absent below a key.
func (b *builder) absenceReason(at spot) string {
	switch {
	case at.keeps == "rules" && b.routes:
		return "rules with less in them match more requests, so a render refuses this"
	case at.key == at.keeps:
		return fmt.Sprintf("an absent %s would select or allow more", at.keeps)
	}
	return fmt.Sprintf("without it %s would select or allow more", at.keeps)
}

// buildValue returns the value of a hole that is a whole node, and reports if it may be absent
// where it must not be.
func (b *builder) buildValue(s *template.Shape, at spot) *Value {
	h, ok := s.Hole.(*printed)
	if !ok {
		return constantValue(s.Hole).exportValue()
	}
	if !h.v.canBeAbsent() {
		if at.item || at.keeps != "" {
			b.recordMask(h.node, h.v)
		}
		return h.v.exportValue()
	}
	place := b.sketch.Place(h.tree, h.node)
	switch {
	case at.item && !s.Gives():
		b.reportPrinted(Nil, h, place, b.mayBeAbsent(h, "an item of a list cannot be nil: leave the item out with `if`"))
	case at.keeps != "" && !at.may:
		b.reportPrinted(Nil, h, place, b.mayBeAbsent(h, b.absenceReason(at)+
			": give it a default, or leave it out with `if` around the whole key"))
	}
	return h.v.exportValue()
}

// buildPart returns the value of one part of a text.
func (b *builder) buildPart(s *template.Shape, i int, p any) *Value {
	h, ok := p.(*printed)
	if !ok {
		return constantValue(p).exportValue()
	}
	b.inText(h, s.PartPlace(i))
	return h.v.exportValue()
}

// buildList fills in the items of a node from the shape of a list.
func (b *builder) buildList(n *Node, s *template.Shape, at spot) {
	n.Items = []*Node{}
	for _, i := range s.Items {
		if i.Gives() {
			n.Beside = append(n.Beside, b.buildValue(i, spot{}))
			continue
		}
		item := b.buildNode(i, spot{item: true, keeps: at.keeps})
		if i.Map && mayLoseKeys(item) {
			b.said.add(Finding{Class: Nil, Place: item.Place,
				Text: "every field of this item may be absent, and an item of a list cannot be nil: leave the item out with `if`"})
		}
		n.Items = append(n.Items, item)
	}
}

// mayLoseKeys reports whether a map may lose all its keys.
func mayLoseKeys(n *Node) bool {
	if len(n.Keys) == 0 || len(n.Beside) > 0 {
		return false
	}
	for _, e := range n.Keys {
		switch v := e.Node; {
		case v.Value != nil && (v.Value.Nil || v.Value.Known && v.Value.Const == nil):
		case v.Keys != nil && mayLoseKeys(v):
		default:
			return false
		}
	}
	return true
}

// buildMap fills in the keys of a node from the shape of a map.
func (b *builder) buildMap(n *Node, s *template.Shape, at spot) {
	n.Keys = []Entry{}
	for _, e := range s.Entries {
		if e.Key == nil {
			n.Beside = append(n.Beside, b.buildValue(e.Value, spot{}))
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
		key := &Node{Place: e.Key.Place(), Value: constantValue(name).exportValue()}
		if !literal {
			key = b.buildNode(e.Key, spot{})
		}
		n.Keys = append(n.Keys, Entry{Key: key, Name: name, Node: b.buildNode(e.Value, below)})
	}
}

// reportDoubleKeys adds a finding for each key that stands twice in a map. Keys on paths that
// exclude each other are fine.
func (w *path) reportDoubleKeys(all []template.Twice) {
	for _, t := range all {
		if t.First == t.Second || !w.areOnOnePath(t.First, t.Second) {
			continue
		}
		w.said.add(Finding{
			Class: Syntax, Place: t.Second, Length: len([]rune(t.Key)),
			Text: fmt.Sprintf("the key %q stands here and at %s in the same map", t.Key, t.First),
		})
	}
}
