package chart

import (
	"fmt"
	"strings"
	"text/template/parse"

	"github.com/Masterminds/semver/v3"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// An arm is one branch of an if: its action, and what it asks; a nil condition
// always holds.
type arm struct {
	action
	cond *parse.PipeNode
}

// fold decides the ifs of a list whose conditions are known, and takes out the
// branches that are never taken.
func (r *rewriter) fold(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.IfNode:
			r.foldIf(n)
			r.fold(n.List)
			r.fold(n.ElseList)
		case *parse.WithNode:
			r.fold(n.List)
			r.fold(n.ElseList)
		case *parse.RangeNode:
			r.fold(n.List)
			r.fold(n.ElseList)
		}
	}
}

// foldIf folds one chain of if and else if.
func (r *rewriter) foldIf(n *parse.IfNode) {
	b := r.blocks[r.actionAt(r.pipeSpan(n.Pipe).from).from]
	if b == nil { // an else if: folded with its chain
		return
	}
	end := b[len(b)-1]
	conds := map[int]*parse.PipeNode{}
	r.conditions(n, conds)
	var arms []arm
	for _, a := range b[:len(b)-1] {
		arms = append(arms, arm{a, conds[a.from]})
	}
	var kept []arm
	for i, a := range arms {
		holds, known := r.holds(a.cond)
		if known && !holds {
			continue
		}
		if known {
			a.cond = nil
		}
		kept = append(kept, a)
		if known {
			arms = arms[:i+1]
			break
		}
	}
	if len(kept) == len(b)-1 && (kept[len(kept)-1].cond != nil) == (conds[kept[len(kept)-1].from] != nil) {
		return
	}
	r.noteDecided(arms)
	r.keepArms(b, kept, end)
}

// noteDecided says which conditions about the cluster were decided.
func (r *rewriter) noteDecided(arms []arm) {
	for _, a := range arms {
		if a.cond == nil || r.gone(a.from) {
			continue
		}
		text := r.textOf(r.pipeSpan(a.cond))
		holds, known := r.holds(a.cond)
		if !known || !strings.Contains(text, ".Capabilities.") && !strings.Contains(text, "include ") {
			continue
		}
		r.decided = append(r.decided, decision{r.source, a.action, Note{File: r.source.name, Line: r.line(a.from), What: text,
			Do: fmt.Sprintf("always %t in a cluster of Kubernetes %s, so the branch is decided: see that this is meant", holds, kubeVersion)}})
	}
}

// A decision is a note about an action that was taken out with what it decided.
type decision struct {
	source *source
	action action
	note   Note
}

// notesDecided are the notes of decisions in what was carried over.
func (v *conversion) notesDecided() []Note {
	var all []Note
	for _, d := range v.decided {
		in := d.source.defineAt(d.action.from)
		if kept := v.defines[in]; !d.source.left && (in == "" || kept != nil && !kept.dropped) {
			all = append(all, d.note)
		}
	}
	return all
}

// conditions collects the conditions of a chain by their actions.
func (r *rewriter) conditions(n *parse.IfNode, into map[int]*parse.PipeNode) {
	into[r.actionAt(r.pipeSpan(n.Pipe).from).from] = n.Pipe
	if n.ElseList == nil || len(n.ElseList.Nodes) != 1 {
		return
	}
	if next, ok := n.ElseList.Nodes[0].(*parse.IfNode); ok {
		a := r.actionAt(r.pipeSpan(next.Pipe).from)
		if r.blocks[a.from] == nil {
			r.conditions(next, into)
		}
	}
}

// keepArms takes out all arms but some.
func (r *rewriter) keepArms(b block, kept []arm, end action) {
	if len(kept) == 0 {
		r.delete(r.whole(b[0], end))
		return
	}
	next := map[int]action{}
	for i, a := range b[:len(b)-1] {
		next[a.from] = b[i+1]
	}
	if kept[0].cond == nil {
		r.unwrap(span{r.whole(b[0], b[0]).from, r.whole(kept[0].action, kept[0].action).to})
		last := next[kept[0].from]
		r.delete(span{r.whole(last, last).from, r.whole(end, end).to})
		return
	}
	at := b[0].from
	for i, a := range kept {
		if a.from > at {
			r.delete(span{at, a.from})
		}
		switch words := r.text[a.begin:a.end]; {
		case i == 0 && a.word == "else":
			from := a.begin + strings.Index(words, "else")
			r.delete(span{from, from + strings.Index(words[strings.Index(words, "else"):], "if")})
		case i > 0 && a.cond == nil && strings.TrimSpace(words) != "else":
			r.replace(span{a.begin, a.end}, " else ")
		}
		at = next[a.from].from
	}
	if at < end.from {
		r.delete(span{at, end.from})
	}
}

