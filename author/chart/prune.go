package chart

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// A define is one define of a source and where it stands.
type define struct {
	source *source
	tree   *parse.Tree
	block  block
	// dropped: nothing calls it.
	dropped bool
}

// parse reads all templates and finds their defines. Of several of one name
// Helm takes the last; the chart's own come after those of subcharts.
func (v *conversion) parse() error {
	v.defines = map[string]*define{}
	for _, library := range []bool{true, false} {
		for _, s := range v.sources {
			if s.library != library {
				continue
			}
			if err := s.parse(); err != nil {
				return err
			}
			if err := s.plainTexts(); err != nil {
				return err
			}
			for _, name := range sortedKeys(s.defines) {
				v.declareDefine(s, name)
			}
		}
	}
	return nil
}

// plainTexts makes the partial of a widespread library that runs any value as a
// template, be it a text or a structure, one that says so in as many words.
func (s *source) plainTexts() error {
	b := s.blockOf("common.tplvalues.render")
	if b == nil {
		return nil
	}
	s.text = s.text[:b[0].to] + `
{{- if typeIs "string" .value }}{{- tpl .value .context }}{{- else }}{{- tpl (toYaml .value) .context }}{{- end }}
` + s.text[b[len(b)-1].from:]
	return s.parse()
}

// declareDefine records a define. If a define of that name is already known, it takes that one out.
func (v *conversion) declareDefine(s *source, name string) {
	d := &define{source: s, tree: s.defines[name], block: s.blockOf(name)}
	if before := v.defines[name]; before != nil && d.block != nil {
		before.source.deleteBlock(before.block)
		v.addNote(Note{File: before.source.name, Line: before.source.lineAt(before.block[0].from), What: "the define " + name,
			Do: fmt.Sprintf("left out: %s defines it too, and Helm takes that one", s.name)})
	}
	v.defines[name] = d
}

// blockOf is the block that defines a name.
func (s *source) blockOf(name string) block {
	for _, a := range s.actions {
		words := strings.TrimSpace(s.text[a.begin:a.end])
		for _, quote := range []string{`"`, "`"} {
			if rest, ok := strings.CutPrefix(words, a.word); ok && (a.word == "define" || a.word == "block") &&
				strings.HasPrefix(strings.TrimSpace(rest), quote+name+quote) {
				return s.blocks[a.from]
			}
		}
	}
	return nil
}

// deleteBlock takes out a define, and the comment above it.
func (s *source) deleteBlock(b block) {
	at := span{b[0].from, b[len(b)-1].to}
	for i := len(s.actions) - 1; i >= 0; i-- {
		if a := s.actions[i]; a.comment && a.to <= at.from && strings.TrimSpace(s.text[a.to:at.from]) == "" {
			at.from = a.from
		}
	}
	if rest := s.text[at.to:]; strings.HasPrefix(rest, "\n") {
		at.to++
	}
	s.delete(at)
}

// pruneDefines takes out the defines that nothing calls any more.
func (v *conversion) pruneDefines() {
	called := map[string]bool{}
	computes := false
	var follow func(list parse.Node)
	trees := v.parseResults()
	follow = func(n parse.Node) {
		names, computed := calledNames(n)
		computes = computes || computed
		for _, name := range names {
			if called[name] {
				continue
			}
			called[name] = true
			if tree := trees[name]; tree != nil {
				follow(tree.Root)
			}
		}
	}
	for name, tree := range trees {
		if strings.HasPrefix(name, "file ") {
			follow(tree.Root)
		}
	}
	if computes { // a computed name may be that of any define
		return
	}
	for name, d := range v.defines {
		if !called[name] && d.block != nil && d.block[0].word == "define" {
			d.source.deleteBlock(d.block)
			d.dropped = true
		}
	}
}

// parseResults parses what has become of the sources. It returns the trees of defines by name, and
// those of files by "file " and name.
func (v *conversion) parseResults() map[string]*parse.Tree {
	trees := map[string]*parse.Tree{}
	for _, s := range v.sources {
		if s.left {
			continue
		}
		tree := parse.New(s.name)
		tree.Mode = parse.SkipFuncCheck
		set := map[string]*parse.Tree{}
		if _, err := tree.Parse(s.resultText(), "", "", set); err != nil {
			v.addNote(Note{File: s.name, What: "what was made of it cannot be read", Do: err.Error()})
			continue
		}
		delete(set, s.name)
		for name, define := range set {
			trees[name] = define
		}
		if !s.isPartial() {
			trees["file "+s.as] = tree
		}
	}
	return trees
}

// calledNames returns the names of the templates that a node calls. computed is true if it calls
// one whose name is not literal.
func calledNames(node parse.Node) (names []string, computed bool) {
	inspectNode(node, func(n parse.Node) {
		switch n := n.(type) {
		case *parse.TemplateNode:
			names = append(names, n.Name)
		case *parse.CommandNode:
			fn, ok := n.Args[0].(*parse.IdentifierNode)
			if !ok || fn.Ident != "include" || len(n.Args) < 2 {
				return
			}
			if name, literal := n.Args[1].(*parse.StringNode); literal {
				names = append(names, name.Text)
			} else if !readsTemplate(n.Args[1]) {
				computed = true
			}
		}
	})
	return names, computed
}

// readsTemplate reports whether an expression goes by the paths of templates, as
// that of another file does.
func readsTemplate(node parse.Node) (found bool) {
	inspectNode(node, func(n parse.Node) {
		if path := helmPath(n); path != nil && path[0] == "Template" {
			found = true
		}
	})
	return found
}

// inspectNode calls a function for a node and all below it.
func inspectNode(node parse.Node, visit func(parse.Node)) {
	visit(node)
	each := func(p *parse.PipeNode, lists ...*parse.ListNode) {
		if p != nil {
			inspectNode(p, visit)
		}
		for _, l := range lists {
			if l != nil {
				inspectNode(l, visit)
			}
		}
	}
	switch n := node.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			inspectNode(one, visit)
		}
	case *parse.ActionNode:
		each(n.Pipe)
	case *parse.IfNode:
		each(n.Pipe, n.List, n.ElseList)
	case *parse.WithNode:
		each(n.Pipe, n.List, n.ElseList)
	case *parse.RangeNode:
		each(n.Pipe, n.List, n.ElseList)
	case *parse.TemplateNode:
		each(n.Pipe)
	case *parse.PipeNode:
		for _, cmd := range n.Cmds {
			inspectNode(cmd, visit)
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			inspectNode(a, visit)
		}
	case *parse.ChainNode:
		inspectNode(n.Node, visit)
	}
}
