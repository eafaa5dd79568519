package chart

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// specials rewrite calls of functions; false leaves the call to what holds for
// all functions.
var specials map[string]func(r *rewriter, p *parse.PipeNode, i int) bool

func init() {
	specials = map[string]func(*rewriter, *parse.PipeNode, int) bool{
		"include": (*rewriter).include, "tpl": (*rewriter).tpl, "lookup": (*rewriter).lookup, "dict": (*rewriter).dict,
	}
	for name := range drawn {
		specials[name] = (*rewriter).draw
	}
}

var basePath = regexp.MustCompile(`^\(\s*(?:print|printf "%s%s"|printf "%s/%s")\s+\$?[\w.]*\.Template\.BasePath\s+"([^"]+)"\s*\)$`)

// include makes `include (print $.Template.BasePath "/x.yaml") .` the text
// that x renders.
func (r *rewriter) include(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	if len(cmd.Args) < 2 {
		return false
	}
	if _, literal := cmd.Args[1].(*parse.StringNode); literal {
		return false
	}
	at := r.operandSpan(cmd.Args[1])
	if !strings.Contains(r.textOf(at), ".Template.") {
		return false
	}
	m := basePath.FindStringSubmatch(r.textOf(at))
	if m == nil || len(cmd.Args) != 3 {
		r.refuse(p, i, "include of "+r.textOf(at), `take what another file renders with rendered: {{ rendered "configmap" | sha256sum }}`)
		return true
	}
	name := asName(strings.TrimPrefix(path.Clean("/"+m[1]), "/"))
	r.replace(r.commandSpan(cmd), "rendered "+strconv.Quote(strings.TrimSuffix(name, ".yaml")))
	return true
}

// dict gives the keys of what is Helm's their new names.
func (r *rewriter) dict(p *parse.PipeNode, i int) bool {
	args := p.Cmds[i].Args[1:]
	for j := 0; j+1 < len(args); j += 2 {
		key, ok := args[j].(*parse.StringNode)
		if !ok {
			continue
		}
		switch key.Text {
		case "Values":
			r.replace(r.operandSpan(key), `"spec"`)
		case "Release":
			r.replace(r.operandSpan(key), `"metadata"`)
		case "Chart", "Capabilities", "Files", "Template", "Subcharts":
			// Nobody reads them there any more: what they are is written out.
			r.delete(span{r.start(key), r.end(args[j+1])})
		}
	}
	return false
}

// lookup wants what the engine wants: a literal kind and a name.
func (r *rewriter) lookup(p *parse.PipeNode, i int) bool {
	args := p.Cmds[i].Args[1:]
	if len(args) != 4 {
		return false
	}
	var texts [4]string
	var literal [4]bool
	for j, a := range args {
		if s, ok := a.(*parse.StringNode); ok {
			texts[j], literal[j] = s.Text, true
		}
	}
	switch {
	case !literal[0] || !literal[1]:
		r.refuse(p, i, "lookup of a computed kind", "write its apiVersion and kind as literal texts")
		return true
	case literal[3] && texts[3] == "":
		r.refuse(p, i, "lookup of all objects of a kind", `use select with a selector: select "v1" "Pod" (dict "matchLabels" …)`)
		return true
	}
	gvk := apischema.FromAPIVersionAndKind(texts[0], texts[1])
	if schema.ClusterScoped(gvk.GroupKind()) {
		v := declared{APIVersion: texts[0], Kind: texts[1]}
		r.reads = append(r.reads, v)
	} else if texts[2] != "" {
		v := declared{APIVersion: texts[0], Kind: texts[1], Namespaces: []string{texts[2]}}
		r.reads = append(r.reads, v)
	}
	return false
}

var anyTemplate = regexp.MustCompile(`\{\{`)

