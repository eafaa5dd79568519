package kind

import (
	"slices"
	"strings"
	"text/template/parse"
)

// An assumption is what a condition says of a path where the walk is.
type assumption struct {
	path string
	// isThere reports that the value at path counts as true. Otherwise it is not known
	// what the condition says of it.
	isThere bool
	// isKept reports that something also holds behind the side of the branch.
	isKept bool
}

// assumptions are those of the conditions around the walk, and before it.
type assumptions []assumption

// asKept returns the assumptions as they hold behind a branch.
func (a assumptions) asKept() assumptions {
	all := slices.Clone(a)
	for i := range all {
		all[i].isKept = true
	}
	return all
}

// assumeAll returns assumptions of some paths.
func assumeAll(paths []string, areThere bool) (all assumptions) {
	for _, path := range paths {
		all = append(all, assumption{path: path, isThere: areThere})
	}
	return all
}

// leaveSide drops what was assumed since known. What was kept is not known behind the
// side, since it holds only for those who took it.
func (a *assumptions) leaveSide(known int) {
	inner := slices.Clone((*a)[known:])
	*a = (*a)[:known]
	for _, one := range inner {
		if one.isKept {
			*a = append(*a, assumption{path: one.path, isKept: true})
		}
	}
}

// mayDecide reports whether the assumptions may say something of the value at path.
func (a assumptions) mayDecide(path string) bool {
	return slices.ContainsFunc(a, func(one assumption) bool {
		return isPathOf(one.path, path) || !one.isThere && isPathOf(path, one.path)
	})
}

// isPathOf reports whether path is whole, or one of its fields. What is known of a list
// says nothing of its items, and the other way round.
func isPathOf(path, whole string) bool {
	rest, found := strings.CutPrefix(path, whole)
	return found && (whole == "" || rest == "" || rest[0] == '.') && !strings.Contains(rest, "[]")
}

// mayLack reports whether conditions may say that the value is absent.
func (c *fieldContext) mayLack(v fieldValue) bool {
	return slices.ContainsFunc(c.assumptions, func(one assumption) bool {
		return isPathOf(v.path, one.path) && !one.isThere
	})
}

// mayBeAbsent reports whether the value is nil for some resource.
func (c *fieldContext) mayBeAbsent(v fieldValue) bool {
	return v.typ.Nullable() || slices.ContainsFunc(v.optional, func(part string) bool {
		return !slices.ContainsFunc(c.assumptions, func(one assumption) bool { return isPathOf(one.path, part) })
	})
}

// A chance is what is known of one side of a condition.
type chance int

const (
	neverTaken  chance = iota // no resource takes it, or that may be so
	maybeTaken                // the condition is not understood
	surelyTaken               // some resource takes it
)

func chanceOf(isTaken bool) chance {
	if isTaken {
		return surelyTaken
	}
	return neverTaken
}

// sidesOf returns the chances that a condition holds and that it fails.
func (c *fieldContext) sidesOf(node parse.Node) (holds, fails chance) {
	fn, args := callIn(node)
	if fn == nil {
		return c.sidesOfValue(c.valueOf(node))
	}
	if value := sameTruth(fn, args); value != nil {
		return c.sidesOf(value)
	}
	switch {
	case (fn.Ident == "not" || fn.Ident == "empty") && len(args) == 1:
		fails, holds = c.sidesOf(args[0])
		return holds, fails
	case fn.Ident == "and":
		return c.sidesOfAll(args, true)
	case fn.Ident == "or":
		fails, holds = c.sidesOfAll(args, false)
		return holds, fails
	case fn.Ident == "eq" && len(args) == 2:
		return c.sidesOfEqual(args)
	case fn.Ident == "ne" && len(args) == 2:
		fails, holds = c.sidesOfEqual(args)
		return holds, fails
	case slices.Contains([]string{"contains", "hasPrefix", "hasSuffix", "regexMatch", "has", "gt", "ge", "lt", "le"}, fn.Ident):
		if areOpen, isAny := c.areOpen(args); areOpen && isAny {
			return surelyTaken, surelyTaken
		}
	}
	return c.sidesOfValue(c.valueOf(node))
}

// sidesOfValue are the sides of a condition that is a value itself.
func (c *fieldContext) sidesOfValue(v fieldValue) (holds, fails chance) {
	switch {
	case len(v.madeOf()) == 0:
		return neverTaken, neverTaken
	case !v.isKnown:
		return maybeTaken, maybeTaken
	}
	holds, fails = chanceOf(v.mayBeFull()), chanceOf(v.mayBeEmpty() || c.mayBeAbsent(v))
	if c.assumptions.mayDecide(v.path) {
		return min(holds, maybeTaken), min(fails, maybeTaken)
	}
	return holds, fails
}

