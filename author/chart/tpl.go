package chart

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
)

var anyTemplate = regexp.MustCompile(`\{\{`)

// tpl makes `tpl X .` just X, where X is no template: values are texts, and
// files become partials.
func (r *rewriter) tpl(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	if len(cmd.Args) != 3 || i > 0 {
		r.refuse(p, i, "tpl", "write the template into the folder, as a partial, and use include")
		return true
	}
	x, at := cmd.Args[1], r.commandSpan(cmd)
	if name, ok := r.literalFile(x); ok && anyTemplate.Match(r.files[name]) {
		called := r.chart.name + "." + name
		r.replace(at, "include "+strconv.Quote(called)+" "+r.textOf(r.operandSpan(cmd.Args[2])))
		r.addPartial(name, called)
		return true
	}
	if r.movedDefault(cmd) {
		return true
	}
	found := r.templated(cmd)
	guarded := found != "" && r.alone(p)
	if found != "" && !guarded {
		r.refuse(p, i, "tpl of "+r.textOf(r.operandSpan(x)),
			fmt.Sprintf("%s of values.yaml is a template: write it into the folder, and let the spec say only what varies", found))
		return true
	}
	inner := r.operandSpan(x)
	if pipe, ok := x.(*parse.PipeNode); ok {
		inner = r.pipeSpan(pipe)
		r.pipe(pipe)
	} else {
		r.operand(x, true)
	}
	r.delete(span{at.from, inner.from})
	r.delete(span{inner.to, at.to})
	do := "the text is taken as it is: a template in a resource is not run, unlike one in values"
	if guarded {
		r.guard(inner)
		do = found + " of values.yaml is a template: the resource is refused where its text would be used. Write it into the folder, and let the spec say only what varies"
	}
	r.source.note(inner.from, "tpl of "+r.textOf(inner), do)
	return true
}

// alone reports whether a pipeline is all there is of an action that prints.
func (r *rewriter) alone(p *parse.PipeNode) bool {
	at := r.pipeSpan(p)
	a := r.actionAt(at.from)
	return a.word == "tpl" && strings.TrimSpace(r.text[a.begin:at.from]) == "" && strings.TrimSpace(r.text[at.to:a.end]) == ""
}

// guard refuses the resource where a text, which the action prints, holds a
// template.
func (r *rewriter) guard(text span) {
	a := r.actionAt(text.from)
	open, end := "{{ ", " }}"
	if a.trimLeft {
		open = "{{- "
	}
	if a.trimRight {
		end = " -}}"
	}
	said := "a text of the spec holds a template, which is not run: write it into the folder"
	r.replace(span{a.from, a.from}, fmt.Sprintf("%sif contains \"{{\" (toJson (%s)) }}{{ fail %q }}{{ else }}", open, r.resultOf(text), said))
	r.replace(span{a.to, a.to}, "{{ end"+end)
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
