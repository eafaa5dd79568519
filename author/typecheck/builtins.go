package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// A builtin returns what is known of a function's result beyond its signature, or nil if nothing
// is.
type builtin func(w *path, fn *parse.IdentifierNode, args []arg) *val

var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{
		"eq": evalEqual, "ne": evalEqual, "lt": evalOrdered, "le": evalOrdered, "gt": evalOrdered, "ge": evalOrdered,
		"not": evalNot, "empty": evalNot, "kindIs": kindIs, "typeIs": kindIs, "typeIsLike": kindIs, "hasKey": hasKey, "len": evalLength,
		"default": orDefault, "ifNil": ifNil, "coalesce": evalCoalesce, "ternary": evalTernary,
		"required": evalRequired, "fail": endPath("fail"), "wait": endPath("wait"),
		"dict": evalDict, "set": evalSet, "unset": evalOmit, "omit": evalOmit, "pick": evalPick, "merge": evalMerge, "mergeOverwrite": evalMerge,
		"get": evalGet, "index": evalIndex, "dig": evalDig, "list": evalList,
		"include": evalInclude, "quote": evalQuote, "squote": evalQuote, "trim": evalTrim, "trimSuffix": evalTrim,
		"indent": evalIndent, "nindent": evalIndent,
		"first": endItem("0"), "mustFirst": endItem("0"), "last": endItem("-1"), "mustLast": endItem("-1"),
		"append": evalFilled, "mustAppend": evalFilled, "push": evalFilled, "mustPush": evalFilled,
		"prepend": evalFilled, "mustPrepend": evalFilled,
		"splitList": evalFilled, "reverse": asLong, "mustReverse": asLong, "uniq": asLong, "mustUniq": asLong, "concat": asLong,
		"keys": evalKeys, "values": asLong, "toStrings": asLong, "until": evalUntil, "int": evalWhole, "int64": evalWhole,
		"join": textItems, "sortAlpha": evalSorted, "compact": evalCompact, "mustCompact": evalCompact,
		"lookup": evalLookup, "select": evalLookup, "child": evalChild, "children": evalChild, "await": evalChild,
		"config": evalConfig, "file": evalText, "rendered": evalText, "stable": evalText,
	}
	for _, form := range []string{"toYaml", "toYamlPretty", "toJson", "mustToJson", "toRawJson", "toPrettyJson"} {
		builtins[form] = evalEncode
	}
	for _, form := range []string{"fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson"} {
		builtins[form] = evalDecode
	}
}

// valueFrom returns a value of these kinds that is made of arguments.
func valueFrom(k signature.Kinds, args []arg) *val {
	v := ofKinds(k)
	v.sources, v.way = sourcesOf(args), anyPath(args)
	return v
}

// evalNot returns the value of a call of not.
func evalNot(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := valueFrom(signature.Bool, args)
	out.sources = dropHidden(fn, signature.Bool, out.sources)
	if yes, no := args[0].possibleTruth(); yes != no && args[0].piece == nil {
		out.known, out.constant = true, no
	}
	return out
}

func kindIs(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := valueFrom(signature.Bool, args)
	out.sources = dropHidden(fn, signature.Bool, out.sources)
	name, _ := args[0].constant.(string)
	kinds, known := kindNames[name]
	if !known || args[1].can == 0 {
		return out
	}
	if args[1].can&kinds == 0 {
		out.known, out.constant = true, false
	} else if args[1].can&^kinds == 0 {
		out.known, out.constant = true, true
	}
	return out
}

// hasKey reads the field, which must be one that there can be.
func hasKey(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := valueFrom(signature.Bool, args)
	out.sources = dropHidden(fn, signature.Bool, out.sources)
	name, ok := args[1].constant.(string)
	if !ok || args[0].can&signature.Map == 0 {
		return out
	}
	f, found := args[0].findField(name)
	switch {
	case !found:
		w.reportUndeclared(w.argNode(fn, args[1]), args[0].val, name)
	case f != nil:
		w.recordUse(w.argNode(fn, args[1]), f, true)
		if f = w.applyFacts(f); f.isAbsent() {
			out.known, out.constant, out.way = true, false, out.way || f.way
		}
	}
	return out
}

// evalLength returns the value of a call of len.
func evalLength(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := valueFrom(signature.Int, args)
	out.sources = dropHidden(fn, signature.Int, out.sources)
	least := 0.0
	if _, no := args[0].possibleTruth(); !no {
		least = 1
	}
	out.least, out.heldBy = &least, args[0].holderName()
	return out
}

// evalRequired returns the value of a call of required. After it the argument is known to be there.
func evalRequired(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v := args[1].val
	w.learnFact(v, func(f *fact) {
		f.can &^= signature.Nil
		f.not = append(f.not[:len(f.not):len(f.not)], "")
		if v.can&^signature.Nil == signature.String {
			f.truth = 1
		}
	})
	if v.isAbsent() {
		w.ends = "fail"
	}
	out := *v
	if out.can &^= signature.Nil; out.can&signature.String != 0 {
		out.shortest = max(out.shortest, 1)
	}
	return w.applyFacts(&out)
}

// endPath makes the builtin of a function that ends the path, such as fail.
func endPath(how string) builtin {
	return func(w *path, fn *parse.IdentifierNode, args []arg) *val {
		for _, source := range sourcesOf(args) {
			if source.Confidential() {
				w.addFinding(SecretLeak, fn,
					"a value of a Secret would stand in a message, which everybody reads who sees the resource: say what is wrong without it")
				break
			}
		}
		w.ends = how
		return ofKinds(0)
	}
}
