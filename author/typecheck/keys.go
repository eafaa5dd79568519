package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// keys are those of a map, under each of which something stands.
func keys(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *asLong(w, fn, args)
	if out.elem != nil && len(args) == 1 {
		elem := *out.elem
		elem.keyOf = args[0].held()
		out.elem = &elem
	}
	return &out
}

// sorted are keys in another order.
func sorted(w *path, fn *parse.IdentifierNode, args []arg) *val {
	textItems(w, fn, args)
	list := args[len(args)-1]
	if list.elem == nil || list.elem.keyOf == "" || list.elem.can != signature.String {
		return nil
	}
	out := *w.result(fn, signatureOf(fn), args)
	out.elem, out.filled = list.elem, list.filled
	return &out
}

// compact leaves the items that count as true.
func compact(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.result(fn, signatureOf(fn), args)
	if out.elem != nil {
		out.elem = out.elem.truthy()
	}
	return &out
}

// held names the map or list whose entries a value has: that of which it is
// made by a default without entries.
func (v *val) held() string {
	if v.heldBy != "" {
		return v.heldBy
	}
	return v.id
}

// entries says that a value has the entries of another and no more.
func (v *val) entries(of arg, fallback arg) *val {
	if !fallback.bare() {
		return v
	}
	out := *v
	out.heldBy = of.held()
	return &out
}

// bare reports whether a value is surely a map or list without entries.
func (v *val) bare() bool {
	switch {
	case v.can == signature.Map:
		return v.closed && len(v.fields) == 0 && v.elem == nil
	case v.can == signature.List:
		return v.elem != nil && v.elem.can == 0
	}
	return false
}

// worded is what a map that a template made has under one of some words; nil
// where the words are not known.
func (w *path) worded(in *val, at arg) *val {
	words := at.enum()
	if len(words) == 0 || in.fields == nil || in.can != signature.Map {
		return nil
	}
	out := ofKinds(0)
	for _, word := range words {
		name, ok := word.(string)
		if !ok {
			return nil
		}
		if f, found := in.field(name); found {
			out = join(out, f)
			continue
		}
		out = join(out, ofKinds(signature.Nil))
	}
	bare := *out
	bare.id, bare.parent, bare.way = "", "", true
	return &bare
}