// unwrap takes out what opens a branch that is always taken. What stood at
// column 0 stays there, as the lines that say what a document is must.
func (r *rewriter) unwrap(at span) {
	joined := at.from > 0 && r.text[at.from-1] != '\n'
	if joined && r.text[at.to-1] == '\n' {
		r.replace(at, "\n")
		return
	}
	r.delete(at)
}

// holds reports whether a condition is true, as far as that is known.
func (r *rewriter) holds(p *parse.PipeNode) (holds, known bool) {
	if p == nil {
		return true, true
	}
	v, known := r.value(p)
	return v != "" && v != "false", known
}

// value is the text of an expression that is known before any resource is;
// "true" and "false" stand for booleans.
func (v *conversion) value(p *parse.PipeNode) (string, bool) {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		return "", false
	}
	args := p.Cmds[0].Args
	if path := helms(args[0]); path != nil {
		switch {
		case len(args) == 1:
			return v.known(path)
		case len(args) == 2 && strings.Join(path, ".") == "Capabilities.APIVersions.Has":
			return v.served(args[1])
		}
		return "", false
	}
	fn, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		return v.operandValue(args[0])
	}
	if fn.Ident == "include" && len(args) == 3 {
		name, literal := args[1].(*parse.StringNode)
		return v.apiVersionOf(name, literal)
	}
	var texts []string
	all := true
	for _, a := range args[1:] {
		text, known := v.operandValue(a)
		if short := text != "" && text != "false"; known && (fn.Ident == "or" && short || fn.Ident == "and" && !short) {
			return text, true
		}
		texts, all = append(texts, text), all && known
	}
	if !all || len(texts) == 0 {
		return "", false
	}
	return apply(fn.Ident, texts)
}

func (v *conversion) operandValue(n parse.Node) (string, bool) {
	switch n := n.(type) {
	case *parse.StringNode:
		return n.Text, true
	case *parse.PipeNode:
		return v.value(n)
	case *parse.BoolNode:
		return n.String(), true
	}
	if path := helms(n); path != nil {
		return v.known(path)
	}
	return "", false
}

func truth(holds bool) (string, bool) {
	if holds {
		return "true", true
	}
	return "false", true
}

// apply is what some functions give for known texts.
func apply(name string, texts []string) (string, bool) {
	last := texts[len(texts)-1]
	switch {
	case name == "and" || name == "or":
		return last, true
	case name == "not" && len(texts) == 1:
		return truth(last == "" || last == "false")
	case name == "eq" && len(texts) == 2:
		return truth(texts[0] == last)
	case name == "ne" && len(texts) == 2:
		return truth(texts[0] != last)
	case name == "semverCompare" && len(texts) == 2:
		constraint, err := semver.NewConstraint(texts[0])
		version, err2 := semver.NewVersion(last)
		if err == nil && err2 == nil {
			return truth(constraint.Check(version))
		}
	}
	return "", false
}

// served reports whether a cluster serves a group and version, or a kind of it,
// where that is the same for every cluster.
func (v *conversion) served(n parse.Node) (string, bool) {
	text, ok := n.(*parse.StringNode)
	if !ok {
		return "", false
	}
	gv, kind := splitAPI(text.Text)
	parsed, err := apischema.ParseGroupVersion(gv)
	switch {
	case err != nil:
		return "", false
	case outlived(parsed):
		return "false", true
	case kind == "" && standing(parsed):
		return "true", true
	case kind != "" && standing(parsed) && schema.BuiltIn(parsed.WithKind(kind)):
		return "true", true
	}
	return "", false
}
