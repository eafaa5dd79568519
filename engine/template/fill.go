package template

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// giveOrLeave is what to do where a nil value would widen what an object selects.
const giveOrLeave = "give it a value, or leave it out with `if` around the whole key of an object that needs none"

// A filler puts the values of one document into its shape.
type filler struct {
	src   *source
	out   *output
	holes []hole
	left  *room
	// network: the document is a NetworkPolicy, where an absent list of peers
	// or ports allows all of them.
	network bool
	// role: it is a Role whose rules are its own, where no rules allow nothing.
	role bool
	// secret: the document is a Secret; open: what is filled may hold sealed
	// values.
	secret, open bool
}

// A room is what all documents of a file may still take.
type room struct {
	lim   funcs.Limits
	nodes int
	bytes int // of texts, each counted as often as it is printed, and of maps
}

// newRoom returns what all documents of a file may take.
func (s *Set) newRoom() *room {
	lim := s.limits.Functions
	return &room{lim: lim, nodes: lim.Nodes, bytes: s.limits.Made * 3 / 4}
}

// takeRoom takes nodes and bytes. It is an error if there are not so many left.
func (r *room) takeRoom(nodes, bytes int) error {
	if r.nodes -= nodes; r.nodes < 0 {
		return fmt.Errorf("the documents have more than %d nodes: %w", r.lim.Nodes, ErrBudget)
	}
	if r.bytes -= bytes; r.bytes < 0 {
		return fmt.Errorf("the documents hold too many bytes: %w", ErrBudget)
	}
	return nil
}

func newFiller(src *source, out *output, left *room) *filler {
	return &filler{src: src, out: out, holes: out.holes, left: left}
}

// posAt returns the position in the template that a line and column of the skeleton come from.
func (f *filler) posAt(line, column int) pos { return f.out.originOf(f.src, line, column) }

// An origin is a node of the skeleton, or else a position in the template. To
// find the position of a node takes time, so only errors do.
type origin struct {
	node *node
	at   pos
}

// posOf returns the position of an origin.
func (f *filler) posOf(o origin) pos {
	if o.node != nil {
		return f.posAt(o.node.line, o.node.column)
	}
	return o.at
}

