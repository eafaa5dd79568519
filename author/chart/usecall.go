package chart

import (
	"text/template/parse"
)

// choosing are the functions whose result is one of their arguments.
var choosing = map[string]bool{
	"default": true, "ifNil": true, "coalesce": true, "ternary": true, "and": true, "or": true,
	"first": true, "last": true, "list": true, "deepCopy": true, "mustDeepCopy": true,
}

// texts are the functions that take numbers and texts only.
var texts = map[string]bool{
	"quote": true, "squote": true, "printf": true, "print": true, "toString": true, "b64enc": true, "b64dec": true, "trim": true,
	"trunc": true, "upper": true, "lower": true, "replace": true, "int": true, "int64": true, "float64": true, "trimSuffix": true,
	"trimPrefix": true, "contains": true, "hasPrefix": true, "hasSuffix": true, "sha256sum": true, "indent": true, "nindent": true,
}

// asking are the functions that only ask something of their arguments.
var asking = map[string]bool{
	"not": true, "empty": true, "eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true, "len": true,
	"kindIs": true, "kindOf": true, "typeIs": true, "typeOf": true, "all": true, "any": true, "fail": true, "has": true,
}

// readCommand returns what a call returns. args are the values of all operands, the piped one last.
func (w *reader) readCommand(cmd *parse.CommandNode, args []held) held {
	fn, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok {
		return args[0]
	}
	args = args[1:]
	if w.see != nil {
		w.see(cmd, args)
	}
	switch {
	case fn.Ident == "include" && len(args) == 2:
		if name, literal := literalArg(cmd, 1); literal {
			return w.readDefine(name, args[1])
		}
		args[1].markWhole()
	case fn.Ident == "dict":
		return holdDict(cmd, args)
	case fn.Ident == "required" && len(args) == 2:
		for _, u := range args[1].uses {
			u.required = true
		}
		return args[1]
	case choosing[fn.Ident]:
		var h held
		for _, a := range args {
			a.markTested()
			h = h.joinHeld(a)
		}
		return h
	case asking[fn.Ident]:
		for _, a := range args {
			a.markTested()
		}
		return held{}
	case fn.Ident == "get" || fn.Ident == "index" || fn.Ident == "hasKey" || fn.Ident == "dig":
		return readAt(fn.Ident, cmd, args)
	default:
		var h held
		for _, a := range args {
			a.markWhole()
			if !texts[fn.Ident] {
				a.markStructured()
			}
			h = h.joinHeld(a)
		}
		return h
	}
	return held{}
}

// literalArg returns the i-th operand of a command if it is a literal text. The function is the 0th
// operand.
func literalArg(cmd *parse.CommandNode, i int) (string, bool) {
	if i >= len(cmd.Args) {
		return "", false
	}
	s, ok := cmd.Args[i].(*parse.StringNode)
	if !ok {
		return "", false
	}
	return s.Text, true
}

// holdDict returns a map that the template makes.
func holdDict(cmd *parse.CommandNode, args []held) held {
	h := held{fields: map[string]held{}}
	for i := 0; i+1 < len(args); i += 2 {
		name, ok := literalArg(cmd, i+1)
		if !ok {
			args[i+1].markWhole()
			continue
		}
		h.fields[name] = args[i+1]
	}
	return h
}

// readAt returns what get, index, hasKey and dig read, by their map and the literal keys.
func readAt(name string, cmd *parse.CommandNode, args []held) held {
	if len(args) == 0 {
		return held{}
	}
	m, keys, first := args[0], args[1:], 2
	if name == "dig" {
		m, keys, first = args[len(args)-1], args[:max(len(args)-2, 0)], 1
	}
	for i := range keys {
		if key, ok := literalArg(cmd, first+i); ok {
			m = m.fieldOf(key)
		} else {
			m = m.itemOf()
		}
	}
	if name == "dig" && len(args) > 1 {
		m = m.joinHeld(args[len(args)-2])
	}
	if name == "hasKey" || name == "dig" {
		m.markTested()
	}
	if name == "hasKey" {
		return held{}
	}
	return m
}
