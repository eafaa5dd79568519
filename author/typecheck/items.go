package typecheck

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// textItems is join and sortAlpha, which need a text of every item.
func textItems(w *path, fn *parse.IdentifierNode, args []arg) *val {
	list := args[len(args)-1]
	if list.free || list.can&signature.List == 0 {
		return nil
	}
	item, n := list.item(), w.at(fn, list)
	switch inner := item.can & (signature.List | signature.Map); {
	case item.free || item.can == 0:
	case inner != 0:
		w.find(WrongType, n, fmt.Sprintf("%s needs texts or numbers, and items of %s may be %s", fn.Ident, w.called(n, list.val), inner))
	case item.can&signature.Nil != 0:
		w.find(Nil, n, fmt.Sprintf("an item of %s may be absent, and %s needs a value: use compact, or leave the item out with `if`",
			w.called(n, list.val), fn.Ident))
	}
	return nil
}

func list(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.List)
	out.elem = ofKinds(0)
	literals := []any{}
	for _, a := range args {
		out.elem = either(out.elem, a.val)
		if literals = append(literals, a.constant); !a.known {
			out.way = out.way || a.way
		}
	}
	bare := *out.elem
	bare.id, bare.parent = "", ""
	out.elem = &bare
	if w.assignable(args) {
		out.literals = literals
	}
	if len(args) > 0 {
		out.filled = true
	}
	return out
}

// end is the first or last item of a list, absent where the list is empty.
func end(index string) builtin {
	return func(w *path, fn *parse.IdentifierNode, args []arg) *val {
		return again(w, args, func(w *path, args []arg) *val {
			list := args[0]
			if list.can&signature.List == 0 || list.free {
				return w.result(fn, signatureOf(fn), args)
			}
			yes, no := list.truth()
			out := list.item()
			switch {
			case !yes:
				out = ofKinds(signature.Nil)
				out.way = true
			case no:
				out = out.maybe()
			}
			if out.id = ""; list.id != "" && !out.known {
				out.id, out.parent = list.id+"[="+index+"]", list.id
			}
			return out
		})
	}
}

// longer are the functions whose list is never empty.
func longer(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.result(fn, signatureOf(fn), args)
	out.filled = true
	return &out
}

// asLong are the functions whose list has items if one of theirs does.
func asLong(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.result(fn, signatureOf(fn), args)
	for _, a := range args {
		_, no := a.truth()
		out.filled = out.filled || !no
	}
	return &out
}

// until is a list that counts from 0, up or down.
func until(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.result(fn, signatureOf(fn), args)
	least, _ := args[0].bounded()
	out.heldBy, out.counted, out.filled = args[0].heldBy, true, least != nil && *least > 0
	return &out
}

// whole is a whole number made of one, which is the same.
func whole(w *path, fn *parse.IdentifierNode, args []arg) *val {
	if args[0].known || args[0].can != signature.Int {
		return nil
	}
	out := *w.result(fn, signatureOf(fn), args)
	out.least, out.most = args[0].bounded()
	out.heldBy = args[0].heldBy
	return &out
}
