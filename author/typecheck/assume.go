package typecheck

import (
	"regexp"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// assumeCondition learns from a condition that counts as true, or as false.
func (w *path) assumeCondition(p *parse.PipeNode, v *val, truth bool) {
	w.assumeCommand(p.Cmds[len(p.Cmds)-1], v, truth)
}

func (w *path) assumeArg(a arg, truth bool) {
	switch n := a.node.(type) {
	case *parse.PipeNode:
		w.assumeCondition(n, a.val, truth)
	case *parse.CommandNode:
		w.assumeCommand(n, a.val, truth)
	case *parse.IdentifierNode:
		w.assumeCall(n, a.val, truth)
	default:
		w.recordTruth(a.val, truth)
	}
}

func (w *path) assumeCommand(cmd *parse.CommandNode, v *val, truth bool) {
	switch n := cmd.Args[0].(type) {
	case *parse.IdentifierNode:
		w.assumeCall(n, v, truth)
	case *parse.PipeNode:
		w.assumeCondition(n, v, truth)
	default:
		w.recordTruth(v, truth)
	}
}

// recordTruth records that a value counts as true or as false.
func (w *path) recordTruth(v *val, truth bool) {
	w.learnFact(v, func(f *fact) {
		if f.truth = -1; truth {
			f.truth = 1
			f.can &^= signature.Nil
		}
	})
}

func (w *path) assumeCall(fn *parse.IdentifierNode, v *val, truth bool) {
	args := w.args[fn]
	if learn := lessons[fn.Ident]; learn != nil && len(args) > 0 {
		learn(w, args, truth)
	}
	w.recordTruth(v, truth)
}

type lesson func(w *path, args []arg, truth bool)

// lessons are what the truth of a call tells of its arguments.
var lessons map[string]lesson

func init() {
	lessons = map[string]lesson{
		"not":        func(w *path, args []arg, truth bool) { w.assumeArg(args[0], !truth) },
		"empty":      func(w *path, args []arg, truth bool) { w.assumeArg(args[0], !truth) },
		"and":        func(w *path, args []arg, truth bool) { w.assumeAll(args, truth, true) },
		"or":         func(w *path, args []arg, truth bool) { w.assumeAll(args, truth, false) },
		"all":        func(w *path, args []arg, truth bool) { w.assumeAll(args, truth, true) },
		"any":        func(w *path, args []arg, truth bool) { w.assumeAll(args, truth, false) },
		"eq":         func(w *path, args []arg, truth bool) { w.assumeEqual(args, truth) },
		"ne":         func(w *path, args []arg, truth bool) { w.assumeEqual(args, !truth) },
		"has":        assumeHas,
		"hasKey":     assumeKey,
		"kindIs":     assumeKind,
		"typeIs":     assumeKind,
		"typeIsLike": assumeKind,
		"len":        func(w *path, args []arg, truth bool) { w.recordTruth(args[0].val, truth) },
		"default":    assumeChoice,
		"ifNil":      assumeChoice,
		"regexMatch": assumePart, "mustRegexMatch": assumePart, "contains": assumePart, "hasPrefix": assumePart, "hasSuffix": assumePart,
		"gt": assumeOrder(false, true), "ge": assumeOrder(false, false), "lt": assumeOrder(true, true), "le": assumeOrder(true, false),
	}
}

// assumeAll learns from and (every) or or: of all arguments, or of the one that
// the others leave.
func (w *path) assumeAll(args []arg, truth, every bool) {
	if truth == every {
		for _, a := range args {
			w.assumeArg(a, truth)
		}
		return
	}
	var open []arg
	for _, a := range args {
		yes, no := w.applyFacts(a.val).possibleTruth()
		if truth && yes || !truth && no {
			open = append(open, a)
		}
	}
	if len(open) == 1 {
		w.assumeArg(open[0], truth)
	}
}

// assumeEqual learns that the first argument is one of the others, or none.
func (w *path) assumeEqual(args []arg, truth bool) {
	if len(args) == 2 && args[0].known {
		args = []arg{args[1], args[0]}
	}
	var values []any
	for _, a := range args[1:] {
		if !a.known {
			return
		}
		values = append(values, a.constant)
	}
	w.oneOfThese(args[0], values, truth)
	counts := args[0].isSurely(signature.Int) && hasValue(values, int64(0)) || args[0].isSurely(signature.String) && hasValue(values, "")
	if args[0].can&signature.Nil == 0 {
		switch {
		case counts && (!truth || len(values) == 1):
			w.assumeArg(args[0], !truth)
		case truth && allTruthy(values):
			w.assumeArg(args[0], true)
		}
	}
}

func (w *path) oneOfThese(a arg, values []any, truth bool) {
	w.learnFact(a.val, func(f *fact) {
		if truth {
			var can signature.Kinds
			for _, v := range values {
				can |= signature.KindsOf(v)
			}
			if can&signature.Number != 0 {
				can |= signature.Number
			}
			f.can &= can
			f.among = values
			if allTruthy(values) {
				f.truth = 1
			}
			return
		}
		f.not = append(f.not[:len(f.not):len(f.not)], values...)
		if hasValue(values, nil) {
			f.can &^= signature.Nil
		}
	})
}

func assumeHas(w *path, args []arg, truth bool) {
	if len(args) < 2 {
		return
	}
	if values := args[1].literals; values != nil {
		w.oneOfThese(args[0], values, truth)
	}
}

func assumeKey(w *path, args []arg, truth bool) {
	name, ok := args[len(args)-1].constant.(string)
	if len(args) < 2 || !ok {
		return
	}
	f, found := args[0].findField(name)
	if !found || f == nil {
		return
	}
	f = w.applyFacts(f)
	w.learnFact(f, func(x *fact) {
		if truth {
			x.can &^= signature.Nil
		} else {
			x.can &= signature.Nil
		}
	})
}

func assumeKind(w *path, args []arg, truth bool) {
	name, _ := args[0].constant.(string)
	kinds, known := kindNames[name]
	if !known || len(args) < 2 {
		return
	}
	w.learnFact(args[1].val, func(f *fact) {
		if truth {
			f.can &= kinds
		} else {
			f.can &^= kinds
		}
	})
}

// assumeChoice: default and ifNil give something true only if their value is,
// where the fallback is not.
func assumeChoice(w *path, args []arg, truth bool) {
	if len(args) < 2 {
		return
	}
	yes, no := args[0].possibleTruth()
	if truth && !yes || !truth && !no {
		w.assumeArg(args[1], truth)
	}
}

// assumePart: a text that has a part which is not empty is not empty itself.
func assumePart(w *path, args []arg, truth bool) {
	part, ok := args[0].constant.(string)
	if !ok || !truth || len(args) < 2 || part == "" {
		return
	}
	if pattern, err := regexp.Compile(part); err == nil && !pattern.MatchString("") {
		w.assumeArg(args[1], true)
	}
}

// assumeOrder: what is compared is there, and a number that cannot be below 0
// counts as true where it is above.
func assumeOrder(swapped, strict bool) lesson {
	return func(w *path, args []arg, truth bool) {
		for _, a := range args {
			w.learnFact(a.val, func(f *fact) { f.can &^= signature.Nil })
		}
		greater, lesser := args[0], args[1]
		if swapped != !truth {
			greater, lesser = lesser, greater
		}
		w.assumeAbove(greater, lesser, strict == truth)
	}
}

// assumeAbove learns of two whole numbers which one is greater, or as great.
func (w *path) assumeAbove(greater, lesser arg, strict bool) {
	if least, _ := lesser.numberBounds(); lesser.known && greater.isSurely(signature.Int) && least != nil &&
		(*least > 0 || strict && *least == 0) {
		w.assumeArg(greater, true)
	}
	_, most := greater.numberBounds()
	least, _ := lesser.numberBounds()
	if greater.known && lesser.isSurely(signature.Int) && most != nil && least != nil && *least == 0 && (*most == 0 || strict && *most <= 1) {
		w.assumeArg(lesser, false)
	}
}
