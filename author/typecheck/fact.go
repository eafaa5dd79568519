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
	f.note(id)
	f.known[id] = now
}

func (f *facts) forget(id string) {
	f.note(id)
	delete(f.known, id)
}

func (f *facts) note(id string) {
	old, was := f.known[id]
	f.log = append(f.log, change{id, old, was})
}

// mark is where the changes begin that are still to come.
func (f *facts) mark() int { return len(f.log) }

// since gives, of what changed since a mark, what it was there.
func (f *facts) since(mark int) map[string]change {
	all := map[string]change{}
	for _, c := range f.log[mark:] {
		if _, later := all[c.id]; !later {
			all[c.id] = c
		}
	}
	return all
}

// back makes all facts what they were at a mark.
func (f *facts) back(mark int) {
	for _, c := range slices.Backward(f.log[mark:]) {
		if f.known[c.id] = c.old; !c.was {
			delete(f.known, c.id)
		}
	}
	f.log = f.log[:mark]
}

// of is the value with what is known of it by now.
func (f *facts) of(v *val) *val {
	got, there := f.known[v.id]
	if !there || v.id == "" {
		return v
	}
	return got.narrow(v)
}

// narrow is a value with what is known of it.
func (f fact) narrow(v *val) *val {
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
		out.hold()
	case f.truth < 0 && out.can == signature.Bool:
		out.known, out.constant = true, false
	case f.truth < 0 && out.can == signature.Nil:
		out.known, out.constant = true, nil
	}
	if enum := f.left(out.enum()); len(enum) == 1 && out.can&signature.Nil == 0 {
		out.known, out.constant = true, enum[0]
	} else if len(enum) > 1 && f.truth == 0 && allTruthy(enum) && out.can&signature.Nil == 0 {
		out.shortest = max(out.shortest, 1)
	}
	return &out
}

// hold narrows a value that counts as true.
func (v *val) hold() {
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
	return !slices.ContainsFunc(values, func(v any) bool { return !truthy(v) })
}

// left are the values that remain of an enumeration, which may be unknown.
func (f fact) left(enum []any) []any {
	if f.among != nil {
		if enum == nil {
			enum = f.among
		} else {
			enum = slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return !has(f.among, v) })
		}
	}
	return slices.DeleteFunc(slices.Clone(enum), func(v any) bool {
		return has(f.not, v) || f.truth > 0 && !truthy(v) || f.truth < 0 && truthy(v)
	})
}

func has(values []any, v any) bool {
	return slices.ContainsFunc(values, func(other any) bool { return show(other) == show(v) })
}

// learn adds what was found out. What is a field of something absent is absent.
func (w *path) learn(v *val, change func(*fact)) {
	if v.id == "" || v.known {
		return
	}
	got, there := w.facts.known[v.id]
	if !there {
		got = fact{can: signature.Any, by: w.last()}
	}
	truth := got.truth
	change(&got)
	got.way = got.way && there
	w.facts.set(v.id, got)
	if w.premise != nil && (truth*got.truth < 0 || got.can == 0) {
		w.over = true // no resource takes this path
	}
	if got.truth > 0 || got.can&signature.Nil == 0 {
		w.there(v.parent)
	}
}

// there notes that a map is there, since a field of it is.
func (w *path) there(id string) {
	for id != "" {
		got, known := w.facts.known[id]
		if !known {
			got = fact{can: signature.Any, by: w.last()}
		}
		got.can &^= signature.Nil
		got.truth = 1
		got.way = got.way && known
		w.facts.set(id, got)
		id = w.parents[id]
	}
}

// leave keeps what was found out within a branch, since the mark before, for
// the rest of the path. necessary: the path goes on only through this branch.
func (w *path) leave(before int, necessary bool) {
	if necessary {
		return
	}
	for id, c := range w.facts.since(before) {
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
	for id, c := range w.facts.since(before) {
		if !c.was && strings.Contains(id, "@") {
			w.facts.forget(id)
		}
	}
	w.leave(before, false)
}
