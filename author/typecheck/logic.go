package typecheck

import (
	"fmt"
	"math/bits"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// evalLogic returns the value of a call of and or or. An argument is evaluated only if those before
// it do not decide.
func (w *path) evalLogic(fn *parse.IdentifierNode, nodes []parse.Node, piped *arg) *val {
	and := fn.Ident == "and"
	before := w.facts.currentMark()
	out := ofKinds(0)
	var args []arg
	for i := range len(nodes) + 1 {
		var a arg
		switch {
		case i < len(nodes):
			a = arg{nodes[i], w.evalOperand(nodes[i])}
		case piped != nil:
			a = *piped
		default:
			continue
		}
		if w.over {
			return anyValue()
		}
		if w.ends != "" && i > 0 { // the way goes on where it was not come to
			w.ends, w.frame.stopped = "", nil
			w.facts.revertFacts(before)
			if len(args) == 1 {
				w.assumeArg(args[0], !and)
			}
			return w.applyFacts(args[len(args)-1].val)
		}
		if w.ends != "" {
			return anyValue()
		}
		args = append(args, a)
		yes, no := a.possibleTruth()
		last := i == len(nodes)-1 && piped == nil || i == len(nodes)
		switch {
		case last:
			out = joinValues(out, a.plainValue())
		case and && no:
			out = joinValues(out, a.plainValue().narrowFalsy())
		case !and && yes:
			out = joinValues(out, a.plainValue().narrowTruthy())
		}
		if and && !yes || !and && !no {
			break
		}
		w.assumeArg(a, and)
	}
	w.facts.revertFacts(before)
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

// narrowTruthy returns the value where it counts as true.
func (v *val) narrowTruthy() *val {
	return fact{can: signature.Any, truth: 1, way: v.way}.narrowValue(v)
}

// narrowFalsy returns the value where it counts as false.
func (v *val) narrowFalsy() *val {
	return fact{can: signature.Any, truth: -1, way: v.way}.narrowValue(v)
}

// evalEqual returns the value of a call of eq or ne.
func evalEqual(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := ofKinds(signature.Bool)
	out.sources, out.way = dropHidden(fn, signature.Bool, sourcesOf(args)), anyPath(args)
	if w.areKnown(args) {
		if v := w.foldCall(fn, signatureOf(fn), args); v != nil {
			return v
		}
	}
	never, always := true, false
	for _, b := range args[1:] {
		n, way := w.areNeverEqual(args[0].val, b.val)
		never = never && n
		out.way = out.way || way
		always = always || args[0].known && b.known && formatConstant(args[0].constant) == formatConstant(b.constant)
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

// areKnown reports whether all arguments are known constants.
func (w *path) areKnown(args []arg) bool {
	for _, a := range args {
		if !a.known {
			return false
		}
	}
	return true
}

// areNeverEqual reports whether two values are never equal, and whether that holds on this path
// only.
func (w *path) areNeverEqual(a, b *val) (differ, way bool) {
	if b.known {
		a, b = b, a
	}
	if !a.known {
		return false, false
	}
	if b.known {
		return formatConstant(a.constant) != formatConstant(b.constant), a.way || b.way
	}
	if a.constant == nil {
		return b.can != 0 && b.can&signature.Nil == 0, b.way
	}
	if b.isAbsent() {
		return true, b.way
	}
	f := w.facts.known[b.id]
	if b.id != "" && hasValue(f.not, a.constant) {
		return true, f.way
	}
	there := *b
	there.can &^= signature.Nil
	enum := f.filterEnum(there.enumValues())
	if f.among != nil && enum == nil {
		enum = f.among
	}
	return len(enum) > 0 && !hasValue(enum, a.constant), b.way || f.way
}

// evalOrdered returns the value of a call of lt, le, gt or ge of numbers whose bounds decide.
func evalOrdered(w *path, fn *parse.IdentifierNode, args []arg) *val {
	if w.areKnown(args) {
		if v := w.foldCall(fn, signatureOf(fn), args); v != nil {
			return v
		}
	}
	out := ofKinds(signature.Bool)
	out.sources, out.way = dropHidden(fn, signature.Bool, sourcesOf(args)), anyPath(args)
	a, b := args[0].val, args[1].val
	if fn.Ident == "lt" || fn.Ident == "le" {
		a, b = b, a
	}
	strict := fn.Ident == "gt" || fn.Ident == "lt"
	aLeast, aMost := a.numberBounds()
	bLeast, bMost := b.numberBounds()
	switch { // a > b or a >= b
	case aLeast != nil && bMost != nil && (*aLeast > *bMost || !strict && *aLeast == *bMost):
		out.known, out.constant = true, true
	case aMost != nil && bLeast != nil && (*aMost < *bLeast || strict && *aMost == *bLeast):
		out.known, out.constant = true, false
	}
	return out
}

// numberBounds returns the bounds of a number.
func (v *val) numberBounds() (least, most *float64) {
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

// isOneKind reports whether there is only one kind. Numbers count as one.
func isOneKind(k signature.Kinds) bool {
	return k == signature.Number || bits.OnesCount8(uint8(k)) == 1
}

// areComparable reports whether values can be compared, and adds a finding if they cannot.
func (w *path) areComparable(fn *parse.IdentifierNode, args []arg) bool {
	group := func(k signature.Kinds) signature.Kinds {
		if k&signature.Number != 0 {
			k |= signature.Number
		}
		return k &^ signature.Nil
	}
	for _, b := range args[1:] {
		x, y := group(args[0].can), group(b.can)
		a := args[0]
		if sure := !a.free && !b.free && x != 0 && y != 0; sure && (x != y || !isOneKind(x)) && x&y != 0 {
			w.addFinding(ArgumentType, fn, fmt.Sprintf("%s compares values of one kind, and %s is %s, %s is %s: ask with kindIs", fn.Ident,
				w.describeValue(w.argNode(fn, a), a.val), x, w.describeValue(w.argNode(fn, b), b.val), y))
			return false
		}
		if x != 0 && y != 0 && x&y == 0 {
			w.addFinding(ArgumentType, fn, fmt.Sprintf("%s cannot compare %s, %s, with %s, %s", fn.Ident,
				w.describeValue(w.argNode(fn, a), a.val), a.can&^signature.Nil,
				w.describeValue(w.argNode(fn, b), b.val), b.can&^signature.Nil))
			return false
		}
	}
	return true
}
