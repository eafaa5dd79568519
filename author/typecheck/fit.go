package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// checkArgs checks the arguments of a call and returns whether they fit.
func (w *path) checkArgs(fn *parse.IdentifierNode, sig signature.Signature, args []arg) bool {
	fits := true
	params := w.callParams(fn, sig, args)
	for i, a := range args {
		p := params[i]
		there := a.can &^ signature.Nil
		switch {
		case a.can == 0:
		case there != 0 && there&p.Fits == 0:
			fits = false
			w.addFinding(ArgumentType, w.argNode(fn, a), fmt.Sprintf("%s needs %s here, and %s is %s", fn.Ident, p.Fits&^signature.Nil,
				w.describeValue(w.argNode(fn, a), a.val), there))
		case !a.free && there&^(p.Fits|p.Suspect) != 0:
			fits = false
			w.addFinding(ArgumentType, w.argNode(fn, a), fmt.Sprintf("%s needs %s here, and %s may be %s: ask with kindIs", fn.Ident,
				p.Fits&^signature.Nil,
				w.describeValue(w.argNode(fn, a), a.val), there&^(p.Fits|p.Suspect)))
		case fn.Ident == "select" && i == 2 && a.noSelector():
			w.addFinding(ArgumentType, w.argNode(fn, a), wantsSelector(w.argNode(fn, a).String()))
		case (p.Fits|p.Suspect)&signature.Nil == 0 && !a.canBeAbsent():
			w.recordMask(w.argNode(fn, a), a.val)
		case a.canBeAbsent() && (p.Fits|p.Suspect)&signature.Nil == 0:
			w.reportAbsent(w.argNode(fn, a), a.val, fmt.Sprintf("%s needs a value", fn.Ident))
		}
		if fn.Ident == "select" && i == 2 && !a.noSelector() {
			w.checkSelector(w.argNode(fn, a), a.val)
		}
		if a.piece != nil {
			w.checkIncluded(fn, a)
		}
	}
	if sig.Alike && fits {
		fits = w.areComparable(fn, args)
	}
	return fits
}

// selectorFields are what a selector of Pods is made of.
var selectorFields = []string{"matchLabels", "matchExpressions"}

// noSelector says that a map can be no selector: it has texts for values, or
// neither of its fields.
func (v *val) noSelector() bool {
	lacks := func(has func(string) bool) bool { return !slices.ContainsFunc(selectorFields, has) }
	switch {
	case v.closed:
		return len(v.fields) > 0 && lacks(func(name string) bool { return v.fields[name] != nil })
	case v.typ.Kind() == schema.KindFreeMap:
		return v.typ.Elem().Kind() == schema.KindString
	}
	return v.typ.Kind() == schema.KindObject && !v.typ.FreeForm() && lacks(func(name string) bool {
		_, found := v.typ.Field(name)
		return found
	})
}

// checkSelector finds a selector that a template makes and that a render refuses: one of nothing,
// or one with labels that may be absent.
func (w *path) checkSelector(n parse.Node, v *val) {
	if !v.closed {
		return
	}
	says := false
	for _, name := range selectorFields {
		f := v.fields[name]
		if f == nil {
			continue
		}
		says = says || !f.isVacant()
		if f.canBeAbsent() {
			w.reportAbsent(n, f, name+" cannot be nil")
			continue
		}
		for _, label := range sortedKeys(f.fields) {
			if value := f.fields[label]; value.canBeAbsent() {
				w.reportAbsent(n, value, "a label to select by cannot be nil")
			}
		}
	}
	if !says {
		w.addFinding(ArgumentType, n, "the selector is empty and would select everything, so a render refuses it: name at least one label")
	}
}

// isVacant reports whether a list or map surely has nothing in it.
func (v *val) isVacant() bool {
	yes, _ := v.possibleTruth()
	nothing := v.elem == nil || v.elem.can == 0
	return !yes || nothing && (v.can == signature.Map && v.closed && len(v.fields) == 0 || v.can == signature.List && v.elem != nil)
}

// wantsSelector says what to write instead of a map of labels.
func wantsSelector(written string) string {
	if whole, found := strings.CutSuffix(written, ".matchLabels"); found {
		return fmt.Sprintf("select wants the selector itself, not the labels in it: write %s", whole)
	}
	return "select wants a selector, with matchLabels or matchExpressions: to select by labels, write (dict \"matchLabels\" …)"
}

// callParams returns the parameters of a call. Those of printf follow its format.
func (w *path) callParams(fn *parse.IdentifierNode, sig signature.Signature, args []arg) []signature.Param {
	params := make([]signature.Param, len(args))
	for i := range args {
		params[i] = sig.Param(i, len(args))
	}
	if fn.Ident != "printf" || !args[0].known || args[0].can != signature.String {
		return params
	}
	format, _ := args[0].constant.(string)
	more, err := signature.FormatParams(format, len(args)-1)
	if err != nil {
		w.addFinding(ArgumentType, fn, err.Error())
		return params
	}
	copy(params[1:], more)
	return params
}

// argNode returns where an argument stands. A piped argument stands where the function does.
func (w *path) argNode(fn *parse.IdentifierNode, a arg) parse.Node {
	switch n := a.node.(type) {
	case nil:
		return fn
	case *parse.CommandNode:
		return n.Args[0]
	}
	return a.node
}

// canBeAbsent reports whether a value is known to be absent for at least one resource.
func (v *val) canBeAbsent() bool {
	return v.can&signature.Nil != 0 && (!v.free || v.exact && v.read == "")
}

// reportAbsent adds a finding that a value may be absent where that is an error.
func (w *path) reportAbsent(n parse.Node, v *val, what string) {
	said := "%s may be absent, and %s: give it a default, or leave this out with `if`"
	if v.isAbsent() && !v.way {
		said = "%s is absent, and %s: give it a default, or leave this out with `if`"
	}
	w.addFinding(Nil, n, fmt.Sprintf(said, w.describeValue(n, v), what))
}

// checkIncluded checks the values in the text of an include that is an argument.
func (w *path) checkIncluded(fn *parse.IdentifierNode, a arg) {
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
	"indent": true, "nindent": true, "trim": true, "trimSuffix": true, "default": true, "required": true, "fromYaml": true,
	"fromYamlArray": true,
	"fromJson":      true, "fromJsonArray": true, "mustFromJson": true, "dict": true, "list": true, "include": true, "ternary": true,
}
