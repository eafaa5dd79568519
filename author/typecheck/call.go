package typecheck

import (
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// passes are the functions that do not look into their arguments: what is read
// of them is read later, where their result is used.
var passes = map[string]bool{
	"dict": true, "list": true, "set": true, "get": true, "index": true, "dig": true, "first": true, "last": true,
	"append": true, "prepend": true, "concat": true, "pick": true, "omit": true, "unset": true, "merge": true,
	"mergeOverwrite": true, "include": true, "rest": true, "initial": true, "slice": true, "deepCopy": true,
	"not": true, "empty": true, "kindIs": true, "typeIs": true, "hasKey": true, "len": true, "all": true, "any": true,
}

// chooses are the functions that give one of their arguments.
var chooses = map[string]bool{
	"default": true, "ifNil": true, "coalesce": true, "ternary": true, "required": true, "and": true, "or": true,
}

// evalCall returns the value of a function call.
func (w *path) evalCall(fn *parse.IdentifierNode, nodes []parse.Node, piped *arg) *val {
	if w.steps++; w.steps > mostSteps || w.isOverworked() {
		w.over = true
		return anyValue()
	}
	if fn.Ident == "and" || fn.Ident == "or" {
		return w.evalLogic(fn, nodes, piped)
	}
	asking := w.asking
	w.asking = passes[fn.Ident] || asking && chooses[fn.Ident]
	args := make([]arg, 0, len(nodes)+1)
	for _, n := range nodes {
		args = append(args, arg{n, w.evalOperand(n)})
		if w.ends != "" || w.over {
			return anyValue()
		}
	}
	w.asking = asking
	if piped != nil {
		args = append(args, *piped)
	}
	v := w.applyBounded(fn, args)
	w.showNode(fn, 0, v)
	return v
}

// applyBounded applies a function. It counts the work, and bounds the size of the value.
func (w *path) applyBounded(fn *parse.IdentifierNode, args []arg) *val {
	for _, a := range args {
		w.addWork(a.weighValue() + textBytes(a.val)/bytesPerWork)
	}
	return w.boundValue(w.applyFunction(fn, args))
}

// applyFunction checks the arguments of a function and returns the value of the call.
func (w *path) applyFunction(fn *parse.IdentifierNode, args []arg) *val {
	sig, known := signature.ForFunction(fn.Ident)
	if !known || len(args) < sig.Min || sig.Max >= 0 && len(args) > sig.Max {
		delete(w.args, fn) // an editor follows what is half typed
		return anyValue()
	}
	w.args[fn] = args
	fits := w.checkArgs(fn, sig, args)
	if own := builtins[fn.Ident]; own != nil && fits {
		if v := own(w, fn, args); v != nil {
			return w.applyFacts(w.nameResult(fn, sig, args, v))
		}
	}
	if !fits {
		v := ofKinds(sig.Result.Kinds)
		v.free = sig.Result.Kinds&signature.Present == signature.Present
		v.sources = sourcesOf(args)
		return v
	}
	return w.applyFacts(w.nameResult(fn, sig, args, w.evalResult(fn, sig, args)))
}

// nameResult gives the result of a pure function of named values a name.
func (w *path) nameResult(fn *parse.IdentifierNode, sig signature.Signature, args []arg, v *val) *val {
	if v.known || v.id != "" || !sig.Pure || v.exact || v.piece != nil {
		return v
	}
	ids := make([]string, len(args))
	for i, a := range args {
		if ids[i] = a.id; a.known {
			ids[i] = "=" + formatConstant(a.constant)
		}
		if ids[i] == "" || a.piece != nil {
			return v
		}
	}
	out := *v
	out.id = fn.Ident + "(" + strings.Join(ids, ",") + ")"
	return &out
}

// evalResult returns what the signature of a function promises for these arguments.
func (w *path) evalResult(fn *parse.IdentifierNode, sig signature.Signature, args []arg) *val {
	if v := w.foldCall(fn, sig, args); v != nil {
		return v
	}
	r := sig.Result
	out := ofKinds(r.Kinds)
	out.free = r.Kinds&signature.Present == signature.Present
	switch {
	case len(r.Is) > 0:
		out = w.oneOf(sig, args)
	case len(r.Item) > 0:
		out = args[sig.Args(r.Item[0], len(args))[0]].itemValue().allowAbsent()
	case len(r.Keeps)+len(r.Holds) > 0:
		out.elem = joinItems(sig, args)
	case r.Each != 0:
		out.elem = ofKinds(r.Each)
	}
	if len(r.NilWith) > 0 && !w.allNil(sig, r.NilWith, args) {
		out = out.keepKinds(^signature.Nil)
	}
	out.sources = dropHidden(fn, r.Kinds, markMade(fn, bothSources(out.sources, sourcesOf(args))))
	out.way = out.way || anyPath(args)
	if sig.Longest != nil && out.can&signature.String != 0 {
		out.longest = sig.Longest(signatureArgs(args))
	}
	return out
}

// joinItems returns an item of what a function builds of lists, maps and items.
func joinItems(sig signature.Signature, args []arg) *val {
	elem := ofKinds(0)
	for _, p := range sig.Result.Keeps {
		for _, i := range sig.Args(p, len(args)) {
			if args[i].can&(signature.List|signature.Map) != 0 {
				elem = joinValues(elem, args[i].itemValue())
			}
		}
	}
	for _, p := range sig.Result.Holds {
		for _, i := range sig.Args(p, len(args)) {
			elem = joinValues(elem, args[i].val)
		}
	}
	return elem
}

func (w *path) oneOf(sig signature.Signature, args []arg) *val {
	out := ofKinds(0)
	for _, p := range sig.Result.Is {
		for _, i := range sig.Args(p, len(args)) {
			out = joinValues(out, args[i].val)
		}
	}
	return out
}

// allNil reports whether all of these arguments may be absent together.
func (w *path) allNil(sig signature.Signature, params []int, args []arg) bool {
	for _, p := range params {
		for _, i := range sig.Args(p, len(args)) {
			if args[i].can&signature.Nil == 0 {
				return false
			}
		}
	}
	return true
}

// foldCall calls a pure function whose arguments are known. It returns nil if they are not.
func (w *path) foldCall(fn *parse.IdentifierNode, sig signature.Signature, args []arg) *val {
	f := funcs.Table()[fn.Ident]
	if f == nil || !sig.Pure || sig.Result.Kinds&(signature.List|signature.Map) != 0 && len(sig.Result.Is) == 0 {
		return nil
	}
	plain := make([]any, len(args))
	for i, a := range args {
		if !a.known || a.piece != nil {
			return nil
		}
		plain[i] = a.constant
	}
	w.addWork(searchWork(fn, plain))
	got, err := f.Call(plain, funcs.DefaultLimits)
	if err != nil {
		if !anyPath(args) {
			w.addFinding(ArgumentType, fn, err.Error())
		}
		return nil
	}
	out := constantValue(got)
	out.way, out.sources = anyPath(args), sourcesOf(args)
	return out
}

func anyPath(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool { return a.way })
}

