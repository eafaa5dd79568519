package template

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/funcs"
)

// A filler puts the values of one document into its shape.
type filler struct {
	holes []hole
	lim   funcs.Limits
	// at tells where a node of the skeleton comes from.
	at func(line, column int) pos
	// network: the document is a NetworkPolicy, where an absent list of peers
	// or ports allows all of them.
	network bool
	nodes   int
}

// absent is what fill returns for what is to be left out.
type absent struct {
	// why is where the nothing comes from.
	why pos
}

// A keep says that leaving out a key would widen what an object selects or
// allows, and under which key it stands.
type keep string

// widens lists the keys inside which an absent key selects or allows more.
var widens = map[string]bool{
	"selector": true, "matchLabels": true, "matchExpressions": true,
	"hard": true, "securityContext": true, "rules": true,
}

var peers = map[string]bool{"from": true, "to": true, "ports": true}

// under is the guard of what stands below key.
func (f *filler) under(k keep, key string) keep {
	if k != "" {
		return k
	}
	selects := strings.HasSuffix(key, "Selector") && key != "nodeSelector"
	if widens[key] || selects || (f.network && peers[key]) {
		return keep(key)
	}
	return ""
}

func (f *filler) errorf(n *node, format string, args ...any) error {
	return f.at(n.line, n.column).errorf(format, args...)
}

// fill returns the value of a node, or absent.
func (f *filler) fill(n *node, k keep) (any, error) {
	if err := f.count(n); err != nil {
		return nil, err
	}
	switch n.kind {
	case constNode:
		return n.value, nil
	case emptyNode:
		return absent{f.at(n.line, n.column)}, nil
	case holeNode:
		return f.whole(n)
	case textNode:
		return f.text(n)
	case listNode:
		return f.list(n, k)
	}
	return f.mapping(n, k)
}

func (f *filler) count(n *node) error {
	if f.nodes++; f.nodes > f.lim.Nodes {
		return f.errorf(n, "the document has more than %d nodes: %w", f.lim.Nodes, ErrBudget)
	}
	return nil
}

// whole is a value that stands alone: it keeps its own type.
func (f *filler) whole(n *node) (any, error) {
	h := f.holes[n.hole]
	if h.value == nil {
		return absent{h.at}, nil
	}
	return f.copied(h)
}

// copied is the value of a hole for the document to own.
func (f *filler) copied(h hole) (any, error) {
	switch v := h.value.(type) {
	case quoted:
		return v.text, nil
	case *encoded:
		return f.copied(hole{v.value, h.at})
	}
	v, err := f.deepCopy(h.value, h.at)
	return v, h.at.wrap(err)
}

func (f *filler) deepCopy(v any, at pos) (any, error) {
	if f.nodes++; f.nodes > f.lim.Nodes {
		return nil, at.errorf("the document has more than %d nodes: %w", f.lim.Nodes, ErrBudget)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if api.Reserved(key) {
				return nil, at.errorf("a key of %s comes out of a value: such keys count only as literal text of the template", api.Domain)
			}
			child, err := f.deepCopy(item, at)
			if err != nil {
				return nil, err
			}
			out[key] = child
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			child, err := f.deepCopy(item, at)
			if err != nil {
				return nil, err
			}
			out[i] = child
		}
		return out, nil
	case nil, bool, int64, float64, string:
		return v, nil
	}
	return nil, at.errorf("a value of type %T cannot stand in a document", v)
}

// text puts values into a text.
func (f *filler) text(n *node) (string, error) {
	var b strings.Builder
	for _, p := range n.parts {
		if p.hole < 0 {
			b.WriteString(p.text)
			continue
		}
		h := f.holes[p.hole]
		s, err := textOf(h.value, f.lim)
		if err != nil {
			return "", h.at.wrap(err)
		}
		if n.block != 0 && p.lead != "" {
			s = strings.ReplaceAll(s, "\n", "\n"+p.lead)
		}
		if b.WriteString(s); b.Len() > f.lim.Bytes {
			return "", h.at.errorf("the text is longer than %d bytes: %w", f.lim.Bytes, ErrBudget)
		}
	}
	return chomp(b.String(), n.block), nil
}

