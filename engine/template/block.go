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

// readLine reads one line and reports whether it is text of a block scalar.
func (s *blockScan) readLine(line []byte) bool {
	if s.isText(line) {
		return true
	}
	bare := bytes.TrimLeft(line, " ")
	s.inside = blockHeader.Match(line) && !bytes.ContainsAny(line, "\"'[{") && bare[0] != '#'
	s.parent = len(line) - len(bare)
	return false
}

// isText reports whether a line that began like this would be text of a block scalar.
func (s *blockScan) isText(line []byte) bool {
	bare := bytes.TrimLeft(line, " ")
	return s.inside && (len(bare) == 0 || len(line)-len(bare) > s.parent)
}

// A lineScan knows what the current line of an output is. Each byte is read
// once, however often it is asked.
type lineScan struct {
	blocks blockScan // of the lines before
	lines  int       // bytes that blocks have read
	quotes quoteScan // of the current line
	line   int       // where that one begins
	looked int       // bytes that were read
}

// inBlock reports whether the current line is text of a block scalar.
func (o *output) inBlock() bool {
	s := &o.scan
	s.looked += o.line - s.lines
	for s.lines < o.line {
		end := s.lines + bytes.IndexByte(o.buf[s.lines:], '\n')
		s.blocks.readLine(o.buf[s.lines:end])
		s.lines = end + 1
	}
	return s.blocks.isText(o.linePrefix())
}

// inComment reports whether the current line has come to a comment; in a block
// scalar it is none.
func (o *output) inComment() bool {
	s := &o.scan
	if s.line != o.line {
		s.line, s.quotes = o.line, quoteScan{}
	}
	before := s.quotes.read
	comment := s.quotes.findComment(o.linePrefix())
	s.looked += s.quotes.read - before
	return comment && !o.inBlock()
}

// inQuotes reports whether a quote is open on the current line, once inComment was
// asked.
func (o *output) inQuotes() bool { return o.scan.quotes.quote != 0 }

// A quoteScan goes through a line, as far as it is written, to its comment.
type quoteScan struct {
	read  int // bytes
	quote byte
	found bool
}

// findComment reports whether the line has come to a comment. The line only grew since the last
// call.
func (s *quoteScan) findComment(line []byte) bool {
	for ; s.read < len(line) && !s.found; s.read++ {
		switch i, c := s.read, line[s.read]; {
		case s.quote != 0:
			if c == s.quote {
				s.quote = 0
			}
		case c == '"' || c == '\'':
			s.quote = c
		case c == '#':
			s.found = i == 0 || line[i-1] == ' ' || line[i-1] == '\t'
		}
	}
	return s.found
}

// mostNodes is about how many nodes YAML can make of a text at most.
func mostNodes(text []byte) int {
	n := 1
	var s blockScan
	for line := range bytes.Lines(text) {
		if s.readLine(bytes.TrimRight(line, "\n")) || len(bytes.TrimLeft(line, " \n")) == 0 {
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
