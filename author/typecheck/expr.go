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

// evalPipe returns the value of a pipeline.
func (w *path) evalPipe(p *parse.PipeNode) *val {
	if p == nil {
		return constantValue(nil)
	}
	var piped *arg
	asking := w.asking
	for i, cmd := range p.Cmds {
		w.asking = asking && i == len(p.Cmds)-1
		v := w.evalCommand(cmd, piped)
		if w.ends != "" || w.over {
			return anyValue()
		}
		piped = &arg{cmd, v}
		if len(cmd.Args) == 1 {
			piped.node = cmd.Args[0]
		}
	}
	w.asking = asking
	return piped.val
}

// evalCommand returns the value of one command of a pipeline.
func (w *path) evalCommand(cmd *parse.CommandNode, piped *arg) *val {
	first := cmd.Args[0]
	if fn, ok := first.(*parse.IdentifierNode); ok {
		return w.evalCall(fn, cmd.Args[1:], piped)
	}
	return w.evalOperand(first)
}

// evalOperand returns the value of an operand, with what is known of it on this path.
func (w *path) evalOperand(node parse.Node) *val {
	var v *val
	switch n := node.(type) {
	case *parse.DotNode:
		v = w.applyFacts(w.frame.dot)
		w.showNode(n, 0, v)
		w.recordUse(n, v, w.asking)
	case *parse.NilNode:
		return constantValue(nil)
	case *parse.BoolNode:
		return constantValue(n.True)
	case *parse.StringNode:
		return constantValue(n.Text)
	case *parse.NumberNode:
		if n.IsInt {
			return constantValue(n.Int64)
		}
		return constantValue(n.Float64)
	case *parse.FieldNode:
		return w.followFields(n, w.applyFacts(w.frame.dot), n.Ident)
	case *parse.VariableNode:
		return w.followFields(n, w.evalVariable(n), n.Ident[1:])
	case *parse.ChainNode:
		asking := w.asking
		w.asking = true
		from := w.evalOperand(n.Node)
		w.asking = asking
		return w.followFields(n, from, n.Field)
	case *parse.PipeNode:
		return w.evalPipe(n)
	case *parse.IdentifierNode:
		return w.evalCall(n, nil, nil)
	default:
		return anyValue()
	}
	return v
}

// evalVariable returns the value of a variable.
func (w *path) evalVariable(n *parse.VariableNode) *val {
	if x := w.frame.findVariable(n.Ident[0]); x != nil {
		return w.applyFacts(x.v)
	}
	return anyValue()
}

// applyFacts returns the value narrowed by the facts about it.
func (w *path) applyFacts(v *val) *val {
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
	return w.facts.narrowByFacts(v)
}

// followFields returns the value that a chain of fields leads to.
func (w *path) followFields(n parse.Node, v *val, fields []string) *val {
	w.showNode(n, 0, v)
	for i, name := range fields {
		next, found := v.findField(name)
		if found && next == nil {
			return ofKinds(0)
		}
		if !found {
			w.reportUndeclared(n, v, name)
			return v.missingField()
		}
		v = w.applyFacts(next)
		w.showNode(n, i+1, v)
		if i < len(fields)-1 {
			w.recordUse(n, v, true)
		}
	}
	w.recordUse(n, v, w.asking)
	if len(fields) > 0 && v.can != signature.Nil {
		w.said.fine[call{w.sketch.Place(w.frame.tree, n), w.frame.called}] = true
	}
	return v
}

// showNode passes a node and its value to the observer, if there is one.
func (w *path) showNode(n parse.Node, step int, v *val) {
	if w.in.Seen != nil {
		w.in.Seen(Sight{w.frame.tree.ParseName, n, step, v.exportValue})
	}
}

// missingField returns the value of a field that does not exist. A map that is built up on several
// paths may get the field later. Until then nothing is known of it.
func (v *val) missingField() *val {
	if v.label != "" {
		return ofKinds(0)
	}
	return anyValue()
}