// tpl makes `tpl X .` just X, where X is no template: values are texts, and
// files become partials.
func (r *rewriter) tpl(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	if len(cmd.Args) != 3 || i > 0 {
		r.refuse(p, i, "tpl", "write the template into the folder, as a partial, and use include")
		return true
	}
	x := cmd.Args[1]
	if name, ok := r.literalFile(x); ok && anyTemplate.Match(r.files[name]) {
		called := r.chart.name + "." + name
		r.replace(r.commandSpan(cmd), "include "+strconv.Quote(called)+" "+r.textOf(r.operandSpan(cmd.Args[2])))
		r.addPartial(name, called)
		return true
	}
	if r.movedDefault(cmd) {
		return true
	}
	if at := r.templated(cmd); at != "" {
		r.refuse(p, i, "tpl of "+r.textOf(r.operandSpan(x)), fmt.Sprintf("%s of values.yaml is a template: write it into the folder, and let the spec say only what varies", at))
		return true
	}
	inner, at := r.operandSpan(x), r.commandSpan(cmd)
	if pipe, ok := x.(*parse.PipeNode); ok {
		inner = r.pipeSpan(pipe)
		r.pipe(pipe)
	} else {
		r.operand(x, true)
	}
	r.delete(span{at.from, inner.from})
	r.delete(span{inner.to, at.to})
	r.source.note(inner.from, "tpl", "the text is taken as it is: a template in a resource is not run, unlike one in values")
	return true
}

// movedDefault makes `tpl .Values.x .`, where x of values.yaml is a text with
// actions, the value of the spec or else what a partial of that text prints.
func (r *rewriter) movedDefault(cmd *parse.CommandNode) bool {
	names := helms(cmd.Args[1])
	if len(names) < 2 || names[0] != "Values" {
		return false
	}
	node := nodeAt(r.values, names[1:])
	if node == nil || node.Kind != yaml.ScalarNode || !anyTemplate.MatchString(node.Value) {
		return false
	}
	path := strings.Join(names[1:], ".")
	called, at := r.chart.name+".values."+path, r.commandSpan(cmd)
	if !r.addText("values.yaml", "_values-"+strings.ReplaceAll(path, ".", "-")+".tpl", called, node.Value) {
		return false
	}
	x, to := r.operandSpan(cmd.Args[1]), r.operandSpan(cmd.Args[2])
	r.replace(span{at.from, x.from}, "default (include "+strconv.Quote(called)+" "+r.textOf(to)+") ")
	r.operand(cmd.Args[1], true)
	r.delete(span{x.to, to.to})
	r.moved[path] = true
	r.source.note(x.from, "tpl of "+path+", which is a template in values.yaml",
		"the partial "+called+" prints the default; a text in the spec is taken as it is, and is absent where it was the default")
	return true
}

// templated is the path of a value that a call of tpl may be given and that is
// a template. What nothing is known of may be any.
func (r *rewriter) templated(cmd *parse.CommandNode) string {
	given := r.texts[cmd]
	if len(given.uses) == 0 {
		given.uses = []*use{{}}
	}
	for _, u := range given.uses {
		if found := templateBelow(nodeAt(r.values, u.path), strings.Join(u.path, ".")); found != "" {
			return found
		}
	}
	return ""
}

// valuesIn are the paths of values that an expression reads; certain says that
// it reads nothing else that could hold values.
func valuesIn(node parse.Node) (paths [][]string, certain bool) {
	certain = true
	take := func(names []string) {
		if i := magicAt(names); i >= 0 && names[i] == "Values" {
			paths = append(paths, names[i+1:])
		} else if i < 0 {
			certain = false
		}
	}
	switch n := node.(type) {
	case *parse.FieldNode:
		take(n.Ident)
	case *parse.VariableNode:
		take(n.Ident)
	case *parse.DotNode:
		certain = false
	case *parse.ChainNode:
		return valuesIn(n.Node)
	case *parse.PipeNode:
		for _, cmd := range n.Cmds {
			for _, a := range cmd.Args {
				more, sure := valuesIn(a)
				paths, certain = append(paths, more...), certain && sure
			}
		}
	}
	return paths, certain
}
