package typecheck

import (
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/signature"
)

// A fact is what a path has found out about a named value by its branches.
type fact struct {
	can signature.Kinds // the kinds that are left
	// truth is 1 where the value counts as true, -1 where as false.
	truth int
	// among are the only values that are left, if it is one of some; not are
	// values that it is not.
	among, not []any
	// path: another path may come to the same place without it.
	way bool
	// by is the fork that told it first.
	by *fork
}

// facts are those of a path, by the name of the value, and how they came to be
// so: what a branch changed is found without a look at all of them.
type facts struct {
	known map[string]fact
	log   []change
}

// A change is what a fact was before; was is false if there was none.
type change struct {
	id  string
	old fact
	was bool
}

func (f *facts) set(id string, now fact) {
	f.logChange(id)
	f.known[id] = now
}

// forgetFact removes what is known of a value.
func (f *facts) forgetFact(id string) {
	f.logChange(id)
	delete(f.known, id)
}

// logChange logs what was known of a value before a change.
func (f *facts) logChange(id string) {
	old, was := f.known[id]
	f.log = append(f.log, change{id, old, was})
}

// currentMark returns the mark in front of all later changes.
func (f *facts) currentMark() int { return len(f.log) }

// changesSince returns, for each value whose facts changed since a mark, what was known of it at
// the mark.
func (f *facts) changesSince(mark int) map[string]change {
	all := map[string]change{}
	for _, c := range f.log[mark:] {
		if _, later := all[c.id]; !later {
			all[c.id] = c
		}
	}
	return all
}

// revertFacts restores all facts as they were at a mark.
func (f *facts) revertFacts(mark int) {
	for _, c := range slices.Backward(f.log[mark:]) {
		if f.known[c.id] = c.old; !c.was {
			delete(f.known, c.id)
		}
	}
	f.log = f.log[:mark]
}

// narrowByFacts returns the value with what is known of it by now.
func (f *facts) narrowByFacts(v *val) *val {
	got, there := f.known[v.id]
	if !there || v.id == "" {
		return v
	}
	return got.narrowValue(v)
}

// narrowValue returns a value narrowed by the fact.
func (f fact) narrowValue(v *val) *val {
	out := *v
	out.can &= f.can
	if v.can&signature.Nil != 0 && f.way && (f.can&signature.Nil == 0 || f.truth > 0) {
		out.by = f.by
	}
	out.way = v.way || f.way
	if f.truth != 0 {
		out.counts = f.truth
	}
	switch {
	case f.truth > 0:
		out.can &^= signature.Nil
		out.shortest = max(out.shortest, 1)
		out.assumeTruth()
	case f.truth < 0 && out.can == signature.Bool:
		out.known, out.constant = true, false
	case f.truth < 0 && out.can == signature.Nil:
		out.known, out.constant = true, nil
	}
	if enum := f.filterEnum(out.enumValues()); len(enum) == 1 && out.can&signature.Nil == 0 {
		out.known, out.constant = true, enum[0]
	} else if len(enum) > 1 && f.truth == 0 && allTruthy(enum) && out.can&signature.Nil == 0 {
		out.shortest = max(out.shortest, 1)
	}
	return &out
}

// assumeTruth narrows a value that counts as true.
func (v *val) assumeTruth() {
	if v.can == signature.Bool {
		v.known, v.constant = true, true
	}
	v.filled = v.filled || v.can&(signature.List|signature.Map) != 0
	if v.least != nil && *v.least == 0 && v.can&signature.Int != 0 {
		one := 1.0
		v.least = &one
	}
	if v.least == nil && v.most == nil && v.can&signature.Number != 0 {
		least := tiny
		v.least = &least
	}
}

// tiny is the least of a number that is not 0, on either side of it.
const tiny = 1e-300

func allTruthy(values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool { return !isTruthy(v) })
}

// filterEnum returns the values of an enumeration that remain possible. The enumeration may be
// unknown.
func (f fact) filterEnum(enum []any) []any {
	if f.among != nil {
		if enum == nil {
			enum = f.among
		} else {
			enum = slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return !hasValue(f.among, v) })
		}
	}
	return slices.DeleteFunc(slices.Clone(enum), func(v any) bool {
		return hasValue(f.not, v) || f.truth > 0 && !isTruthy(v) || f.truth < 0 && isTruthy(v)
	})
}

// hasValue reports whether a list of constants contains a constant.
func hasValue(values []any, v any) bool {
	return slices.ContainsFunc(values, func(other any) bool { return formatConstant(other) == formatConstant(v) })
}

// learnFact adds what was found out about a value. A field of an absent value is absent.
func (w *path) learnFact(v *val, change func(*fact)) {
	if v.id == "" || v.known {
		return
	}
	got, there := w.facts.known[v.id]
	if !there {
		got = fact{can: signature.Any, by: w.lastFork()}
	}
	truth := got.truth
	change(&got)
	got.way = got.way && there
	w.facts.set(v.id, got)
	if w.premise != nil && (truth*got.truth < 0 || got.can == 0) {
		w.over = true // no resource takes this path
	}
	if got.truth > 0 || got.can&signature.Nil == 0 {
		w.learnPresence(v.parent)
	}
}

// learnPresence records that a map is there, since one of its fields is.
func (w *path) learnPresence(id string) {
	for id != "" {
		got, known := w.facts.known[id]
		if !known {
			got = fact{can: signature.Any, by: w.lastFork()}
		}
		got.can &^= signature.Nil
		got.truth = 1
		got.way = got.way && known
		w.facts.set(id, got)
		id = w.parents[id]
	}
}

// leaveBranch keeps what was found out within a branch, since the mark before, for the rest of the
// path. necessary is true if the path continues only through this branch.
func (w *path) leaveBranch(before int, necessary bool) {
	if necessary {
		return
	}
	for id, c := range w.facts.changesSince(before) {
		f, there := w.facts.known[id]
		changed := !c.was || c.old.way || f.truth != c.old.truth || f.can != c.old.can
		if there && changed && !f.way {
			f.way = true
			w.facts.set(id, f)
		}
	}
}

// leaveLoop forgets what was found out about items of a loop: nothing else has
// their names.
func (w *path) leaveLoop(before int) {
	for id, c := range w.facts.changesSince(before) {
		if !c.was && strings.Contains(id, "@") {
			w.facts.forgetFact(id)
		}
	}
	w.leaveBranch(before, false)
}
