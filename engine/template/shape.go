package template

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A node is one node of a parsed skeleton: what the author wrote, and where
// the values go. It is immutable.
type node struct {
	kind    kind
	line    int // in the skeleton, from 1
	column  int
	value   any    // of a constant
	hole    int    // of a whole value: the number of the hole
	parts   []part // of a text
	bare    bool   // of a key: one hole and nothing else, not even marks
	block   byte   // of a text: 0, or the chomping of a block scalar: '-', '+' or 'c' (clip)
	entries []entry
	items   []*node
	depth   int
}

type kind int

const (
	constNode kind = iota
	emptyNode      // nothing is written: `key:` or a literal null
	holeNode
	textNode
	mapNode
	listNode
)

// A part is a piece of a text: literal, or a hole.
type part struct {
	text string
	hole int // -1: literal
	lead string
}

// An entry is one entry of a map, or (merge) a hole whose map gives entries.
type entry struct {
	key   *node
	value *node
	merge bool
}

// A shapeError is what is wrong with a skeleton, and where in it.
type shapeError struct {
	line, column int
	err          error
}

func (e *shapeError) Error() string { return e.err.Error() }

// numberHoles gives every hole its number, so that it is known wherever YAML puts it: the hole's
// character, decimal digits, and closeHole.
func numberHoles(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		b.WriteRune(r)
		if isHole(r) {
			b.WriteString(strconv.Itoa(n))
			b.WriteString(closeHole)
			n++
		}
	}
	return b.String()
}

const closeHole = "\uE003"

var (
	anyHole     = regexp.MustCompile(`(?:- )?[\x{E000}-\x{E002}](\d+)\x{E003}(?:: 0)?`)
	wholeHole   = regexp.MustCompile(`^([\x{E000}-\x{E002}])(\d+)\x{E003}$`)
	yamlMessage = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
)

// parseShape parses a skeleton. Its errors are *shapeError.
func parseShape(text string) (*node, error) {
	root, doubles, err := parseTolerant(text)
	if err == nil && len(doubles) > 0 {
		first := doubles[0]
		err = &shapeError{first.second[0], first.second[1],
			fmt.Errorf("the key %q stands here and on line %d of the same map", first.key, first.first[0])}
	}
	if err != nil {
		return nil, err
	}
	return root, nil
}

// A twice is a literal key that stands twice in one map: the lines and columns.
type twice struct {
	key           string
	first, second [2]int
}

// parseTolerant is parseShape that only tells of keys that stand twice.
func parseTolerant(text string) (*node, []twice, error) {
	text = numberHoles(text)
	if line := findDirective(text); line > 0 {
		return nil, nil, &shapeError{line, 1, errors.New("YAML directives are not allowed")}
	}
	if raw := []byte(text); mostNodes(raw)+countHoles(raw) > widestShape {
		return nil, nil, &shapeError{1, 1, fmt.Errorf("the document has too many parts: %w", ErrBudget)}
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, yamlError(text, err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, nil, &shapeError{more.Line, max(more.Column, 1),
			errors.New("a second document: part documents with a line --- at column 0 of a file")}
	} else if !errors.Is(err, io.EOF) {
		return nil, nil, yamlError(text, err)
	}
	if len(doc.Content) == 0 {
		return &node{kind: emptyNode, line: 1, column: 1}, nil, nil
	}
	p := &shaper{lines: strings.Split(text, "\n"), escapes: escapedHole.MatchString(text)}
	root, err := p.shapeNode(doc.Content[0], 1)
	return root, p.twice, err
}

// widestShape bounds how many parts a document may have before values are put
// in: the parser takes some 300 bytes for each.
const widestShape = 100_000

// findDirective finds a line that starts with %, which YAML takes for one.
func findDirective(text string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "%") {
			return i + 1
		}
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			return 0
		}
	}
	return 0
}

// A shaper turns YAML's nodes into ours.
type shaper struct {
	lines []string
	// escapes: somewhere an escape may stand for a hole.
	escapes bool
	twice   []twice
	parted  []rune // the line apart, as runes
	apart   int
}

// deepest bounds how deep a document may be nested.
const deepest = 100

// errorAt returns an error at a node of YAML.
func (p *shaper) errorAt(n *yaml.Node, format string, args ...any) error {
	return &shapeError{n.Line, n.Column, fmt.Errorf(format, args...)}
}

