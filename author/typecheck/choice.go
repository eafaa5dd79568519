package typecheck

import (
	"slices"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

func orDefault(w *path, fn *parse.IdentifierNode, args []arg) *val {
	fallback, v := args[0], args[1]
	w.falsyDefault(fn, fallback, v)
	switch {
	case v.piece != nil && v.piece.Included():
		return v.val
	case v.piece != nil:
		return encodedOr(v, fallback)
	}
	return makeRemakable(w, args, defaultValue)
}

// mostRemakes bounds how deep values are made again of one another.
const mostRemakes = 4

// makeRemakable returns the value that remake makes of the arguments. The value is made again when
// more is known of them.
func makeRemakable(w *path, args []arg, remake func(*path, []arg) *val) *val {
	out := *remake(w, args)
	out.remakes = 0
	for _, a := range args {
		out.remakes = max(out.remakes, a.remakes+1)
	}
	if out.remake = nil; out.piece == nil && out.remakes <= mostRemakes {
		out.remake = func(w *path) *val {
			now := slices.Clone(args)
			for i, a := range args {
				now[i].val = w.applyFacts(a.val)
			}
			return remake(w, now)
		}
	}
	return &out
}

// defaultValue returns the value of default for these arguments.
func defaultValue(w *path, args []arg) *val {
	fallback, v := args[0], args[1]
	yes, no := v.possibleTruth()
	switch {
	case !no:
		return v.val
	case !yes:
		return fallback.val
	}
	return w.mixArgs(joinValues(fallback.plainValue(), v.narrowTruthy()), args).keepEntriesOf(v, fallback)
}

// encodedOr is what toYaml or the like gives, or what stands in for nothing.
func encodedOr(v, fallback arg) *val {
	h, ok := v.piece.Parts()[0].(*printed)
	if !ok || h.v.can&signature.Nil == 0 {
		return v.val
	}
	other := *h
	other.v = joinValues(h.v.keepKinds(^signature.Nil), fallback.plainValue())
	piece := v.piece.With(&other)
	out := *v.val
	out.piece = &piece
	return &out
}

// plainValue returns the value of an argument that a function may return. toYaml prints nothing for
// an absent value, so its text may be absent.
func (a arg) plainValue() *val {
	if a.piece == nil || a.piece.Included() {
		return a.val
	}
	if h, ok := a.piece.Parts()[0].(*printed); ok && h.v.can&signature.Nil != 0 {
		return a.val.allowAbsent()
	}
	return a.val
}

// mixArgs returns a value that is one of the arguments, without a name.
func (w *path) mixArgs(v *val, args []arg) *val {
	out := *v
	out.id, out.parent, out.exact, out.read, out.path, out.known, out.constant = "", "", false, "", "", false, nil
	out.sources, out.way = bothSources(v.sources, sourcesOf(args)), anyPath(args)
	return &out
}

func ifNil(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return makeRemakable(w, args, notNil)
}

func notNil(w *path, args []arg) *val {
	fallback, v := args[0], args[1]
	switch {
	case v.isAbsent():
		return fallback.val
	case v.can&signature.Nil == 0:
		return v.val
	}
	return w.mixArgs(joinValues(fallback.plainValue(), v.keepKinds(^signature.Nil)), args).keepEntriesOf(v, fallback)
}

// evalCoalesce returns the value of a call of coalesce.
func evalCoalesce(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return makeRemakable(w, args, coalesceValues)
}

// coalesceValues joins the arguments up to the first that surely counts as true.
func coalesceValues(w *path, args []arg) *val {
	out := ofKinds(0)
	for _, a := range args {
		if a.piece != nil && a.piece.Included() { // as default takes it
			return w.mixArgs(joinEither(out, a.val), args)
		}
		yes, no := a.possibleTruth()
		if yes {
			out = joinValues(out, a.narrowTruthy())
		}
		if !no {
			return w.mixArgs(out, args)
		}
	}
	return w.mixArgs(joinValues(out, ofKinds(signature.Nil)), args)
}

// evalTernary returns the value of a call of ternary.
func evalTernary(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return makeRemakable(w, args, chooseValue)
}

// chooseValue returns the value of ternary for these arguments.
func chooseValue(w *path, args []arg) *val {
	yes, no := args[2].possibleTruth()
	switch {
	case !no:
		return args[0].val
	case !yes:
		return args[1].val
	}
	return w.mixArgs(joinEither(args[0].plainValue(), args[1].plainValue()), args)
}

// joinEither returns one value or the other. If one is the text of an include, the result is that
// text. What is found in the text is true whenever it is taken.
func joinEither(a, b *val) *val {
	out := joinValues(a, b)
	for _, v := range []*val{a, b} {
		if out.piece == nil && v != nil && v.piece != nil && v.piece.Included() {
			copied := *out
			copied.piece, copied.label = v.piece, v.label
			out = &copied
		}
	}
	return out
}
