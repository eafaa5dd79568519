package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// evalKeys returns the value of a call of keys. Each key has an entry in the map.
func evalKeys(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *asLong(w, fn, args)
	if out.elem != nil && len(args) == 1 {
		elem := *out.elem
		elem.keyOf = args[0].holderName()
		out.elem = &elem
	}
	return &out
}

// evalSorted returns the value of a function that returns keys in another order.
func evalSorted(w *path, fn *parse.IdentifierNode, args []arg) *val {
	textItems(w, fn, args)
	list := args[len(args)-1]
	if list.elem == nil || list.elem.keyOf == "" || list.elem.can != signature.String {
		return nil
	}
	out := *w.evalResult(fn, signatureOf(fn), args)
	out.elem, out.filled = list.elem, list.filled
	return &out
}

// evalCompact returns the value of a call of compact, which keeps the items that count as true.
func evalCompact(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.evalResult(fn, signatureOf(fn), args)
	if out.elem != nil {
		out.elem = out.elem.narrowTruthy()
	}
	return &out
}

// holderName names the map or list whose entries a value has. For a default without entries, that
// is the value it is the default of.
func (v *val) holderName() string {
	if v.heldBy != "" {
		return v.heldBy
	}
	return v.id
}

// keepEntriesOf returns the value with the entries of another value and no more.
func (v *val) keepEntriesOf(of arg, fallback arg) *val {
	if !fallback.isBare() {
		return v
	}
	out := *v
	out.heldBy = of.holderName()
	return &out
}

// isBare reports whether a value is surely a map or list without entries.
func (v *val) isBare() bool {
	switch {
	case v.can == signature.Map:
		return v.closed && len(v.fields) == 0 && v.elem == nil
	case v.can == signature.List:
		return v.elem != nil && v.elem.can == 0
	}
	return false
}

// joinEntries joins what a map that a template made has under any of the words that a key can be.
// It returns nil if the words are not known.
func (w *path) joinEntries(in *val, at arg) *val {
	words := at.enumValues()
	if len(words) == 0 || in.fields == nil || in.can != signature.Map {
		return nil
	}
	out := ofKinds(0)
	for _, word := range words {
		name, ok := word.(string)
		if !ok {
			return nil
		}
		if f, found := in.findField(name); found {
			out = joinValues(out, f)
			continue
		}
		out = joinValues(out, ofKinds(signature.Nil))
	}
	bare := *out
	bare.id, bare.parent, bare.way = "", "", true
	return &bare
}
