package typecheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// An arg is an argument of a function: as it is written, and what is known of
// it. Its node is nil if it was piped and has no node of its own.
type arg struct {
	node parse.Node
	*val
}

func (w *path) pipe(p *parse.PipeNode) *val {
	if p == nil {
		return constant(nil)
	}
	var piped *arg
	asking := w.asking
	for i, cmd := range p.Cmds {
		w.asking = asking && i == len(p.Cmds)-1
		v := w.command(cmd, piped)
		if w.ends != "" || w.over {
			return anything()
		}
		piped = &arg{cmd, v}
		if len(cmd.Args) == 1 {
			piped.node = cmd.Args[0]
		}
	}
	w.asking = asking
	return piped.val
}

func (w *path) command(cmd *parse.CommandNode, piped *arg) *val {
	first := cmd.Args[0]
	if fn, ok := first.(*parse.IdentifierNode); ok {
		return w.invoke(fn, cmd.Args[1:], piped)
	}
	return w.operand(first)
}

// operand is the value of an operand, with what is known of it on this path.
func (w *path) operand(node parse.Node) *val {
	var v *val
	switch n := node.(type) {
	case *parse.DotNode:
		v = w.known(w.frame.dot)
		w.see(n, 0, v)
		w.use(n, v, w.asking)
	case *parse.NilNode:
		return constant(nil)
	case *parse.BoolNode:
		return constant(n.True)
	case *parse.StringNode:
		return constant(n.Text)
	case *parse.NumberNode:
		if n.IsInt {
			return constant(n.Int64)
		}
		return constant(n.Float64)
	case *parse.FieldNode:
		return w.chain(n, w.known(w.frame.dot), n.Ident)
	case *parse.VariableNode:
		return w.chain(n, w.variable(n), n.Ident[1:])
	case *parse.ChainNode:
		asking := w.asking
		w.asking = true
		from := w.operand(n.Node)
		w.asking = asking
		return w.chain(n, from, n.Field)
	case *parse.PipeNode:
		return w.pipe(n)
	case *parse.IdentifierNode:
		return w.invoke(n, nil, nil)
	default:
		return anything()
	}
	return v
}

func (w *path) variable(n *parse.VariableNode) *val {
	if x := w.frame.lookup(n.Ident[0]); x != nil {
		return w.known(x.v)
	}
	return anything()
}

// known is the value with the facts about it.
func (w *path) known(v *val) *val {
	if v.remake != nil {
		again := *v.remake(w)
		again.remake = v.remake
		if again.id == "" {
			again.id, again.parent = v.id, v.parent
		}
		v = &again
	}
	if v.id != "" && v.parent != "" {
		w.parents[v.id] = v.parent
	}
	return w.facts.of(v)
}

// chain follows fields.
func (w *path) chain(n parse.Node, v *val, fields []string) *val {
	w.see(n, 0, v)
	for i, name := range fields {
		next, found := v.field(name)
		if found && next == nil {
			return ofKinds(0)
		}
		if !found {
			w.undeclared(n, v, name)
			return v.missing()
		}
		v = w.known(next)
		w.see(n, i+1, v)
		if i < len(fields)-1 {
			w.use(n, v, true)
		}
	}
	w.use(n, v, w.asking)
	if len(fields) > 0 && v.can != signature.Nil {
		w.said.fine[call{w.sketch.Place(w.frame.tree, n), w.frame.called}] = true
	}
	return v
}

// see shows a node to whoever asks for it.
func (w *path) see(n parse.Node, step int, v *val) {
	if w.in.Seen != nil {
		w.in.Seen(Sight{w.frame.tree.ParseName, n, step, v.shown})
	}
}

// missing is a field that there is not. A map that is built up on several paths
// may get it later, and it must not be taken for anything then.
func (v *val) missing() *val {
	if v.label != "" {
		return ofKinds(0)
	}
	return anything()
}

