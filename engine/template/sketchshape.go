package template

import "errors"

// A Shape is one node of a sketched document. One of its fields besides the
// place says what it is; of Empty none.
type Shape struct {
	// Empty: nothing is written: `key:` or a literal null.
	Empty bool
	// Literal is a literal scalar.
	Literal any
	// Hole is what is printed here as a whole.
	Hole any
	// Parts are those of a text: literal ones as string, and what is printed.
	Parts []any
	// Entries are those of a map.
	Entries []ShapeEntry
	// Items are those of a list.
	Items []*Shape
	// Map and List say that it is one.
	Map, List bool

	src  *source
	out  *output
	node *node
}

// A ShapeEntry is a key and its value. Without a key the value is a hole that
// gives further entries.
type ShapeEntry struct{ Key, Value *Shape }

// Role says that it is a Role or ClusterRole of which no rules are an empty list.
func (s *Shape) Role() bool { return s.node.isRole() }

// Place is where the node stands in the template.
func (s *Shape) Place() Place {
	if s.node.kind == holeNode {
		return s.out.holes[s.node.hole].at.toPlace()
	}
	return s.out.originOf(s.src, s.node.line, s.node.column).toPlace()
}

// PartPlace is where the i-th part of a text is printed, or the text stands.
func (s *Shape) PartPlace(i int) Place {
	if i < len(s.node.parts) && s.node.parts[i].hole >= 0 {
		return s.out.holes[s.node.parts[i].hole].at.toPlace()
	}
	return s.Place()
}

// Gives says that a hole in a list gives items rather than one.
func (s *Shape) Gives() bool { return s.node.kind == holeNode && s.node.block == 'l' }

// A Twice is a literal key that stands twice in one map.
type Twice struct {
	Key           string
	First, Second Place
}

// A Drawing is one document of a sketch.
type Drawing struct {
	Root  *Shape
	Twice []Twice
	// Err is what is wrong with the YAML, an *Error; Root is nil then.
	Err error
}

// Documents parses what was written for a file: one Drawing for each document
// that is not empty.
func (k *Sketch) Documents(name string) []Drawing {
	var all []Drawing
	file := k.x.set.files[name]
	for part := range k.x.out.splitDocuments() {
		if d := k.drawOutput(file.src, part); d.Err != nil || !d.Root.Empty {
			all = append(all, d)
		}
	}
	return all
}

// Draw parses what include gave.
func (k *Sketch) Draw(p Piece) Drawing {
	f, ok := p.v.(*fragment)
	if !ok {
		return Drawing{Err: errors.New("not included")}
	}
	return k.drawOutput(nil, &output{buf: []byte(f.text), holes: f.holes, marks: f.marks})
}

// drawOutput parses a skeleton.
func (k *Sketch) drawOutput(src *source, out *output) Drawing {
	out = out.settleHoles()
	s := k.shapes[string(out.buf)]
	if s == nil {
		s = &sketched{}
		s.root, s.twice, s.err = parseTolerant(string(out.buf))
		k.shapes[string(out.buf)] = s
	}
	if s.err != nil {
		return Drawing{Err: out.locateError(src, s.err)}
	}
	d := Drawing{Root: shapeOf(src, out, s.root)}
	for _, t := range s.twice {
		place := func(c [2]int) Place { return out.originOf(src, c[0], c[1]).toPlace() }
		d.Twice = append(d.Twice, Twice{t.key, place(t.first), place(t.second)})
	}
	return d
}

func shapeOf(src *source, out *output, n *node) *Shape {
	s := &Shape{src: src, out: out, node: n}
	switch n.kind {
	case emptyNode:
		s.Empty = true
	case constNode:
		s.Literal = n.value
	case holeNode:
		s.Hole = givenValue(out.holes[n.hole].value)
	case textNode:
		for _, p := range n.parts {
			if p.hole < 0 {
				s.Parts = append(s.Parts, p.text)
				continue
			}
			s.Parts = append(s.Parts, givenValue(out.holes[p.hole].value))
		}
	case listNode:
		s.List = true
		for _, item := range n.items {
			s.Items = append(s.Items, shapeOf(src, out, item))
		}
	case mapNode:
		s.Map = true
		for _, e := range n.entries {
			s.Entries = append(s.Entries, entryOf(src, out, e))
		}
	}
	return s
}

func entryOf(src *source, out *output, e entry) ShapeEntry {
	if e.merge {
		hole := *e.key
		hole.kind = holeNode
		return ShapeEntry{Value: shapeOf(src, out, &hole)}
	}
	return ShapeEntry{shapeOf(src, out, e.key), shapeOf(src, out, e.value)}
}
