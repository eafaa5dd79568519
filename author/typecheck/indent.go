package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// evalQuote returns the value of a call of quote or squote.
func evalQuote(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := valueFrom(signature.String, args)
	nilable := len(args) > 0
	for _, a := range args {
		nilable = nilable && a.can&signature.Nil != 0
	}
	if nilable && len(args) > 0 {
		out.can |= signature.Nil
	}
	if len(args) == 1 {
		out.longest, out.shortest = args[0].maxLength(), args[0].shortest
		if args[0].free && !args[0].exact {
			out.can = signature.String
		}
		if text, ok := args[0].constant.(string); ok && args[0].known {
			out.known, out.constant = true, text
		}
	}
	return out
}

// evalTrim returns the value of a call that trims blanks from the text of an include.
func evalTrim(w *path, fn *parse.IdentifierNode, args []arg) *val {
	last := args[len(args)-1]
	if last.piece == nil {
		return nil
	}
	cut := " \t\r\n"
	if fn.Ident == "trimSuffix" {
		cut = "\n"
	}
	return last.withPiece(last.piece.Trim(cut))
}

// evalIndent returns the value of a call of indent or nindent. It lays out what include and toYaml
// return, and keeps any other text as it is.
func evalIndent(w *path, fn *parse.IdentifierNode, args []arg) *val {
	n, ok := args[0].constant.(int64)
	if !ok || n < 0 || n > 200 {
		return nil
	}
	given := args[1]
	if given.piece == nil {
		h := &printed{v: w.evalResult(fn, signatureOf(fn), args), node: w.argNode(fn, given), tree: w.frame.tree, called: w.frame.called}
		if h.v.known || h.v.can == 0 {
			return nil
		}
		piece := w.sketch.Laid(template.Standin{Value: h})
		given.val = h.v
		given.val = given.withPiece(piece)
	}
	return given.withPiece(w.sketch.Indent(*given.piece, int(n), fn.Ident == "nindent"))
}
