package flow

import (
	"fmt"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/funcs"
)

// check says what is wrong with the arguments; it returns whether they fit.
func (w *way) check(fn *parse.IdentifierNode, sig funcs.Signature, args []arg) bool {
	fits := true
	params := w.params(fn, sig, args)
	for i, a := range args {
		p := params[i]
		there := a.can &^ funcs.Nil
		switch {
		case a.can == 0:
		case there != 0 && there&p.Fits == 0:
			fits = false
			w.find(WrongType, w.at(fn, a), fmt.Sprintf("%s needs %s here, and %s is %s", fn.Ident, p.Fits&^funcs.Nil, w.called(w.at(fn, a), a.val), there))
		case !a.free && there&^(p.Fits|p.Suspect) != 0:
			fits = false
			w.find(WrongType, w.at(fn, a), fmt.Sprintf("%s needs %s here, and %s may be %s: ask with kindIs", fn.Ident, p.Fits&^funcs.Nil, w.called(w.at(fn, a), a.val), there&^(p.Fits|p.Suspect)))
		case (p.Fits|p.Suspect)&funcs.Nil == 0 && !a.absent():
			w.mask(w.at(fn, a), a.val)
		case a.absent() && (p.Fits|p.Suspect)&funcs.Nil == 0:
			w.absent(w.at(fn, a), a.val, fmt.Sprintf("%s needs a value", fn.Ident))
		}
		if a.piece != nil {
			w.resolve(fn, a)
		}
	}
	if sig.Alike && fits {
		fits = w.alike(fn, args)
	}
	return fits
}

// params are the parameters of a call; those of printf follow its format.
func (w *way) params(fn *parse.IdentifierNode, sig funcs.Signature, args []arg) []funcs.Param {
	params := make([]funcs.Param, len(args))
	for i := range args {
		params[i] = sig.Param(i, len(args))
	}
	if fn.Ident != "printf" || !args[0].known || args[0].can != funcs.String {
		return params
	}
	format, _ := args[0].konst.(string)
	more, err := funcs.FormatParams(format, len(args)-1)
	if err != nil {
		w.find(WrongType, fn, err.Error())
		return params
	}
	copy(params[1:], more)
	return params
}

// at is where an argument stands; a piped one where the function does.
func (w *way) at(fn *parse.IdentifierNode, a arg) parse.Node {
	switch n := a.node.(type) {
	case nil:
		return fn
	case *parse.CommandNode:
		return n.Args[0]
	}
	return a.node
}

// absent says whether a value is known to be absent for some resource.
func (v *val) absent() bool {
	return v.can&funcs.Nil != 0 && (!v.free || v.exact && v.read == "")
}

// absent says that a value may be absent where that is an error.
func (w *way) absent(n parse.Node, v *val, what string) {
	said := "%s may be absent, and %s: give it a default, or leave this out with `if`"
	if v.nothing() && !v.way {
		said = "%s is absent, and %s: give it a default, or leave this out with `if`"
	}
	w.find(Nil, n, fmt.Sprintf(said, w.called(n, v), what))
}

// resolve says what is wrong with the values in an include's text where the
// text is an argument.
func (w *way) resolve(fn *parse.IdentifierNode, a arg) {
	if !a.piece.Included() || laysOut[fn.Ident] {
		return
	}
	parts := a.piece.Parts()
	for _, p := range parts {
		if h, ok := p.(*printed); ok && len(parts) > 1 {
			w.inText(h, w.sketch.Place(h.tree, h.node))
		}
	}
}

// laysOut are the functions that keep an include what it is.
var laysOut = map[string]bool{
	"indent": true, "nindent": true, "trim": true, "trimSuffix": true, "default": true, "required": true, "fromYaml": true, "fromYamlArray": true,
	"fromJson": true, "fromJsonArray": true, "mustFromJson": true, "dict": true, "list": true, "include": true, "ternary": true,
}
