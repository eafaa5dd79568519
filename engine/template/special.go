package template

import (
	"errors"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// A special is a function that needs the execution: it may read the world,
// call templates, or keep printable values what they are.
type special struct {
	min, max int
	call     func(x *exec, at pos, args []any) (any, error)
	// check looks at the arguments as they are written.
	check func(c *compiler, fn *parse.IdentifierNode, args []parse.Node)
}

var specials map[string]special

func init() {
	specials = map[string]special{
		"include":    {2, 2, callInclude, checkInclude},
		"quote":      {0, -1, quoteWith(`"`), nil},
		"squote":     {0, -1, quoteWith("'"), nil},
		"default":    {2, 2, callDefault, nil},
		"trim":       {1, 1, trimBlanks, nil},
		"trimSuffix": {2, 2, trimSuffix, nil},
		"indent":     {2, 2, indentWith("indent"), checkBlanks},
		"nindent":    {2, 2, indentWith("nindent"), checkBlanks},
		"required":   {2, 2, callRequired, nil},
		"fail":       {1, 1, callFail, nil},
		"wait":       {1, 1, callWait, nil},
		"hasAPI":     {2, 2, callHasAPI, checkHasAPI},
		"lookup":     {4, 4, callLookup, checkLookup},
		"select":     {3, 4, selectObjects, checkSelect},
		"child":      {1, 1, callChild, checkChild},
		"children":   {1, 1, callChildren, checkChild},
		"await":      {1, 1, callAwait, checkChild},
		"rendered":   {1, 1, callRendered, checkRendered},
		"config":     {1, 1, callConfig, checkConfig},
		"file":       {1, 1, callFile, checkFile},
		"stable":     {3, 3, callStable, checkStable},
	}
	for _, form := range []string{"toYaml", "toYamlPretty", "toJson", "mustToJson", "toRawJson", "toPrettyJson"} {
		if funcs.Table()[form] != nil {
			specials[form] = special{1, 1, encodeAs(form), nil}
		}
	}
	for _, form := range []string{"fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson"} {
		if funcs.Table()[form] != nil {
			specials[form] = special{1, 1, decodeAs(form), checkDecode}
		}
	}
}

// Specials are the names of the functions that this package provides itself,
// sorted; with those of package funcs they are all functions there are.
func Specials() []string { return append(sortedKeys(specials), "and", "or") }

// callInclude implements the function include.
func callInclude(x *exec, at pos, args []any) (any, error) {
	plain, err := x.toText(args[0])
	name, ok := plain.(string)
	r := x.set.defines[name]
	if err == nil && (!ok || r == nil) {
		err = errors.New("there is no template of that name")
	}
	if err != nil {
		return nil, err
	}
	before := x.out
	x.out = newOutput(256)
	err = x.callRoutine(at, r, args[1])
	inner := x.out
	x.out = before
	if err != nil {
		return nil, err
	}
	return &fragment{text: string(inner.buf), holes: inner.holes, marks: inner.marks, sealed: inner.sealed}, nil
}

func checkInclude(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	if len(args) == 0 {
		return
	}
	name, ok := args[0].(*parse.StringNode)
	switch {
	case !ok:
		c.into.callsAny = true
	case c.set.defines[name.Text] == nil:
		c.noTemplate(fn, name.Text)
	default:
		c.into.calls = append(c.into.calls, c.set.defines[name.Text])
	}
}

func quoteWith(mark string) func(*exec, pos, []any) (any, error) {
	return func(x *exec, _ pos, args []any) (any, error) {
		var texts []quoted
		for _, a := range args {
			if a == nil {
				continue
			}
			plain, err := x.toText(a)
			if err != nil {
				return nil, err
			}
			s, err := textOf(plain, x.set.limits.Functions)
			if err != nil {
				return nil, err
			}
			texts = append(texts, quoted{text: s, mark: mark})
		}
		switch {
		case len(texts) == 0:
			return nil, nil
		case len(args) == 1:
			return texts[0], nil
		}
		marked := make([]string, len(texts))
		for i, t := range texts {
			marked[i] = t.withMarks()
		}
		return x.chargeText(strings.Join(marked, " "), nil)
	}
}

func encodeAs(form string) func(*exec, pos, []any) (any, error) {
	return func(x *exec, _ pos, args []any) (any, error) {
		v, err := x.toText(args[0])
		return &encoded{value: v, form: form, blanks: -1}, err
	}
}

// decodeAs parses the skeleton of an include and puts the values in; anything
// else is data and parsed as such.
func decodeAs(form string) func(*exec, pos, []any) (any, error) {
	return func(x *exec, at pos, args []any) (any, error) {
		v, err := decodeValue(x, at, form, args[0])
		if err != nil {
			return nil, err
		}
		return v, x.chargeBytes(nodeBytes * countNodes(v))
	}
}

// decodeValue parses the skeleton of an include and puts the values in. Anything else is data and
// parsed as such.
func decodeValue(x *exec, at pos, form string, arg any) (any, error) {
	if f, ok := arg.(*fragment); ok {
		x.noteSecret(f.sealed)
		return x.set.fillValue(at, &output{buf: []byte(f.text), holes: f.holes, marks: f.marks})
	}
	v, err := x.toText(arg)
	if err != nil {
		return nil, err
	}
	return funcs.Table()[form].Call([]any{v}, x.set.limits.Functions)
}

// checkDecode lets through one field or read as it stands and what is built by
// include: a text put together from values could carry structure in.
func checkDecode(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	piped := c.piped
	if len(args) == 1 {
		piped = &parse.CommandNode{Args: args}
	}
	if piped == nil || !c.asItStands(piped) {
		c.addError(fn, "%s takes one field as it stands, one read such as file or lookup, or an include", fn.Ident)
	}
}

// asItStands reports whether a command is one field, one read or an include.
func (c *compiler) asItStands(cmd *parse.CommandNode) bool {
	switch n := cmd.Args[0].(type) {
	case *parse.FieldNode, *parse.DotNode:
		return len(cmd.Args) == 1
	case *parse.VariableNode:
		return len(cmd.Args) == 1 && (len(n.Ident) > 1 || !c.made[n.Ident[0]])
	case *parse.ChainNode:
		return len(cmd.Args) == 1 && c.asItStands(&parse.CommandNode{Args: []parse.Node{n.Node}})
	case *parse.PipeNode:
		return len(cmd.Args) == 1 && len(n.Cmds) == 1 && c.asItStands(n.Cmds[0])
	case *parse.IdentifierNode:
		return n.Ident == "include" || n.Ident == "index" || n.Ident == "get" || reads[n.Ident]
	}
	return false
}

// callDefault implements the function default.
func callDefault(x *exec, _ pos, args []any) (any, error) {
	if holds, err := x.isTrue(args[1]); holds || err != nil {
		return args[1], err
	}
	return args[0], nil
}

// callRequired implements the function required.
func callRequired(x *exec, _ pos, args []any) (any, error) {
	given, err := x.toText(args[1])
	if err != nil {
		return nil, err
	}
	if given == nil || given == "" {
		return nil, &Failure{messageText(x, args[0])}
	}
	return args[1], nil
}

// callFail implements the function fail.
func callFail(x *exec, _ pos, args []any) (any, error) {
	return nil, &Failure{messageText(x, args[0])}
}

// callWait implements the function wait.
func callWait(x *exec, _ pos, args []any) (any, error) {
	return nil, &Wait{messageText(x, args[0])}
}

// messageText returns the text of a message, unless it holds a value of a Secret.
func messageText(x *exec, v any) string {
	x.taint = notSealed
	plain, err := x.toText(v)
	if x.taint != notSealed {
		return sealedMessage
	}
	if err != nil {
		return "no message"
	}
	s, err := textOf(plain, x.set.limits.Functions)
	if err != nil {
		return "no message"
	}
	return s
}
