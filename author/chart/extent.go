package chart

import (
	"strings"
	"text/template/parse"
)

// start is the offset at which a node is written. The parser puts a field of
// several names at the second one, and a pipeline in parentheses behind the
// first of them.
func (s *source) start(n parse.Node) int {
	off := int(n.Position())
	switch n := n.(type) {
	case *parse.FieldNode:
		if len(n.Ident) > 1 {
			off -= len(n.Ident[0]) + 1
		}
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			off -= len(n.Ident[0])
		}
	case *parse.ChainNode:
		return s.start(n.Node)
	case *parse.PipeNode: // as an operand
		off = s.start(n.Cmds[0].Args[0])
		if len(n.Decl) > 0 {
			off = s.start(n.Decl[0])
		}
		return strings.LastIndexByte(s.text[:off], '(')
	}
	return off
}

// endOf returns the offset behind an operand.
func (s *source) endOf(n parse.Node) int {
	at := s.start(n)
	depth := 0
	for at < len(s.text) {
		switch c := s.text[at]; {
		case c == '(':
			depth++
		case c == ')':
			if depth == 0 {
				return at
			}
			depth--
		case depth > 0:
		case isBlank(c), c == '|', c == ',', c == '}', c == ':', c == '=':
			return at
		}
		at = pastToken(s.text, at)
	}
	return at
}

// A span is a part of a text, as byte offsets.
type span struct{ from, to int }

func (s *source) operandSpan(n parse.Node) span { return span{s.start(n), s.endOf(n)} }

func (s *source) commandSpan(cmd *parse.CommandNode) span {
	return span{s.start(cmd.Args[0]), s.endOf(cmd.Args[len(cmd.Args)-1])}
}

// pipeSpan is the commands of a pipeline, without what it declares and without
// parentheses around it.
func (s *source) pipeSpan(p *parse.PipeNode) span {
	return span{s.start(p.Cmds[0].Args[0]), s.commandSpan(p.Cmds[len(p.Cmds)-1]).to}
}

func (s *source) textOf(at span) string { return s.text[at.from:at.to] }