// chomp gives a block scalar's text the trailing line breaks that its header
// asks for.
func chomp(s string, block byte) string {
	switch block {
	case '-':
		return strings.TrimRight(s, "\n")
	case 'c':
		if trimmed := strings.TrimRight(s, "\n"); trimmed != "" && trimmed != s {
			return trimmed + "\n"
		}
	}
	return s
}

func (f *filler) list(n *node, k keep) (any, error) {
	out := make([]any, 0, len(n.items))
	for _, item := range n.items {
		if item.kind == holeNode && item.block == 'l' {
			h := f.holes[item.hole]
			v, err := f.copied(h)
			if err != nil {
				return nil, err
			}
			out = append(out, v.([]any)...)
			continue
		}
		v, err := f.fill(item, k)
		if err != nil {
			return nil, err
		}
		if gone, ok := v.(absent); ok {
			return nil, gone.why.errorf("an item of a list is nothing: leave the item out with `if`")
		}
		out = append(out, v)
	}
	return out, nil
}

// mapping fills a map; a map that lost all its keys is absent itself.
func (f *filler) mapping(n *node, k keep) (any, error) {
	out := make(map[string]any, len(n.entries))
	from := make(map[string]pos, len(n.entries))
	var lost absent
	merged := false
	for _, e := range n.entries {
		if e.merge {
			merged = true
			if err := f.merge(out, from, e); err != nil {
				return nil, err
			}
			continue
		}
		key, at, err := f.key(e.key)
		if err != nil {
			return nil, err
		}
		v, err := f.entry(e, key, k)
		if err != nil {
			return nil, err
		}
		if gone, ok := v.(absent); ok {
			lost = gone
			continue
		}
		if first, twice := from[key]; twice {
			return nil, at.errorf("the key %s stands twice in one map: here and at %s", shown(e.key, key), first.place())
		}
		out[key], from[key] = v, at
	}
	if len(out) == 0 && len(n.entries) > 0 && !merged {
		return lost, nil
	}
	return out, nil
}

// entry fills the value of an entry and refuses what may not be left out.
func (f *filler) entry(e entry, key string, k keep) (any, error) {
	if api.Reserved(key) && e.value.kind != constNode {
		return nil, f.errorf(e.value, "the value of %s must be literal text", key)
	}
	inside := f.under(k, key)
	v, err := f.fill(e.value, inside)
	if err != nil {
		return nil, err
	}
	if gone, ok := v.(absent); ok && inside != "" {
		return nil, gone.why.errorf("%s is nothing, and without it %s would select or allow more: give it a value, or leave it out with `if` around the whole key of an object that needs none", key, string(inside))
	}
	return v, nil
}

func (f *filler) key(n *node) (string, pos, error) {
	if n.kind == constNode {
		return n.value.(string), f.at(n.line, n.column), nil
	}
	key, err := f.text(n)
	if n.bare {
		if q, ok := f.holes[n.parts[0].hole].value.(quoted); ok {
			key = q.text
		}
	}
	at := f.at(n.line, n.column)
	switch {
	case err != nil:
		return "", at, err
	case key == "":
		return "", at, at.errorf("a key is an empty text")
	case api.Reserved(key):
		return "", at, at.errorf("a key of %s comes out of a value: such keys count only as literal text of the template", api.Domain)
	}
	return key, at, nil
}

// shown is a key as an error may show it: never what came out of a value.
func shown(n *node, key string) string {
	if n.kind == constNode {
		return fmt.Sprintf("%q", key)
	}
	return "made of a value"
}

// merge adds the entries of a printed map beside the author's own.
func (f *filler) merge(out map[string]any, from map[string]pos, e entry) error {
	h := f.holes[e.key.hole]
	v, err := f.copied(h)
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(v.(map[string]any)) {
		if first, twice := from[key]; twice {
			return h.at.errorf("a key of this map stands there already: it was written at %s", first.place())
		}
		out[key], from[key] = v.(map[string]any)[key], h.at
	}
	return nil
}