// recordUse records that the resource, another resource of its kind, or an awaited child is read at
// a path.
func (w *path) recordUse(n parse.Node, v *val, asking bool) {
	switch {
	case !v.exact:
	case v.file != "" && v.path != "" && strings.HasPrefix(v.id, "await("):
		if _, known := w.flow.Awaited[v.file]; !known {
			w.flow.Awaited[v.file] = w.placeOf(n)
		}
	case v.read == "" && v.path != "":
		w.recordRead(w.flow.Reads, n, v.path, asking)
	case v.read != "" && w.ofOwnKind(v.read):
		w.recordRead(w.flow.Peers, n, v.path, asking)
	}
	if asking || v.exact {
		return
	}
	for _, name := range sortedKeys(v.fields) {
		w.recordUse(n, v.fields[name], false)
	}
	if v.elem != nil {
		w.recordUse(n, v.elem, false)
	}
}

// recordRead records a read of a path.
func (w *path) recordRead(reads map[string]Read, n parse.Node, path string, asking bool) {
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

// reportUndeclared adds a finding that a value has no field of that name.
func (w *path) reportUndeclared(n parse.Node, v *val, name string) {
	f := w.makeFinding(UnknownField, n, "")
	switch {
	case v.can&signature.Map == 0 && v.exact && v.path != "":
		f.Text = fmt.Sprintf("%s, %s, has no field %s", v.path, nounOf(v), name)
	case v.can&signature.Map == 0 || v.typ.Kind() != schema.KindObject && v.label == "":
		f.Class, f.Text = ArgumentType, fmt.Sprintf("%s has no field %s", v.can&^signature.Nil, name)
	case v.typ.Kind() != schema.KindObject || !v.exact:
		if !w.isMistakenField(v, name) {
			return
		}
		f.Read, f.Path, f.Text = v.label, name, fmt.Sprintf("%s has no field %s", cmp.Or(v.label, "this value"), name)
		if near := schema.Suggest(name, v.fieldNames()); near != "" {
			f.Text += "; did you mean " + near + "?"
		}
	default:
		f.Text = w.noField(v, name)
	}
	if v.exact {
		f.Read, f.Path = v.read, v.fieldPath(name)
	}
	w.said.add(f)
}

// noField says that the schema declares no field of that name.
func (w *path) noField(v *val, name string) string {
	whole := v.read
	if whole == "" {
		whole = w.in.Name
	}
	said := fmt.Sprintf("%s has no field %s", whole, v.fieldPath(name))
	if near := schema.Suggest(name, v.typ.Fields()); near != "" {
		return said + "; did you mean " + v.fieldPath(near) + "?"
	}
	if root := w.frame.findVariable("$").v; v.path != "" && root.exact && root.path == "" && root.read == "" &&
		slices.Contains(root.typ.Fields(), name) {
		return said + "; did you mean $." + name + "?"
	}
	return said
}

// isMistakenField reports whether reading a field that a made map does not have is a mistake. What
// dict makes may have it for another caller.
func (w *path) isMistakenField(v *val, name string) bool {
	if v.label != madeByDict {
		return true
	}
	return !w.keys[name] && schema.Suggest(name, v.fieldNames()) != ""
}

const madeByDict = "the map that dict made"

// nounOf returns the noun for the type of a value, with its article.
func nounOf(v *val) string {
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

// describeValue returns how a message names a value: by its path or as it is written.
func (w *path) describeValue(n parse.Node, v *val) string {
	if v.exact && v.path != "" {
		return v.path
	}
	if v.known {
		return formatConstant(v.constant)
	}
	if fn, ok := n.(*parse.IdentifierNode); ok {
		return "what " + fn.Ident + " gives"
	}
	if text := n.String(); len(text) < 60 {
		return text
	}
	return "the value"
}

// placeOf returns where a node stands.
func (w *path) placeOf(n parse.Node) template.Place { return w.sketch.Place(w.frame.tree, n) }