// use notes that the resource, another one of its kind, or an awaited child is read at a
// path.
func (w *path) use(n parse.Node, v *val, asking bool) {
	switch {
	case !v.exact:
	case v.file != "" && v.path != "" && strings.HasPrefix(v.id, "await("):
		if _, known := w.flow.Awaited[v.file]; !known {
			w.flow.Awaited[v.file] = w.place(n)
		}
	case v.read == "" && v.path != "":
		w.note(w.flow.Reads, n, v.path, asking)
	case v.read != "" && w.ofOwnKind(v.read):
		w.note(w.flow.Peers, n, v.path, asking)
	}
	if asking || v.exact {
		return
	}
	for _, name := range sortedKeys(v.fields) {
		w.use(n, v.fields[name], false)
	}
	if v.elem != nil {
		w.use(n, v.elem, false)
	}
}

// note notes a read of a path.
func (w *path) note(reads map[string]Read, n parse.Node, path string, asking bool) {
	r, known := reads[path]
	if !known {
		r.Place = w.sketch.Place(w.frame.tree, n)
	}
	r.Whole = r.Whole || !asking
	reads[path] = r
}

// ofOwnKind reports whether what was read is of the resource's kind.
func (w *path) ofOwnKind(read string) bool {
	apiVersion, found := strings.CutPrefix(read, w.in.Own.Kind+" ")
	return found && w.in.Own.Group != "" && strings.HasPrefix(apiVersion, w.in.Own.Group+"/")
}

// undeclared says that a value has no field of that name.
func (w *path) undeclared(n parse.Node, v *val, name string) {
	f := w.finding(UnknownField, n, "")
	switch {
	case v.can&signature.Map == 0 && v.exact && v.path != "":
		f.Text = fmt.Sprintf("%s, %s, has no field %s", v.path, article(v), name)
	case v.can&signature.Map == 0 || v.typ.Kind() != schema.KindObject && v.label == "":
		f.Class, f.Text = WrongType, fmt.Sprintf("%s has no field %s", v.can&^signature.Nil, name)
	case v.typ.Kind() != schema.KindObject || !v.exact:
		if !w.missed(v, name) {
			return
		}
		f.Read, f.Path, f.Text = v.label, name, fmt.Sprintf("%s has no field %s", cmp.Or(v.label, "this value"), name)
		if near := schema.Suggest(name, v.names()); near != "" {
			f.Text += "; did you mean " + near + "?"
		}
	default:
		f.Text = w.noField(v, name)
	}
	if v.exact {
		f.Read, f.Path = v.read, v.below(name)
	}
	w.said.add(f)
}

// noField says that the schema declares no field of that name.
func (w *path) noField(v *val, name string) string {
	whole := v.read
	if whole == "" {
		whole = w.in.Name
	}
	said := fmt.Sprintf("%s has no field %s", whole, v.below(name))
	if near := schema.Suggest(name, v.typ.Fields()); near != "" {
		return said + "; did you mean " + v.below(near) + "?"
	}
	if root := w.frame.lookup("$").v; v.path != "" && root.exact && root.path == "" && root.read == "" &&
		slices.Contains(root.typ.Fields(), name) {
		return said + "; did you mean $." + name + "?"
	}
	return said
}

// missed reports whether a field that a made map does not have is a mistake. What
// dict makes may have it for another caller.
func (w *path) missed(v *val, name string) bool {
	if v.label != madeByDict {
		return true
	}
	return !w.keys[name] && schema.Suggest(name, v.names()) != ""
}

const madeByDict = "the map that dict made"

func article(v *val) string {
	noun := v.can.String()
	if v.typ != nil {
		noun = v.typ.Kind().String()
	}
	if strings.HasPrefix(noun, "a ") || strings.HasPrefix(noun, "an ") {
		return noun
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// called is how a message calls a value: by its path or as it is written.
func (w *path) called(n parse.Node, v *val) string {
	if v.exact && v.path != "" {
		return v.path
	}
	if v.known {
		return show(v.constant)
	}
	if fn, ok := n.(*parse.IdentifierNode); ok {
		return "what " + fn.Ident + " gives"
	}
	if text := n.String(); len(text) < 60 {
		return text
	}
	return "the value"
}

func (w *path) place(n parse.Node) template.Place { return w.sketch.Place(w.frame.tree, n) }
