package flow

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/funcs"
)

// textItems is join and sortAlpha, which need a text of every item.
func textItems(w *way, fn *parse.IdentifierNode, args []arg) *val {
	list := args[len(args)-1]
	if list.free || list.can&funcs.List == 0 {
		return nil
	}
	item, n := list.item(), w.at(fn, list)
	switch inner := item.can & (funcs.List | funcs.Map); {
	case item.free || item.can == 0:
	case inner != 0:
		w.find(WrongType, n, fmt.Sprintf("%s needs texts or numbers, and items of %s may be %s", fn.Ident, w.called(n, list.val), inner))
	case item.can&funcs.Nil != 0:
		w.find(Nil, n, fmt.Sprintf("an item of %s may be absent, and %s needs a value: use compact, or leave the item out with `if`", w.called(n, list.val), fn.Ident))
	}
	return nil
}
