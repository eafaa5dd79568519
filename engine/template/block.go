package template

import (
	"bytes"
	"regexp"
)

var blockHeader = regexp.MustCompile(`(?:^|[:\-?] +)[|>][-+1-9]{0,2}[ \t]*(?:#.*)?$`)

// A blockScan goes through a text line by line and knows which lines belong to
// block scalars, as far as that is to be known without parsing.
type blockScan struct {
	inside bool
	parent int // blanks before the line that began the scalar
}

// line takes one line and says whether it is text of a block scalar.
func (s *blockScan) line(line []byte) bool {
	bare := bytes.TrimLeft(line, " ")
	blanks := len(line) - len(bare)
	if s.inside && (len(bare) == 0 || blanks > s.parent) {
		return true
	}
	s.inside = blockHeader.Match(line) && !bytes.ContainsAny(line, "\"'[{") && bare[0] != '#'
	s.parent = blanks
	return false
}

// inBlock says whether the last line of a skeleton is text of a block scalar.
func inBlock(text []byte) bool {
	var s blockScan
	in := false
	for line := range bytes.Lines(text) {
		in = s.line(bytes.TrimRight(line, "\n"))
	}
	return in
}

// comment says whether a line has come to a comment; in a block scalar it is
// none.
func comment(line []byte) bool {
	quote := byte(0)
	for i, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return true
		}
	}
	return false
}

// mostNodes is about how many nodes YAML can make of a text at most.
func mostNodes(text []byte) int {
	n := 1
	var s blockScan
	for line := range bytes.Lines(text) {
		if s.line(bytes.TrimRight(line, "\n")) || len(bytes.TrimLeft(line, " \n")) == 0 {
			continue
		}
		n += 2
		for _, c := range line {
			switch c {
			case ',', '[', '{', ':', '-', '?':
				n++
			}
		}
	}
	return n
}
