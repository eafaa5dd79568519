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

// rewriteTpl replaces `tpl X .` by X, where X is no template: values are texts, and files become
// partials.
func (r *rewriter) rewriteTpl(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	if len(cmd.Args) != 3 || i > 0 {
		r.refuseCommand(p, i, "tpl", "write the template into the folder, as a partial, and use include")
		return true
	}
	x, at := cmd.Args[1], r.commandSpan(cmd)
	if name, ok := r.literalFile(x); ok && anyTemplate.Match(r.files[name]) {
		called := r.chart.name + "." + name
		r.replaceSpan(at, "include "+strconv.Quote(called)+" "+r.textOf(r.operandSpan(cmd.Args[2])))
		r.addPartial(name, called)
		return true
	}
	if r.movedDefault(cmd) {
		return true
	}
	found := r.templatedPath(cmd)
	guarded := found != "" && r.isAlone(p)
	if found != "" && !guarded {
		r.refuseCommand(p, i, "tpl of "+r.textOf(r.operandSpan(x)),
			fmt.Sprintf("%s of values.yaml is a template: write it into the folder, and let the spec say only what varies", found))
		return true
	}
	inner := r.operandSpan(x)
	if pipe, ok := x.(*parse.PipeNode); ok {
		inner = r.pipeSpan(pipe)
		r.rewritePipe(pipe)
	} else {
		r.rewriteOperand(x, true)
	}
	r.delete(span{at.from, inner.from})
	r.delete(span{inner.to, at.to})
	do := "the text is taken as it is: a template in a resource is not run, unlike one in values"
	if guarded {
		r.guardText(inner)
		do = found + " of values.yaml is a template: the resource is refused where its text would be used. Write it into the folder, and let the spec say only what varies"
	}
	r.source.noteAt(inner.from, "tpl of "+r.textOf(inner), do)
	return true
}

// isAlone reports whether a pipeline is all of an action that prints.
func (r *rewriter) isAlone(p *parse.PipeNode) bool {
	at := r.pipeSpan(p)
	a := r.actionAt(at.from)
	return a.word == "tpl" && strings.TrimSpace(r.text[a.begin:at.from]) == "" && strings.TrimSpace(r.text[at.to:a.end]) == ""
}

// guardText refuses the resource if a text that the action prints holds a template.
func (r *rewriter) guardText(text span) {
	a := r.actionAt(text.from)
	open, end := "{{ ", " }}"
	if a.trimLeft {
		open = "{{- "
	}
	if a.trimRight {
		end = " -}}"
	}
	said := "a text of the spec holds a template, which is not run: write it into the folder"
	r.replaceSpan(span{a.from, a.from}, fmt.Sprintf("%sif contains \"{{\" (toJson (%s)) }}{{ fail %q }}{{ else }}",
		open, r.resultOf(text), said))
	r.replaceSpan(span{a.to, a.to}, "{{ end"+end)
}

// movedDefault makes `tpl .Values.x .`, where x of values.yaml is a text with
// actions, the value of the spec or else what a partial of that text prints.
func (r *rewriter) movedDefault(cmd *parse.CommandNode) bool {
	names := helmPath(cmd.Args[1])
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
	r.replaceSpan(span{at.from, x.from}, "default (include "+strconv.Quote(called)+" "+r.textOf(to)+") ")
	r.rewriteOperand(cmd.Args[1], true)
	r.delete(span{x.to, to.to})
	r.moved[path] = true
	r.source.noteAt(x.from, "tpl of "+path+", which is a template in values.yaml",
		"the partial "+called+" prints the default; a text in the spec is taken as it is, and is absent where it was the default")
	return true
}

// templatedPath returns the path of a value that a call of tpl may get and that is a template. A
// value of which nothing is known may be any.
func (r *rewriter) templatedPath(cmd *parse.CommandNode) string {
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