// shapeNode turns a node of YAML into ours.
func (p *shaper) shapeNode(n *yaml.Node, depth int) (*node, error) {
	if depth > deepest {
		return nil, p.errorAt(n, "the document is nested more than %d deep", deepest)
	}
	if err := p.checkAllowed(n); err != nil {
		return nil, err
	}
	out := &node{line: n.Line, column: n.Column, depth: depth}
	switch n.Kind {
	case yaml.MappingNode:
		return out, p.shapeMap(out, n)
	case yaml.SequenceNode:
		out.kind = listNode
		for _, item := range n.Content {
			child, err := p.shapeNode(item, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, child)
		}
		return out, nil
	case yaml.ScalarNode:
		return out, p.shapeScalar(out, n)
	}
	return nil, p.errorAt(n, "this YAML is not allowed here")
}

// checkAllowed refuses aliases, anchors, tags and escapes of holes.
func (p *shaper) checkAllowed(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		return p.errorAt(n, "YAML aliases are not allowed: write the value, or use a variable")
	}
	isSuspect := p.escapes && n.Style&yaml.DoubleQuotedStyle != 0 && strings.ContainsFunc(n.Value, privateUse)
	if isSuspect && escapedHole.MatchString(p.quotedSource(n)) {
		return p.errorAt(n, "an escape stands for a private-use character (U+E000 to U+E003): print it as a value")
	}
	if n.Anchor != "" {
		return p.errorAt(n, "YAML anchors are not allowed: use a variable")
	}
	if n.Style&yaml.TaggedStyle != 0 || p.beginsWith(n, '!') {
		return p.errorAt(n, "YAML tags are not allowed: quote a text, write a number plainly")
	}
	return nil
}

// beginsWith reports whether a node's source begins with a character. The parser forgets a tag of
// nothing but !.
func (p *shaper) beginsWith(n *yaml.Node, with rune) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	line := p.runesOf(n.Line)
	return n.Column <= len(line) && line[n.Column-1] == with
}

// runesOf returns the characters of a line, from 1, or none if there is no such line. A line of
// many nodes is taken apart once.
func (p *shaper) runesOf(line int) []rune {
	if line > len(p.lines) {
		return nil
	}
	if p.apart != line {
		p.apart, p.parted = line, []rune(p.lines[line-1])
	}
	return p.parted
}

var escapedHole = regexp.MustCompile(`\\(?:u[eE]00|U0000[eE]00)[0-3]`)

// quotedSource returns the source of a scalar in double quotes.
func (p *shaper) quotedSource(n *yaml.Node) string {
	var b strings.Builder
	for line, from := n.Line, n.Column; line <= len(p.lines); line, from = line+1, 0 {
		text := p.runesOf(line)
		for i := min(from, len(text)); i < len(text); i++ {
			switch text[i] {
			case '\\':
				if b.WriteRune('\\'); i+1 < len(text) {
					i++
				}
			case '"':
				return b.String()
			}
			b.WriteRune(text[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shapeMap turns a map of YAML into ours.
func (p *shaper) shapeMap(out *node, n *yaml.Node) error {
	out.kind = mapNode
	seen := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		e, err := p.shapeEntry(key, value, out.depth)
		if err != nil {
			return err
		}
		if name, ok := e.key.value.(string); ok && !e.merge && e.key.kind == constNode {
			if first := seen[name]; first != nil {
				p.twice = append(p.twice, twice{name, [2]int{first.Line, first.Column}, [2]int{key.Line, key.Column}})
			}
			seen[name] = key
		}
		out.entries = append(out.entries, e)
	}
	return nil
}

// shapeEntry turns an entry of a map of YAML into ours.
func (p *shaper) shapeEntry(key, value *yaml.Node, depth int) (entry, error) {
	if key.Kind != yaml.ScalarNode {
		return entry{}, p.errorAt(key, "a key must be a text, not a map or a list")
	}
	if err := p.checkAllowed(key); err != nil {
		return entry{}, err
	}
	k := &node{line: key.Line, column: key.Column}
	if m := wholeHole.FindStringSubmatch(key.Value); m != nil && m[1] == holeMap {
		if value.Value != "0" || value.Style != 0 {
			return entry{}, p.errorAt(key, "toYaml must stand alone on its line here")
		}
		k.hole, _ = strconv.Atoi(m[2])
		return entry{key: k, merge: true}, nil
	}
	if err := p.shapeKey(k, key); err != nil {
		return entry{}, err
	}
	v, err := p.shapeNode(value, depth+1)
	return entry{key: k, value: v}, err
}
