package typecheck

import (
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// An owner knows more of what a function gives than its signature says; nil
// where it does not.
type builtin func(w *path, fn *parse.IdentifierNode, args []arg) *val

var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{
		"eq": equal, "ne": equal, "lt": ordered, "le": ordered, "gt": ordered, "ge": ordered,
		"not": negated, "empty": negated, "kindIs": kindIs, "typeIs": kindIs, "typeIsLike": kindIs, "hasKey": hasKey, "len": length0,
		"default": orDefault, "ifNil": ifNil, "coalesce": coalesce, "ternary": ternary,
		"required": required, "fail": ending("fail"), "wait": ending("wait"),
		"dict": dict, "set": set, "unset": omit, "omit": omit, "pick": pick, "merge": merge, "mergeOverwrite": merge,
		"get": get, "index": index, "dig": dig, "list": list,
		"include": include, "quote": quote, "squote": quote, "trim": trim, "trimSuffix": trim, "indent": indent, "nindent": indent,
		"first": end("0"), "mustFirst": end("0"), "last": end("-1"), "mustLast": end("-1"),
		"append": longer, "mustAppend": longer, "push": longer, "mustPush": longer, "prepend": longer, "mustPrepend": longer,
		"splitList": longer, "reverse": asLong, "mustReverse": asLong, "uniq": asLong, "mustUniq": asLong, "concat": asLong,
		"keys": keys, "values": asLong, "toStrings": asLong, "until": until, "int": whole, "int64": whole,
		"join": textItems, "sortAlpha": sorted, "compact": compact, "mustCompact": compact,
		"lookup": lookup, "select": lookup, "child": child, "children": child, "await": child,
		"config": config, "file": text, "rendered": text, "stable": text,
	}
	for _, form := range []string{"toYaml", "toYamlPretty", "toJson", "mustToJson", "toRawJson", "toPrettyJson"} {
		builtins[form] = encode
	}
	for _, form := range []string{"fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson"} {
		builtins[form] = decode
	}
}

// from is a value of these kinds that is made of arguments.
func from(k signature.Kinds, args []arg) *val {
	v := ofKinds(k)
	v.sources, v.way = sourcesOf(args), anyPath(args)
	return v
}

func negated(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := from(signature.Bool, args)
	out.sources = open(fn, signature.Bool, out.sources)
	if yes, no := args[0].truth(); yes != no && args[0].piece == nil {
		out.known, out.constant = true, no
	}
	return out
}

func kindIs(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := from(signature.Bool, args)
	out.sources = open(fn, signature.Bool, out.sources)
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
	out := from(signature.Bool, args)
	out.sources = open(fn, signature.Bool, out.sources)
	name, ok := args[1].constant.(string)
	if !ok || args[0].can&signature.Map == 0 {
		return out
	}
	f, found := args[0].field(name)
	switch {
	case !found:
		w.undeclared(w.at(fn, args[1]), args[0].val, name)
	case f != nil:
		w.use(w.at(fn, args[1]), f, true)
		if f = w.known(f); f.nothing() {
			out.known, out.constant, out.way = true, false, out.way || f.way
		}
	}
	return out
}

func length0(w *path, fn *parse.IdentifierNode, args []arg) *val {
	out := from(signature.Int, args)
	out.sources = open(fn, signature.Int, out.sources)
	least := 0.0
	if _, no := args[0].truth(); !no {
		least = 1
	}
	out.least, out.heldBy = &least, args[0].held()
	return out
}

func required(w *path, fn *parse.IdentifierNode, args []arg) *val {
	v := args[1].val
	w.learn(v, func(f *fact) {
		f.can &^= signature.Nil
		f.not = append(f.not[:len(f.not):len(f.not)], "")
		if v.can&^signature.Nil == signature.String {
			f.truth = 1
		}
	})
	if v.nothing() {
		w.ends = "fail"
	}
	out := *v
	if out.can &^= signature.Nil; out.can&signature.String != 0 {
		out.shortest = max(out.shortest, 1)
	}
	return w.known(&out)
}

func ending(how string) builtin {
	return func(w *path, fn *parse.IdentifierNode, args []arg) *val {
		for _, source := range sourcesOf(args) {
			if source.Confidential() {
				w.find(Secret, fn,
					"a value of a Secret would stand in a message, which everybody reads who sees the resource: say what is wrong without it")
				break
			}
		}
		w.ends = how
		return ofKinds(0)
	}
}
