package funcs

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

const (
	maxPattern  = 1000    // bytes of a pattern
	maxProgram  = 5000    // instructions of a pattern, repetitions written out
	maxScan     = 1 << 27 // instructions times bytes of text, for one match
	maxPatterns = 256     // compiled patterns that are kept
	maxSearch   = 1 << 25 // instructions that all matches come to, about a second
	// groupsPerStep is how many groups are taken along in about the time of an
	// instruction.
	groupsPerStep = 8
)

// patterns keeps compiled patterns; when it is full it starts again.
var patterns = struct {
	sync.Mutex
	all map[string]*pattern
}{all: map[string]*pattern{}}

// A pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp
	size int
	prog *syntax.Prog
}

// compileFor gives a pattern that may look through the text.
func compileFor(expr, text string) (*pattern, error) {
	p, err := cachedPattern(expr)
	if err != nil {
		return nil, wrapArgument(0, err)
	}
	if multiplyLengths(p.size, len(text)) > maxScan {
		return nil, fmt.Errorf("a pattern of %d steps takes too long on %d bytes", p.size, len(text))
	}
	return p, nil
}

func cachedPattern(expr string) (*pattern, error) {
	if len(expr) > maxPattern {
		return nil, fmt.Errorf("is a pattern of %d bytes, more than the limit of %d", len(expr), maxPattern)
	}
	patterns.Lock()
	defer patterns.Unlock()
	if p := patterns.all[expr]; p != nil {
		return p, nil
	}
	p, err := compilePattern(expr)
	if err != nil {
		return nil, err
	}
	if len(patterns.all) >= maxPatterns {
		clear(patterns.all)
	}
	patterns.all[strings.Clone(expr)] = p
	return p, nil
}

func compilePattern(expr string) (*pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		var known *syntax.Error
		if errors.As(err, &known) {
			return nil, errors.New("is not a regular expression: " + known.Code.String())
		}
		return nil, errors.New("is not a regular expression")
	}
	size := programSize(tree)
	if size > maxProgram {
		return nil, fmt.Errorf("is a pattern of more than the limit of %d steps; its repetitions multiply", maxProgram)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, errors.New("is not a regular expression")
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, errors.New("is not a regular expression")
	}
	return &pattern{Regexp: re, size: size, prog: prog}, nil
}

// programSize says about how many instructions a pattern compiles to, before
// they are made.
func programSize(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n = addLengths(n, programSize(sub))
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		return multiplyLengths(n, max(1, re.Min+1, re.Max))
	}
	return addLengths(n, 1)
}

// forAll gives a pattern of which the text has not too many matches, and which
// finds them in time.
func forAll(lim Limits, expr, s string) (*pattern, error) {
	p, err := compileFor(expr, s)
	if err != nil {
		return nil, err
	}
	return p, p.countMatches(lim, s)
}

// countMatches goes by all matches without keeping any, unless there cannot be
// too many. One match takes time in proportion to the text, but a pattern such
// as "b.*c|b" may look through the rest of the text for each of its matches.
func (p *pattern) countMatches(lim Limits, s string) error {
	most := lim.Nodes / (p.NumSubexp() + 1)
	steps := maxSearch / (1 + p.NumSubexp()/groupsPerStep) // each takes its groups along
	if len(s)+1 < most && multiplyLengths(len(s)+1, multiplyLengths(p.size, len(s)+1)) <= steps {
		return nil
	}
	n, w := 0, p.beginWalk(steps)
	w.findAll(s, func(int, int) bool { n++; return n < most })
	switch {
	case w.left < 0:
		return errors.New("finding all matches takes too long")
	case n >= most:
		return tooMany(lim)
	}
	return nil
}
