package typecheck

import (
	"fmt"
	"math/bits"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// logic is and or or: what follows an argument is evaluated only where that
// one does not decide.
func (w *path) logic(fn *parse.IdentifierNode, nodes []parse.Node, piped *arg) *val {
	and := fn.Ident == "and"
	before := w.facts.mark()
	out := ofKinds(0)
	var args []arg
	for i := range len(nodes) + 1 {
		var a arg
		switch {
		case i < len(nodes):
			a = arg{nodes[i], w.operand(nodes[i])}
		case piped != nil:
			a = *piped
		default:
			continue
		}
		if w.over {
			return anything()
		}
		if w.ends != "" && i > 0 { // the way goes on where it was not come to
			w.ends, w.frame.stopped = "", nil
			w.facts.back(before)
			if len(args) == 1 {
				w.assumeArg(args[0], !and)
			}
			return w.known(args[len(args)-1].val)
		}
		if w.ends != "" {
			return anything()
		}
		args = append(args, a)
		yes, no := a.truth()
		last := i == len(nodes)-1 && piped == nil || i == len(nodes)
		switch {
		case last:
			out = join(out, a.plain())
		case and && no:
			out = join(out, a.plain().falsy())
		case !and && yes:
			out = join(out, a.plain().truthy())
		}
		if and && !yes || !and && !no {
			break
		}
		w.assumeArg(a, and)
	}
	w.facts.back(before)
	w.args[fn] = args
	result := *out
	result.way = anyPath(args)
	result.sources = sourcesOf(args)
	result.id, result.parent, result.exact = "", "", false
	if len(args) == 1 {
		return args[0].val
	}
	return &result
}

// truthy is the value where it counts as true.
func (v *val) truthy() *val { return fact{can: signature.Any, truth: 1, way: v.way}.narrow(v) }

// falsy is the value where it counts as false.
func (v *val) falsy() *val { return fact{can: signature.Any, truth: -1, way: v.way}.narrow(v) }

// equal is eq and ne.
func equal(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.Bool)
	out.sources, out.way = open(fn, signature.Bool, sourcesOf(args)), anyPath(args)
	if w.assignable(args) {
		if v := w.fold(fn, signatureOf(fn), args); v != nil {
			return v
		}
	}
	never, always := true, false
	for _, b := range args[1:] {
		n, way := w.differ(args[0].val, b.val)
		never = never && n
		out.way = out.way || way
		always = always || args[0].known && b.known && show(args[0].constant) == show(b.constant)
	}
	if never || always {
		out.known, out.constant = true, always == (fn.Ident == "eq")
	}
	return out
}

func signatureOf(fn *parse.IdentifierNode) signature.Signature {
	sig, _ := signature.ForFunction(fn.Ident)
	return sig
}

func (w *path) assignable(args []arg) bool {
	for _, a := range args {
		if !a.known {
			return false
		}
	}
	return true
}

// differ reports whether two values are never equal, and whether that holds on
// this path only.
func (w *path) differ(a, b *val) (differ, way bool) {
	if b.known {
		a, b = b, a
	}
	if !a.known {
		return false, false
	}
	if b.known {
		return show(a.constant) != show(b.constant), a.way || b.way
	}
	if a.constant == nil {
		return b.can != 0 && b.can&signature.Nil == 0, b.way
	}
	if b.nothing() {
		return true, b.way
	}
	f := w.facts.known[b.id]
	if b.id != "" && has(f.not, a.constant) {
		return true, f.way
	}
	there := *b
	there.can &^= signature.Nil
	enum := f.left(there.enum())
	if f.among != nil && enum == nil {
		enum = f.among
	}
	return len(enum) > 0 && !has(enum, a.constant), b.way || f.way
}

// ordered is lt, le, gt and ge of numbers whose bounds decide.
func ordered(w *path, fn *parse.IdentifierNode, args []arg) *val {
	if w.assignable(args) {
		if v := w.fold(fn, signatureOf(fn), args); v != nil {
			return v
		}
	}
	out := ofKinds(signature.Bool)
	out.sources, out.way = open(fn, signature.Bool, sourcesOf(args)), anyPath(args)
	a, b := args[0].val, args[1].val
	if fn.Ident == "lt" || fn.Ident == "le" {
		a, b = b, a
	}
	strict := fn.Ident == "gt" || fn.Ident == "lt"
	aLeast, aMost := a.bounded()
	bLeast, bMost := b.bounded()
	switch { // a > b or a >= b
	case aLeast != nil && bMost != nil && (*aLeast > *bMost || !strict && *aLeast == *bMost):
		out.known, out.constant = true, true
	case aMost != nil && bLeast != nil && (*aMost < *bLeast || strict && *aMost == *bLeast):
		out.known, out.constant = true, false
	}
	return out
}

// bounded are the bounds of a number.
func (v *val) bounded() (least, most *float64) {
	if !v.known {
		if v.least != nil && *v.least == tiny {
			return nil, v.most
		}
		return v.least, v.most
	}
	var n float64
	switch k := v.constant.(type) {
	case int64:
		n = float64(k)
	case float64:
		n = k
	default:
		return nil, nil
	}
	return &n, &n
}

// one reports whether there is but one kind, numbers being one.
func one(k signature.Kinds) bool {
	return k == signature.Number || bits.OnesCount8(uint8(k)) == 1
}

// alike says that two values cannot be compared.
func (w *path) alike(fn *parse.IdentifierNode, args []arg) bool {
	group := func(k signature.Kinds) signature.Kinds {
		if k&signature.Number != 0 {
			k |= signature.Number
		}
		return k &^ signature.Nil
	}
	for _, b := range args[1:] {
		x, y := group(args[0].can), group(b.can)
		a := args[0]
		if sure := !a.free && !b.free && x != 0 && y != 0; sure && (x != y || !one(x)) && x&y != 0 {
			w.find(WrongType, fn, fmt.Sprintf("%s compares values of one kind, and %s is %s, %s is %s: ask with kindIs", fn.Ident,
				w.called(w.at(fn, a), a.val), x, w.called(w.at(fn, b), b.val), y))
			return false
		}
		if x != 0 && y != 0 && x&y == 0 {
			w.find(WrongType, fn, fmt.Sprintf("%s cannot compare %s, %s, with %s, %s", fn.Ident, w.called(w.at(fn, a), a.val), a.can&^signature.Nil,
				w.called(w.at(fn, b), b.val), b.can&^signature.Nil))
			return false
		}
	}
	return true
}