// sidesOfAll returns the chances that all of some conditions hold, and that one of them
// fails; or, unless areToHold, the same of their opposites.
func (c *fieldContext) sidesOfAll(args []parse.Node, areToHold bool) (all, notAll chance) {
	known := len(c.assumptions)
	defer func() { c.assumptions = c.assumptions[:known] }()
	all = surelyTaken
	for _, arg := range args {
		one, other := c.sidesOf(arg)
		if !areToHold {
			one, other = other, one
		}
		all, notAll = min(all, one), max(notAll, other)
		c.assumptions = append(c.assumptions, c.assumptionsOf(arg, areToHold)...)
	}
	return all, notAll
}

// sidesOfEqual are the sides of eq with a value and a literal, or with two values.
func (c *fieldContext) sidesOfEqual(args []parse.Node) (holds, fails chance) {
	if isLiteral(args[0]) {
		args = []parse.Node{args[1], args[0]}
	}
	v, enum := c.valueOf(args[0]), c.valueOf(args[0]).typ.Enum()
	areOpen, isAny := c.areOpen(args)
	text, _ := withoutPipe(args[1]).(*parse.StringNode)
	_, isNil := withoutPipe(args[1]).(*parse.NilNode)
	switch {
	case !areOpen || !isAny || len(enum) > 0 && text == nil && !isNil:
		return maybeTaken, maybeTaken
	case isNil:
		return chanceOf(c.mayBeAbsent(v)), surelyTaken
	case len(enum) == 0:
		return surelyTaken, surelyTaken
	}
	return chanceOf(slices.Contains(enum, any(text.Text))), chanceOf(len(enum) > 1 || enum[0] != any(text.Text) || c.mayBeAbsent(v))
}

// areOpen reports whether the arguments that are not literals are paths of whose values
// nothing is known, and whether there are any.
func (c *fieldContext) areOpen(args []parse.Node) (areOpen, isAny bool) {
	areOpen = true
	for _, arg := range args {
		if isLiteral(arg) {
			continue
		}
		v := c.valueOf(arg)
		_, isBounded := v.typ.Minimum()
		_, isLimited := v.typ.Maximum()
		isAny = true
		areOpen = areOpen && v.isKnown && !isBounded && !isLimited && !c.assumptions.mayDecide(v.path)
	}
	return areOpen, isAny
}

// assumptionsOf returns what a condition says of paths if it holds, or if it fails.
func (c *fieldContext) assumptionsOf(node parse.Node, holds bool) (all assumptions) {
	fn, args := callIn(node)
	value := c.valueOf(node)
	switch {
	case fn == nil:
	case sameTruth(fn, args) != nil:
		return c.assumptionsOf(sameTruth(fn, args), holds)
	case (fn.Ident == "not" || fn.Ident == "empty") && len(args) == 1:
		return c.assumptionsOf(args[0], !holds)
	case fn.Ident == "and" && holds, fn.Ident == "or" && !holds:
		for _, arg := range args {
			all = append(all, c.assumptionsOf(arg, holds)...)
		}
		return all
	default:
		all = assumeAll(c.pathsIn(node), false)
	}
	return append(all, assumeAll(value.madeOf(), holds && value.isKnown)...)
}

// sameTruth returns an argument that counts as true exactly where the call does; nil if
// there is none.
func sameTruth(fn *parse.IdentifierNode, args []parse.Node) parse.Node {
	switch {
	case fn.Ident == "len" && len(args) == 1:
		return args[0]
	case len(args) != 2:
		return nil
	case (fn.Ident == "default" || fn.Ident == "ifNil") && isEmptyLiteral(args[0]):
		return args[1]
	case fn.Ident == "gt" && isEmptyLiteral(args[1]):
		if inner, counted := callIn(args[0]); inner != nil && inner.Ident == "len" && len(counted) == 1 {
			return counted[0]
		}
	}
	return nil
}

// isEmptyLiteral reports whether a node is a literal that counts as false.
func isEmptyLiteral(node parse.Node) bool {
	switch n := withoutPipe(node).(type) {
	case *parse.BoolNode:
		return !n.True
	case *parse.StringNode:
		return n.Text == ""
	case *parse.NumberNode:
		return n.IsInt && n.Int64 == 0
	}
	return false
}

// isLiteral reports whether a node is a literal.
func isLiteral(node parse.Node) bool {
	switch withoutPipe(node).(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return true
	}
	return false
}