// absent is what fill returns for what is to be left out.
type absent struct {
	// why is where the nothing comes from.
	why origin
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

// keepUnder returns the guard of what stands below key.
func (f *filler) keepUnder(k keep, n *node, key string) keep {
	if k != "" {
		return k
	}
	if Widens(key, f.network) {
		return keep(keyForError(n, key))
	}
	return ""
}

// Widens reports whether an absent key inside the field of that name would select
// or allow more, so that nothing may be absent there. network: the document is
// a NetworkPolicy.
func Widens(key string, network bool) bool {
	selects := strings.HasSuffix(key, "Selector") && key != "nodeSelector"
	return widens[key] || selects || network && peers[key]
}

// errorAt returns an error at a node.
func (f *filler) errorAt(n *node, format string, args ...any) error {
	return f.posAt(n.line, n.column).errorAt(format, args...)
}

// fillNode returns the value of a node, or absent.
func (f *filler) fillNode(n *node, k keep) (any, error) {
	size := 0
	if s, ok := n.value.(string); ok {
		size = len(s)
	} else if len(n.entries) > 0 {
		size = mapBytes
	}
	if err := f.left.takeRoom(1, size); err != nil {
		return nil, f.errorAt(n, "%w", err)
	}
	switch n.kind {
	case constNode:
		return n.value, nil
	case emptyNode:
		return absent{origin{node: n}}, nil
	case holeNode:
		return f.fillWhole(f.holes[n.hole], k)
	case textNode:
		return f.fillText(n)
	case listNode:
		return f.fillList(n, k)
	}
	return f.fillMap(n, k)
}

// fillList fills a list.
func (f *filler) fillList(n *node, k keep) (any, error) {
	out := make([]any, 0, len(n.items))
	for _, item := range n.items {
		if item.kind == holeNode && item.block == 'l' {
			v, err := f.fillWhole(f.holes[item.hole], k)
			if err != nil {
				return nil, err
			}
			out = append(out, v.([]any)...)
			continue
		}
		v, err := f.fillNode(item, k)
		if err != nil {
			return nil, err
		}
		if gone, ok := v.(absent); ok {
			return nil, f.posOf(gone.why).errorAt("an item of a list is nil: leave the item out with `if`")
		}
		out = append(out, v)
	}
	return out, nil
}

// fillMap fills a map. A map that lost all its keys is absent itself.
func (f *filler) fillMap(n *node, k keep) (any, error) {
	out := make(map[string]any, len(n.entries))
	var from map[string]origin // where each key was written; only made where two can be one
	if n.madeKeys() {
		from = make(map[string]origin, len(n.entries))
	}
	var lost absent
	merged := false
	for _, e := range n.entries {
		if e.merge {
			merged = true
			if err := f.mergeMap(out, from, e, k); err != nil {
				return nil, err
			}
			continue
		}
		key, err := f.fillKey(e.key)
		if err != nil {
			return nil, err
		}
		v, err := f.fillEntry(e, key, k)
		if err != nil {
			return nil, err
		}
		if gone, ok := v.(absent); ok {
			lost = gone
			continue
		}
		if first, twice := from[key]; twice {
			return nil, f.errorAt(e.key, "%s stands twice in one map: here and at %s", keyForError(e.key, key), f.posOf(first).toPlace())
		}
		if out[key] = v; from != nil {
			from[key] = origin{node: e.key}
		}
	}
	if len(out) == 0 && len(n.entries) > 0 && !merged {
		return lost, nil
	}
	return out, nil
}

// madeKeys reports whether some keys of a map come out of values. Literal keys
// that are there twice were refused when the skeleton was parsed.
func (n *node) madeKeys() bool {
	for _, e := range n.entries {
		if e.merge || e.key.kind != constNode {
			return true
		}
	}
	return false
}

// fillEntry fills the value of an entry and refuses what may not be left out.
func (f *filler) fillEntry(e entry, key string, k keep) (any, error) {
	if api.Reserved(key) && e.value.kind != constNode {
		return nil, f.errorAt(e.value, "the value of %s must be literal text", key)
	}
	inside := f.keepUnder(k, e.key, key)
	before := f.open
	f.open = before || f.secret && e.maySeal(key)
	v, err := f.fillNode(e.value, inside)
	f.open = before
	if err != nil {
		return nil, err
	}
	if _, gone := v.(absent); gone && f.role && key == "rules" && e.value.depth == 2 {
		return []any{}, nil
	}
	if gone, ok := v.(absent); ok && inside != "" && k == "" {
		return nil, f.posOf(gone.why).errorAt("%s is nil, and an absent %[1]s would select or allow more: "+giveOrLeave, string(inside))
	}
	if gone, ok := v.(absent); ok && inside != "" {
		return nil, f.posOf(gone.why).errorAt("%s is nil, and without it %s would select or allow more: "+giveOrLeave, keyForError(e.key, key),
			string(inside))
	}
	return v, nil
}

// fillKey returns the text of a key.
func (f *filler) fillKey(n *node) (string, error) {
	if n.kind == constNode {
		return n.value.(string), f.left.takeRoom(0, len(n.value.(string)))
	}
	for _, p := range n.parts {
		if p.hole >= 0 && f.holes[p.hole].sealed {
			return "", f.holes[p.hole].at.errorAt("a key was read from a Secret: keys are shown in messages")
		}
	}
	key, err := f.fillText(n)
	if n.bare {
		if q, ok := f.holes[n.parts[0].hole].value.(quoted); ok {
			key = q.text
		}
	}
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", f.errorAt(n, "a key is an empty text")
	case api.Reserved(key):
		return "", f.errorAt(n, reservedKey, api.Domain)
	}
	return key, nil
}

const reservedKey = "a key of %s comes out of a value: such keys count only as literal text of the template"

// keyForError returns a key as an error may show it: never what came out of a value.
func keyForError(n *node, key string) string {
	if n.kind == constNode {
		return key
	}
	return "a key made of a value"
}

// mergeMap adds the entries of a printed map beside the author's own.
func (f *filler) mergeMap(out map[string]any, from map[string]origin, e entry, k keep) error {
	h := f.holes[e.key.hole]
	v, err := f.fillWhole(h, k)
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(v.(map[string]any)) {
		if first, twice := from[key]; twice {
			if first.node != nil && first.node.kind == constNode {
				return h.at.errorAt("the key %s stands there already: it was written at %s: leave one out with omit, or put both together with merge",
					key, f.posOf(first).toPlace())
			}
			return h.at.errorAt("a key of this map stands there already: it was written at %s", f.posOf(first).toPlace())
		}
		out[key], from[key] = v.(map[string]any)[key], origin{at: h.at}
	}
	return nil
}
