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

// foldList decides the ifs of a list whose conditions are known, and takes out the branches that
// are never taken.
func (r *rewriter) foldList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.IfNode:
			r.foldIf(n)
			r.foldList(n.List)
			r.foldList(n.ElseList)
		case *parse.WithNode:
			r.foldList(n.List)
			r.foldList(n.ElseList)
		case *parse.RangeNode:
			r.foldList(n.List)
			r.foldList(n.ElseList)
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
	r.collectConditions(n, conds)
	var arms []arm
	for _, a := range b[:len(b)-1] {
		arms = append(arms, arm{a, conds[a.from]})
	}
	var kept []arm
	for i, a := range arms {
		holds, known := r.isTrue(a.cond)
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
		if a.cond == nil || r.isGone(a.from) {
			continue
		}
		text := r.textOf(r.pipeSpan(a.cond))
		holds, known := r.isTrue(a.cond)
		if !known || !strings.Contains(text, ".Capabilities.") && !strings.Contains(text, "include ") {
			continue
		}
		r.decided = append(r.decided, decision{r.source, a.action, Note{File: r.source.name, Line: r.lineAt(a.from), What: text,
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

// collectConditions collects the conditions of a chain by their actions.
func (r *rewriter) collectConditions(n *parse.IfNode, into map[int]*parse.PipeNode) {
	into[r.actionAt(r.pipeSpan(n.Pipe).from).from] = n.Pipe
	if n.ElseList == nil || len(n.ElseList.Nodes) != 1 {
		return
	}
	if next, ok := n.ElseList.Nodes[0].(*parse.IfNode); ok {
		a := r.actionAt(r.pipeSpan(next.Pipe).from)
		if r.blocks[a.from] == nil {
			r.collectConditions(next, into)
		}
	}
}

// keepArms takes out all arms but some.
func (r *rewriter) keepArms(b block, kept []arm, end action) {
	if len(kept) == 0 {
		r.delete(r.wholeSpan(b[0], end))
		return
	}
	next := map[int]action{}
	for i, a := range b[:len(b)-1] {
		next[a.from] = b[i+1]
	}
	if kept[0].cond == nil {
		r.unwrapBranch(span{r.wholeSpan(b[0], b[0]).from, r.wholeSpan(kept[0].action, kept[0].action).to})
		last := next[kept[0].from]
		r.delete(span{r.wholeSpan(last, last).from, r.wholeSpan(end, end).to})
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
			r.replaceSpan(span{a.begin, a.end}, " else ")
		}
		at = next[a.from].from
	}
	if at < end.from {
		r.delete(span{at, end.from})
	}
}

// unwrapBranch takes out what opens a branch that is always taken. Text at column 0 stays there,
// since the lines that start a document must be there.
func (r *rewriter) unwrapBranch(at span) {
	joined := at.from > 0 && r.text[at.from-1] != '\n'
	if joined && r.text[at.to-1] == '\n' {
		r.replaceSpan(at, "\n")
		return
	}
	r.delete(at)
}

// isTrue reports whether a condition is true, as far as that is known.
func (r *rewriter) isTrue(p *parse.PipeNode) (holds, known bool) {
	if p == nil {
		return true, true
	}
	v, known := r.foldValue(p)
	return v != "" && v != "false", known
}

// foldValue returns the text of an expression that is known before any resource is. "true" and
// "false" stand for booleans.
func (v *conversion) foldValue(p *parse.PipeNode) (string, bool) {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		return "", false
	}
	args := p.Cmds[0].Args
	if path := helmPath(args[0]); path != nil {
		switch {
		case len(args) == 1:
			return v.knownText(path)
		case len(args) == 2 && strings.Join(path, ".") == "Capabilities.APIVersions.Has":
			return v.isServed(args[1])
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
	return applyFunction(fn.Ident, texts)
}

func (v *conversion) operandValue(n parse.Node) (string, bool) {
	switch n := n.(type) {
	case *parse.StringNode:
		return n.Text, true
	case *parse.PipeNode:
		return v.foldValue(n)
	case *parse.BoolNode:
		return n.String(), true
	}
	if path := helmPath(n); path != nil {
		return v.knownText(path)
	}
	return "", false
}

// truthText returns "true" or "false".
func truthText(holds bool) (string, bool) {
	if holds {
		return "true", true
	}
	return "false", true
}

// applyFunction returns the result of a function for known texts.
func applyFunction(name string, texts []string) (string, bool) {
	last := texts[len(texts)-1]
	switch {
	case name == "and" || name == "or":
		return last, true
	case name == "not" && len(texts) == 1:
		return truthText(last == "" || last == "false")
	case name == "eq" && len(texts) == 2:
		return truthText(texts[0] == last)
	case name == "ne" && len(texts) == 2:
		return truthText(texts[0] != last)
	case name == "semverCompare" && len(texts) == 2:
		constraint, err := semver.NewConstraint(texts[0])
		version, err2 := semver.NewVersion(last)
		if err == nil && err2 == nil {
			return truthText(constraint.Check(version))
		}
	}
	return "", false
}

// isServed returns "true" or "false", for whether a cluster serves a group and version or a kind of
// it. The answer is known only where it is the same for every cluster.
func (v *conversion) isServed(n parse.Node) (string, bool) {
	text, ok := n.(*parse.StringNode)
	if !ok {
		return "", false
	}
	gv, kind := splitAPI(text.Text)
	parsed, err := apischema.ParseGroupVersion(gv)
	switch {
	case err != nil:
		return "", false
	case isOutlived(parsed):
		return "false", true
	case kind == "" && isStanding(parsed):
		return "true", true
	case kind != "" && isStanding(parsed) && schema.BuiltIn(parsed.WithKind(kind)):
		return "true", true
	}
	return "", false
}
