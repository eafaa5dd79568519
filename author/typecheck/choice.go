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
	return again(w, args, defaulted)
}

// mostRemakes bounds how deep values are made again of one another.
const mostRemakes = 4

// again is what remake makes of arguments, each time with what is known of them.
func again(w *path, args []arg, remake func(*path, []arg) *val) *val {
	out := *remake(w, args)
	out.remakes = 0
	for _, a := range args {
		out.remakes = max(out.remakes, a.remakes+1)
	}
	if out.remake = nil; out.piece == nil && out.remakes <= mostRemakes {
		out.remake = func(w *path) *val {
			now := slices.Clone(args)
			for i, a := range args {
				now[i].val = w.known(a.val)
			}
			return remake(w, now)
		}
	}
	return &out
}

func defaulted(w *path, args []arg) *val {
	fallback, v := args[0], args[1]
	yes, no := v.truth()
	switch {
	case !no:
		return v.val
	case !yes:
		return fallback.val
	}
	return w.mixed(join(fallback.plain(), v.truthy()), args).entries(v, fallback)
}

// encodedOr is what toYaml or the like gives, or what stands in for nothing.
func encodedOr(v, fallback arg) *val {
	h, ok := v.piece.Parts()[0].(*printed)
	if !ok || h.v.can&signature.Nil == 0 {
		return v.val
	}
	other := *h
	other.v = join(h.v.as(^signature.Nil), fallback.plain())
	piece := v.piece.With(&other)
	out := *v.val
	out.piece = &piece
	return &out
}

// plain is an argument that may be taken for another: toYaml prints nothing for
// what is absent.
func (a arg) plain() *val {
	if a.piece == nil || a.piece.Included() {
		return a.val
	}
	if h, ok := a.piece.Parts()[0].(*printed); ok && h.v.can&signature.Nil != 0 {
		return a.val.maybe()
	}
	return a.val
}

// mixed is one of the arguments, with a name of its own.
func (w *path) mixed(v *val, args []arg) *val {
	out := *v
	out.id, out.parent, out.exact, out.read, out.path, out.known, out.constant = "", "", false, "", "", false, nil
	out.sources, out.way = bothSources(v.sources, sourcesOf(args)), anyPath(args)
	return &out
}

func ifNil(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return again(w, args, notNil)
}

func notNil(w *path, args []arg) *val {
	fallback, v := args[0], args[1]
	switch {
	case v.nothing():
		return fallback.val
	case v.can&signature.Nil == 0:
		return v.val
	}
	return w.mixed(join(fallback.plain(), v.as(^signature.Nil)), args).entries(v, fallback)
}

func coalesce(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return again(w, args, coalesced)
}

func coalesced(w *path, args []arg) *val {
	out := ofKinds(0)
	for _, a := range args {
		if a.piece != nil && a.piece.Included() { // as default takes it
			return w.mixed(either(out, a.val), args)
		}
		yes, no := a.truth()
		if yes {
			out = join(out, a.truthy())
		}
		if !no {
			return w.mixed(out, args)
		}
	}
	return w.mixed(join(out, ofKinds(signature.Nil)), args)
}

func ternary(w *path, fn *parse.IdentifierNode, args []arg) *val {
	return again(w, args, chosen)
}

func chosen(w *path, args []arg) *val {
	yes, no := args[2].truth()
	switch {
	case !no:
		return args[0].val
	case !yes:
		return args[1].val
	}
	return w.mixed(either(args[0].plain(), args[1].plain()), args)
}

// either is one or the other; where one is the text of an include, it is that:
// what is found of it holds whenever it is taken.
func either(a, b *val) *val {
	out := join(a, b)
	for _, v := range []*val{a, b} {
		if out.piece == nil && v != nil && v.piece != nil && v.piece.Included() {
			copied := *out
			copied.piece, copied.label = v.piece, v.label
			out = &copied
		}
	}
	return out
}
