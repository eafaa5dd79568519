package template

import (
	"context"
	"strings"
	"text/template/parse"
	"unicode/utf8"
)

// A Sketch is a skeleton written by somebody who follows a template without
// running it. What stands in its holes is whatever was given to Print; it is
// laid out and parsed as in a render.
type Sketch struct {
	x       *exec
	sources map[string]*source
	shapes  map[string]*sketched
}

// A sketched is a skeleton that was parsed.
type sketched struct {
	root  *node
	twice []twice
	err   error
}

// A Standin stands for a value that is not known. Map and List say that it is
// one for certain, which decides how toYaml lays it out; Unsure that it may be
// either, so that the lines beside it decide.
type Standin struct {
	Value             any
	Map, List, Unsure bool
}

// holeKind returns the hole of the value.
func (s Standin) holeKind() string {
	switch {
	case s.Map:
		return holeMap
	case s.List:
		return holeList
	}
	return holeValue
}

// Sketch begins to sketch files of the set. It is for one goroutine.
func (s *Set) Sketch() *Sketch {
	set := *s
	set.shapes = newShapeCache()
	k := &Sketch{
		x:       &exec{ctx: context.Background(), set: &set, out: newOutput(0)},
		sources: map[string]*source{}, shapes: map[string]*sketched{},
	}
	for _, routines := range []map[string]*routine{s.files, s.defines} {
		for _, r := range routines {
			k.sources[r.src.file] = r.src
		}
	}
	return k
}

// Begin forgets what was written.
func (k *Sketch) Begin() { k.x.out, k.x.spent, k.x.made = newOutput(1024), 0, 0 }

// Made is how many bytes were written and made since Begin, about.
func (k *Sketch) Made() int { return k.x.made + len(k.x.out.buf) }

// Place is where a node of a tree stands.
func (k *Sketch) Place(tree *parse.Tree, n parse.Node) Place { return k.posOf(tree, n).toPlace() }

// Length is how many characters a node takes in the source; 0 if that is not
// known.
func (k *Sketch) Length(tree *parse.Tree, n parse.Node) int {
	at, text := k.posOf(tree, n), n.String()
	if at.src == nil || !strings.HasPrefix(at.src.text[min(at.off, len(at.src.text)):], text) {
		return 0
	}
	return utf8.RuneCountInString(text)
}

// posOf returns the position of a node of a tree.
func (k *Sketch) posOf(tree *parse.Tree, n parse.Node) pos {
	return pos{k.sources[tree.ParseName], Offset(n)}
}

// Text writes the author's own text.
func (k *Sketch) Text(tree *parse.Tree, n *parse.TextNode) error {
	return k.x.writeText(k.posOf(tree, n), string(n.Text))
}

// Print prints a value: a Piece as structure, all else as a hole.
func (k *Sketch) Print(tree *parse.Tree, n parse.Node, v any) error {
	if p, ok := v.(Piece); ok {
		return k.x.printValue(k.posOf(tree, n), p.v)
	}
	return k.x.printValue(k.posOf(tree, n), Standin{Value: v})
}

// Inside returns what write writes, as include would give it.
func (k *Sketch) Inside(write func()) Piece {
	before := k.x.out
	k.x.out = newOutput(256)
	write()
	inner := k.x.out
	k.x.out = before
	return Piece{&fragment{text: string(inner.buf), holes: inner.holes, marks: inner.marks}}
}

// Encoded returns what toYaml, toJson and the like (form) give.
func (k *Sketch) Encoded(form string, v Standin) Piece {
	return Piece{&encoded{value: v, form: form, blanks: -1}}
}

// Laid returns a text as indent and nindent take it.
func (k *Sketch) Laid(v Standin) Piece {
	return Piece{&encoded{value: v, form: asText, blanks: -1}}
}

// A Piece is what include, toYaml and the like give: text that may be printed
// as structure.
type Piece struct{ v any }

// Indent is the piece with n blanks before each line, and a line break before
// it if newline.
func (k *Sketch) Indent(p Piece, n int, newline bool) Piece {
	switch v := p.v.(type) {
	case *fragment:
		if laid, err := v.indentLines(k.x, n, newline); err == nil {
			return Piece{laid}
		}
	case *encoded:
		return Piece{&encoded{v.value, v.form, n + max(v.blanks, 0), newline || v.newline, false}}
	}
	return p
}

// Trim is the piece without these characters at both ends.
func (p Piece) Trim(cutset string) Piece {
	if f, ok := p.v.(*fragment); ok {
		return Piece{f.withoutEnds(cutset)}
	}
	return p
}

// With is a piece of toYaml and the like with another value in it.
func (p Piece) With(v any) Piece {
	e, ok := p.v.(*encoded)
	if !ok {
		return p
	}
	other := *e
	stand, _ := e.value.(Standin)
	stand.Value = v
	other.value = stand
	return Piece{&other}
}

// Size is how many bytes of text it is.
func (p Piece) Size() int {
	if f, ok := p.v.(*fragment); ok {
		return len(f.text)
	}
	return 0
}

// Included reports whether the piece is of include.
func (p Piece) Included() bool {
	_, ok := p.v.(*fragment)
	return ok
}

// Parts are the piece's text: pieces of text as string, and what stands in
// its holes.
func (p Piece) Parts() []any {
	f, ok := p.v.(*fragment)
	if !ok {
		return []any{givenValue(p.v)}
	}
	var parts []any
	rest := f.text
	for _, h := range f.holes {
		i := strings.IndexFunc(rest, isHole)
		r := rest[i : i+holeSize]
		if before := strings.TrimSuffix(rest[:i], holeLead(r)); before != "" {
			parts = append(parts, before)
		}
		parts = append(parts, givenValue(h.value))
		rest = strings.TrimPrefix(rest[i+holeSize:], holeTail(r))
	}
	if rest != "" {
		parts = append(parts, rest)
	}
	return parts
}

// givenValue returns what was given to Print or Encoded.
func givenValue(v any) any {
	if e, ok := v.(*encoded); ok {
		v = e.value
	}
	if s, ok := v.(Standin); ok {
		return s.Value
	}
	return v
}