// signatureArgs returns the arguments as package signature needs them.
func signatureArgs(args []arg) []signature.Arg {
	out := make([]signature.Arg, len(args))
	for i, a := range args {
		out[i] = signature.Arg{Max: a.maxLength(), Value: a.constant, Known: a.known}
	}
	return out
}

func sourcesOf(args []arg) []Source {
	var all []Source
	for _, a := range args {
		all = bothSources(all, a.deepSources())
	}
	return all
}

// deepSources are those of a value and of all in it.
func (v *val) deepSources() []Source {
	if v.fields == nil && v.elem == nil {
		return v.sources
	}
	return v.addSources(nil, map[*val]bool{})
}

// addSources adds the sources of a value that was not seen yet: one value may be
// part of another in many places.
func (v *val) addSources(all []Source, seen map[*val]bool) []Source {
	if v == nil || seen[v] {
		return all
	}
	seen[v] = true
	all = bothSources(all, v.sources)
	for _, name := range sortedKeys(v.fields) {
		all = v.fields[name].addSources(all, seen)
	}
	return v.elem.addSources(all, seen)
}

// digests are the functions whose result tells nothing of a secret.
var digests = []string{"len", "keys", "sha1sum", "sha256sum", "sha512sum", "adler32sum"}

// traits are the functions whose result tells just the number, the type or the keys of
// what they are given, as a truth value tells just whether something is so.
var traits = []string{"len", "kindOf", "typeOf", "keys"}

// dropHidden returns the sources without those that the result of a function hides.
func dropHidden(fn *parse.IdentifierNode, k signature.Kinds, from []Source) []Source {
	if k == signature.Bool || slices.Contains(traits, fn.Ident) {
		from = slices.Clone(from)
		for i := range from {
			from[i].Trait = true
		}
	}
	if k != signature.Bool && !slices.Contains(digests, fn.Ident) {
		return from
	}
	var left []Source
	for _, s := range from {
		if s.Read == secretKind && s.File == "" {
			continue
		}
		if s.Read == secretKind {
			s.Read = "digest" // which still changes with it
		}
		left = append(left, s)
	}
	return left
}

// changes are the functions that make another value each time that their result
// is put through them again.
var changes = []string{
	"add", "add1", "sub", "mul", "addf", "add1f", "subf", "mulf", "print", "printf", "cat", "repeat", "b64enc", "b32enc",
	"sha1sum", "sha256sum", "sha512sum", "adler32sum", "toJson", "mustToJson", "toRawJson", "toPrettyJson", "toYaml", "toYamlPretty",
}

// markMade marks the sources of a text as changed, if the function changes its text.
func markMade(fn *parse.IdentifierNode, from []Source) []Source {
	if !slices.Contains(changes, fn.Ident) {
		return from
	}
	all := slices.Clone(from)
	for i := range all {
		all[i].Made = true
	}
	return all
}
