package typecheck

import (
	"fmt"
	"maps"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

func dict(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.Map)
	out.fields, out.closed, out.label = map[string]*val{}, true, madeByDict
	for i := 0; i+1 < len(args); i += 2 {
		out.put(args[i], args[i+1].val)
	}
	return out
}

// put enters a value under a key.
func (v *val) put(key arg, value *val) {
	if name, ok := key.constant.(string); ok {
		v.fields[name] = value
		return
	}
	v.elem = join(v.elem, value)
}

func set(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := made(args[0].val)
	out.put(args[1], args[2].val)
	out.filled = true
	return out
}

// made is a copy of a map whose entries may be changed.
func made(m *val) *val {
	out := *m.opened()
	out.typ, out.can, out.counts = nil, signature.Map, 0
	out.id, out.parent, out.exact, out.path, out.read, out.known, out.constant = "", "", false, "", "", false, nil
	if m.nothing() || m.can&signature.Map == 0 {
		out.closed, out.elem = true, nil
	}
	out.keyOf, out.heldBy = "", ""
	out.filled = m.can&signature.Nil == 0 && m.full()
	if out.fields = maps.Clone(out.fields); out.fields == nil {
		out.fields = map[string]*val{}
	}
	if out.label == "" {
		out.label = madeByDict
	}
	return &out
}

func omit(w *path, fn *parse.IdentifierNode, args []arg) *val {
	w.use(w.at(fn, args[0]), args[0].val, false)
	out := made(args[0].val)
	for _, a := range args[1:] {
		name, ok := a.constant.(string)
		if !ok {
			return nil
		}
		w.wordField(fn, args[0].val, a)
		if out.fields[name] != nil || out.closed {
			delete(out.fields, name)
		}
	}
	out.filled = false
	return out
}

func pick(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.Map)
	out.fields, out.closed, out.label = map[string]*val{}, true, madeByDict
	for _, a := range args[1:] {
		name, ok := a.constant.(string)
		if !ok {
			return nil
		}
		if f := w.wordField(fn, args[0].val, a); f != nil {
			out.fields[name] = f
		}
	}
	return out
}

// wordField is the field that a word names.
func (w *path) wordField(fn *parse.IdentifierNode, m *val, word arg) *val {
	name, ok := word.constant.(string)
	if !ok || m.can&signature.Map == 0 {
		return nil
	}
	f, found := m.field(name)
	if !found {
		w.undeclared(w.at(fn, word), m, name)
		return m.missing()
	}
	if f == nil {
		return nil
	}
	f = w.known(f)
	w.use(w.at(fn, word), f, w.asking)
	return f
}

func merge(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := made(args[0].val)
	for _, a := range args[1:] {
		next := a.opened()
		for _, name := range sortedKeys(next.fields) {
			f := next.fields[name]
			switch old := out.fields[name]; {
			case old == nil:
				out.fields[name] = f
			case fn.Ident == "merge":
				out.fields[name] = join(old, f).as(old.can&f.can | ^signature.Nil)
			default:
				out.fields[name] = join(f, old).as(old.can&f.can | ^signature.Nil)
			}
		}
		out.elem = join(out.elem, next.elem)
		out.closed = out.closed && (next.closed || a.nothing())
		out.sources = bothSources(out.sources, a.sources)
	}
	return out
}

func get(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return w.step(fn, args[0].val, args[1])
}

// step is what index, get and dig find under a key or at a number.
func (w *path) step(fn *parse.IdentifierNode, in *val, at arg) *val {
	if _, word := at.constant.(string); word && in.can&signature.Map != 0 && in.can&signature.List == 0 {
		return w.wordField(fn, in, at)
	}
	if out := w.worded(in, at); out != nil {
		return out
	}
	out := ofKinds(0)
	if in.can&(signature.Map|signature.List) != 0 {
		out = in.item()
	}
	if at.keyOf != "" && at.keyOf == in.held() {
		in = in.as(^signature.Nil)
	} else if n, ok := at.constant.(int64); !ok || n < 0 || !in.has(int(n)+1) || !in.surely(signature.List) {
		out = out.maybe()
	}
	if in.can&signature.Nil != 0 {
		out = join(out, ofKinds(signature.Nil))
	}
	if in.free {
		out = anything()
	}
	out.way = out.way || at.way
	if in.id != "" && (at.id != "" || at.known) {
		named := *out
		named.id, named.parent = in.id+"["+at.id+"]", in.id
		out = w.known(&named)
	}
	w.use(w.at(fn, at), out, w.asking)
	return out
}

func index(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v := args[0].val
	for i, at := range args[1:] {
		if !w.looks(fn, v, at, signature.List|signature.Map) {
			return anything()
		}
		asking := w.asking
		w.asking = i < len(args)-2 || asking
		v = w.step(fn, v, at)
		if w.asking = asking; v == nil {
			return anything()
		}
	}
	return v
}

// looks reports whether a value has parts of that sort, and what is wrong if not.
func (w *path) looks(fn *parse.IdentifierNode, v *val, at arg, parts signature.Kinds) bool {
	n, there := w.at(fn, at), v.can&^signature.Nil
	switch key := at.can &^ signature.Nil; {
	case there != 0 && there&parts == 0, !v.free && there&^parts != 0:
		w.find(WrongType, n, fmt.Sprintf("%s looks into what is %s; only %s has parts", fn.Ident, there, parts))
	case there == 0 || key == 0 && !at.absent():
	case at.absent() && !v.free:
		w.absent(n, at.val, fn.Ident+" needs a key")
	case at.free || v.free:
	case there&signature.List != 0 && key&^signature.Number != 0, there&signature.Map != 0 && key&^signature.String != 0:
		w.find(WrongType, n, fmt.Sprintf("%s looks into %s, and %s is %s", fn.Ident, there, w.called(n, at.val), key))
	default:
		return true
	}
	return there == 0 || v.free
}

func dig(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v, fallback := args[len(args)-1].val, args[len(args)-2]
	for _, at := range args[:len(args)-2] {
		if !w.looks(fn, v, at, signature.Map) {
			return anything()
		}
		if v = w.step(fn, v, at); v == nil {
			return anything()
		}
	}
	if v.can&signature.Nil == 0 {
		return v
	}
	whole := len(args) - 1 // of which just v is read
	out := w.mixed(join(fallback.val, v.as(^signature.Nil)), args[:whole])
	out.way = out.way || args[whole].way
	return out
}

// words are all texts that some dict or set of the folder uses as a key.
func (w *walker) words() map[string]bool {
	all := map[string]bool{}
	for _, tree := range w.trees() {
		visitCalls(tree.Root, func(fn *parse.IdentifierNode, args []parse.Node) {
			for i, a := range args {
				if s, ok := a.(*parse.StringNode); ok && (fn.Ident == "dict" && i%2 == 0 || fn.Ident == "set" && i == 1) {
					all[s.Text] = true
				}
			}
		})
	}
	return all
}

// of is the type of a setting.
func of(v any) *val {
	if v == nil {
		return ofKinds(signature.Nil)
	}
	return typed(schema.Of(v))
}
