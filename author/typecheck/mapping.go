package typecheck

import (
	"fmt"
	"maps"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// evalDict returns the value of a call of dict.
func evalDict(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.Map)
	out.fields, out.closed, out.label = map[string]*val{}, true, madeByDict
	for i := 0; i+1 < len(args); i += 2 {
		out.putEntry(args[i], args[i+1].val)
	}
	return out
}

// putEntry enters a value under a key.
func (v *val) putEntry(key arg, value *val) {
	if name, ok := key.constant.(string); ok {
		v.fields[name] = value
		return
	}
	v.elem = joinValues(v.elem, value)
}

// evalSet returns the value of a call of set.
func evalSet(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := copyMap(args[0].val)
	out.putEntry(args[1], args[2].val)
	out.filled = true
	return out
}

// copyMap returns a copy of a map whose entries may be changed.
func copyMap(m *val) *val {
	out := *m.openSchema()
	out.typ, out.can, out.counts = nil, signature.Map, 0
	out.id, out.parent, out.exact, out.path, out.read, out.known, out.constant = "", "", false, "", "", false, nil
	if m.isAbsent() || m.can&signature.Map == 0 {
		out.closed, out.elem = true, nil
	}
	out.keyOf, out.heldBy = "", ""
	out.filled = m.can&signature.Nil == 0 && m.isFilled()
	if out.fields = maps.Clone(out.fields); out.fields == nil {
		out.fields = map[string]*val{}
	}
	if out.label == "" {
		out.label = madeByDict
	}
	return &out
}

// evalOmit returns the value of a call of omit.
func evalOmit(w *path, fn *parse.IdentifierNode, args []arg) *val {
	w.recordUse(w.argNode(fn, args[0]), args[0].val, false)
	out := copyMap(args[0].val)
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

// evalPick returns the value of a call of pick.
func evalPick(w *path, fn *parse.IdentifierNode, args []arg) *val {
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
	f, found := m.findField(name)
	if !found {
		w.reportUndeclared(w.argNode(fn, word), m, name)
		return m.missingField()
	}
	if f == nil {
		return nil
	}
	f = w.applyFacts(f)
	w.recordUse(w.argNode(fn, word), f, w.asking)
	return f
}

// evalMerge returns the value of a call of merge or mergeOverwrite.
func evalMerge(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := copyMap(args[0].val)
	for _, a := range args[1:] {
		next := a.openSchema()
		for _, name := range sortedKeys(next.fields) {
			f := next.fields[name]
			switch old := out.fields[name]; {
			case old == nil:
				out.fields[name] = f
			case fn.Ident == "merge":
				out.fields[name] = joinValues(old, f).keepKinds(old.can&f.can | ^signature.Nil)
			default:
				out.fields[name] = joinValues(f, old).keepKinds(old.can&f.can | ^signature.Nil)
			}
		}
		out.elem = joinValues(out.elem, next.elem)
		out.closed = out.closed && (next.closed || a.isAbsent())
		out.sources = bothSources(out.sources, a.sources)
	}
	return out
}

// evalGet returns the value of a call of get.
func evalGet(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return w.evalStep(fn, args[0].val, args[1])
}

// evalStep returns what index, get and dig find under a key or at a number.
func (w *path) evalStep(fn *parse.IdentifierNode, in *val, at arg) *val {
	if _, word := at.constant.(string); word && in.can&signature.Map != 0 && in.can&signature.List == 0 {
		return w.wordField(fn, in, at)
	}
	if out := w.joinEntries(in, at); out != nil {
		return out
	}
	out := ofKinds(0)
	if in.can&(signature.Map|signature.List) != 0 {
		out = in.itemValue()
	}
	if at.keyOf != "" && at.keyOf == in.holderName() {
		in = in.keepKinds(^signature.Nil)
	} else if n, ok := at.constant.(int64); !ok || n < 0 || !in.has(int(n)+1) || !in.isSurely(signature.List) {
		out = out.allowAbsent()
	}
	if in.can&signature.Nil != 0 {
		out = joinValues(out, ofKinds(signature.Nil))
	}
	if in.free {
		out = anyValue()
	}
	out.way = out.way || at.way
	if in.id != "" && (at.id != "" || at.known) {
		named := *out
		named.id, named.parent = in.id+"["+at.id+"]", in.id
		out = w.applyFacts(&named)
	}
	w.recordUse(w.argNode(fn, at), out, w.asking)
	return out
}

// evalIndex returns the value of a call of index.
func evalIndex(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v := args[0].val
	for i, at := range args[1:] {
		if !w.canLookInto(fn, v, at, signature.List|signature.Map) {
			return anyValue()
		}
		asking := w.asking
		w.asking = i < len(args)-2 || asking
		v = w.evalStep(fn, v, at)
		if w.asking = asking; v == nil {
			return anyValue()
		}
	}
	return v
}

// canLookInto reports whether a value has parts of that sort, and adds a finding if it has not.
func (w *path) canLookInto(fn *parse.IdentifierNode, v *val, at arg, parts signature.Kinds) bool {
	n, there := w.argNode(fn, at), v.can&^signature.Nil
	switch key := at.can &^ signature.Nil; {
	case there != 0 && there&parts == 0, !v.free && there&^parts != 0:
		w.addFinding(ArgumentType, n, fmt.Sprintf("%s looks into what is %s; only %s has parts", fn.Ident, there, parts))
	case there == 0 || key == 0 && !at.canBeAbsent():
	case at.canBeAbsent() && !v.free:
		w.reportAbsent(n, at.val, fn.Ident+" needs a key")
	case at.free || v.free:
	case there&signature.List != 0 && key&^signature.Number != 0, there&signature.Map != 0 && key&^signature.String != 0:
		w.addFinding(ArgumentType, n, fmt.Sprintf("%s looks into %s, and %s is %s", fn.Ident, there, w.describeValue(n, at.val), key))
	default:
		return true
	}
	return there == 0 || v.free
}

// evalDig returns the value of a call of dig.
func evalDig(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v, fallback := args[len(args)-1].val, args[len(args)-2]
	for _, at := range args[:len(args)-2] {
		if !w.canLookInto(fn, v, at, signature.Map) {
			return anyValue()
		}
		if v = w.evalStep(fn, v, at); v == nil {
			return anyValue()
		}
	}
	if v.can&signature.Nil == 0 {
		return v
	}
	whole := len(args) - 1 // of which just v is read
	out := w.mixArgs(joinValues(fallback.val, v.keepKinds(^signature.Nil)), args[:whole])
	out.way = out.way || args[whole].way
	return out
}

// findKeyWords returns all texts that a dict or set of the folder uses as a key.
func (w *walker) findKeyWords() map[string]bool {
	all := map[string]bool{}
	for _, tree := range w.allTrees() {
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

// settingValue returns a value of the type of a setting.
func settingValue(v any) *val {
	if v == nil {
		return ofKinds(signature.Nil)
	}
	return typedValue(schema.Of(v))
}
