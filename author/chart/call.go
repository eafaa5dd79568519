package chart

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// specials rewrite calls of functions; false leaves the call to what holds for
// all functions.
var specials map[string]func(r *rewriter, p *parse.PipeNode, i int) bool

func init() {
	specials = map[string]func(*rewriter, *parse.PipeNode, int) bool{
		"include": (*rewriter).rewriteInclude, "tpl": (*rewriter).rewriteTpl,
		"lookup": (*rewriter).rewriteLookup, "dict": (*rewriter).rewriteDict,
	}
	for name := range drawn {
		specials[name] = (*rewriter).rewriteRandom
	}
}

var basePath = regexp.MustCompile(`^\(\s*(?:(?:print|printf "%s%s"|printf "%s/%s")\s+\$?[\w.]*\.Template\.BasePath\s+"([^"]+)"|printf "%s/([^"%]+)"\s+\$?[\w.]*\.Template\.BasePath)\s*\)$`)

// rewriteInclude replaces `include (print $.Template.BasePath "/x.yaml") .` by the text that x
// renders.
func (r *rewriter) rewriteInclude(p *parse.PipeNode, i int) bool {
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
		r.refuseCommand(p, i, "include of "+r.textOf(at), `take what another file renders with rendered: {{ rendered "configmap" | sha256sum }}`)
		return true
	}
	name := asName(strings.TrimPrefix(path.Clean("/"+m[1]+m[2]), "/"))
	r.replaceSpan(r.commandSpan(cmd), "rendered "+strconv.Quote(strings.TrimSuffix(name, ".yaml")))
	return true
}

// rewriteDict gives the keys of a dict that belong to Helm their new names.
func (r *rewriter) rewriteDict(p *parse.PipeNode, i int) bool {
	args := p.Cmds[i].Args[1:]
	for j := 0; j+1 < len(args); j += 2 {
		key, ok := args[j].(*parse.StringNode)
		if !ok {
			continue
		}
		switch key.Text {
		case "Values":
			r.replaceSpan(r.operandSpan(key), `"spec"`)
		case "Release":
			r.replaceSpan(r.operandSpan(key), `"metadata"`)
		case "Chart", "Capabilities", "Files", "Template", "Subcharts", "helm.sh/chart":
			// Nobody reads them there any more: what they are is written out. And
			// no chart made the object.
			r.delete(span{r.endOf(p.Cmds[i].Args[j]), r.endOf(args[j+1])})
		}
	}
	return false
}

// rewriteLookup checks that a lookup has what the engine needs: a literal kind and a name.
func (r *rewriter) rewriteLookup(p *parse.PipeNode, i int) bool {
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
		r.refuseCommand(p, i, "lookup of a computed kind", "write its apiVersion and kind as literal texts")
		return true
	case literal[3] && texts[3] == "":
		r.refuseCommand(p, i, "lookup of all objects of a kind", `use select with a selector: select "v1" "Pod" (dict "matchLabels" …)`)
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
