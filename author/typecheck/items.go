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
	item, n := list.itemValue(), w.argNode(fn, list)
	switch inner := item.can & (signature.List | signature.Map); {
	case item.free || item.can == 0:
	case inner != 0:
		w.addFinding(ArgumentType, n, fmt.Sprintf("%s needs texts or numbers, and items of %s may be %s",
			fn.Ident, w.describeValue(n, list.val), inner))
	case item.can&signature.Nil != 0:
		w.addFinding(Nil, n, fmt.Sprintf("an item of %s may be absent, and %s needs a value: use compact, or leave the item out with `if`",
			w.describeValue(n, list.val), fn.Ident))
	}
	return nil
}

// evalList returns the value of a call of list.
func evalList(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.List)
	out.elem = ofKinds(0)
	literals := []any{}
	for _, a := range args {
		out.elem = joinEither(out.elem, a.val)
		if literals = append(literals, a.constant); !a.known {
			out.way = out.way || a.way
		}
	}
	bare := *out.elem
	bare.id, bare.parent = "", ""
	out.elem = &bare
	if w.areKnown(args) {
		out.literals = literals
	}
	if len(args) > 0 {
		out.filled = true
	}
	return out
}

// endItem makes the builtin that returns the first or last item of a list. The item is absent if
// the list is empty.
func endItem(index string) builtin {
	return func(w *path, fn *parse.IdentifierNode, args []arg) *val {
		return makeRemakable(w, args, func(w *path, args []arg) *val {
			list := args[0]
			if list.can&signature.List == 0 || list.free {
				return w.evalResult(fn, signatureOf(fn), args)
			}
			yes, no := list.possibleTruth()
			out := list.itemValue()
			switch {
			case !yes:
				out = ofKinds(signature.Nil)
				out.way = true
			case no:
				out = out.allowAbsent()
			}
			if out.id = ""; list.id != "" && !out.known {
				out.id, out.parent = list.id+"[="+index+"]", list.id
			}
			return out
		})
	}
}

// evalFilled returns the value of a function whose list is never empty.
func evalFilled(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.evalResult(fn, signatureOf(fn), args)
	out.filled = true
	return &out
}

// asLong are the functions whose list has items if one of theirs does.
func asLong(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.evalResult(fn, signatureOf(fn), args)
	for _, a := range args {
		_, no := a.possibleTruth()
		out.filled = out.filled || !no
	}
	return &out
}

// evalUntil returns the value of a call of until, a list that counts from 0, up or down.
func evalUntil(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := *w.evalResult(fn, signatureOf(fn), args)
	least, _ := args[0].numberBounds()
	out.heldBy, out.counted, out.filled = args[0].heldBy, true, least != nil && *least > 0
	return &out
}

// evalWhole returns the value of a function that rounds to a whole number. A whole number stays the
// same.
func evalWhole(w *path, fn *parse.IdentifierNode, args []arg) *val {
	if args[0].known || args[0].can != signature.Int {
		return nil
	}
	out := *w.evalResult(fn, signatureOf(fn), args)
	out.least, out.most = args[0].numberBounds()
	out.heldBy = args[0].heldBy
	return &out
}
