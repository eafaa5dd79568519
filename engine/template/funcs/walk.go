package funcs

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A walk goes by all matches of a pattern as package regexp finds them,
// without keeping any, and counts its steps. Package regexp takes about as
// many, but cannot be told to stop.
type walk struct {
	prog      *syntax.Prog
	begin     syntax.EmptyOp // what must hold where a match begins
	now, then threads
	left      int // steps
}

// threads are the instructions that a search has come to, in the order of
// their priority, each once.
type threads struct {
	list  []thread
	index []int // where in the list an instruction may be
}

// A thread is an instruction, and where the match begins that comes to it.
type thread struct {
	pc   uint32
	from int
}

// beginWalk begins a walk of at most so many steps.
func (p *pattern) beginWalk(steps int) *walk {
	n := len(p.prog.Inst)
	return &walk{
		prog: p.prog, begin: p.prog.StartCond(), left: steps,
		now: threads{index: make([]int, n)}, then: threads{index: make([]int, n)},
	}
}

// findAll gives where each match begins and ends until the answer is no or no
// steps are left.
func (w *walk) findAll(s string, yield func(from, to int) bool) {
	last := -1
	for pos := 0; pos <= len(s); {
		from, to := w.findFirst(s, pos)
		if to < 0 || w.left < 0 {
			return
		}
		// An empty match right behind another one is none.
		if (to != pos || from != last) && !yield(from, to) {
			return
		}
		last = to
		if to > pos {
			pos = to
			continue
		}
		_, width := runeAt(s, pos)
		pos += max(width, 1)
	}
}

// endOfText is no rune.
const endOfText = -1

func runeAt(s string, pos int) (r rune, width int) {
	if pos >= len(s) {
		return endOfText, 0
	}
	return utf8.DecodeRuneInString(s[pos:])
}

// findFirst finds the first match from pos on; to is negative if there is none.
func (w *walk) findFirst(s string, pos int) (from, to int) {
	from, to = -1, -1
	before := rune(endOfText)
	if pos > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:pos])
	}
	w.now.list = w.now.list[:0]
	for w.left >= 0 {
		if len(w.now.list) == 0 && (to >= 0 || w.begin&syntax.EmptyBeginText != 0 && pos != 0) {
			break
		}
		r, width := runeAt(s, pos)
		if to < 0 {
			w.add(&w.now, thread{uint32(w.prog.Start), pos}, syntax.EmptyOpContext(before, r))
		}
		after, _ := runeAt(s, pos+width)
		if start, found := w.takeRune(r, pos+width, syntax.EmptyOpContext(r, after)); found {
			from, to = start, pos
		}
		if w.left--; width == 0 {
			break
		}
		before, pos = r, pos+width
		w.now, w.then = w.then, w.now
	}
	return from, to
}

// takeRune takes all threads over a rune, down to the first that has matched,
// whose beginning it returns.
func (w *walk) takeRune(r rune, next int, cond syntax.EmptyOp) (from int, found bool) {
	w.then.list = w.then.list[:0]
	for _, t := range w.now.list {
		i := &w.prog.Inst[t.pc]
		switch i.Op {
		case syntax.InstMatch:
			return t.from, true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r != endOfText && i.MatchRune(r) {
				w.add(&w.then, thread{i.Out, t.from}, cond)
			}
		}
	}
	return 0, false
}

// add adds an instruction and those that follow it without a rune.
func (w *walk) add(to *threads, t thread, cond syntax.EmptyOp) {
	for {
		w.left--
		if j := to.index[t.pc]; j < len(to.list) && to.list[j].pc == t.pc {
			return
		}
		to.index[t.pc] = len(to.list)
		to.list = append(to.list, t)
		i := &w.prog.Inst[t.pc]
		switch i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			w.add(to, thread{i.Out, t.from}, cond)
			t.pc = i.Arg
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^cond != 0 {
				return
			}
			t.pc = i.Out
		case syntax.InstNop, syntax.InstCapture:
			t.pc = i.Out
		default:
			return
		}
	}
}
