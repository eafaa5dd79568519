package lint

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkNamePresent finds a document whose name may be missing.
func (l *linter) checkNamePresent(d *document, absent absences) {
	metadata := entryOf(d.root, "metadata")
	if metadata == nil || metadata.Keys == nil {
		return // a map that is printed as a whole may have one
	}
	missing := fmt.Sprintf("%s requires metadata.name", d.kindAndVersion())
	name := entryOf(metadata, "name")
	if name == nil {
		open := len(metadata.Beside) > 0 || entryOf(metadata, "") != nil
		absent.recordMap(metadata.Place, missing, !open)
		return
	}
	absent.recordMap(metadata.Place, missing, false)
	switch v := name.Value; {
	case v == nil:
	case v.Known && (v.Const == nil || v.Const == ""):
		l.add(InvalidChild, name.Place, missing+", and this is nil")
	case v.Nil:
		l.add(typecheck.Nil, name.Place, fmt.Sprintf("%s, and %s may be absent: give it a value with default, or ask with required", missing,
			nameOfValue(v)))
	}
}

// checkNewest finds reads of a file's newest child where that child may be of any of several kinds.
// await may wait for such a file, if no field of what it returns is read.
func (l *linter) checkNewest() {
	for _, ask := range l.kind.Asks {
		if ask.Function == "child" {
			l.newestOf(ask.Args[0], ask.Function, ask.Place)
		}
	}
	for file, place := range l.flow.Awaited {
		l.newestOf(file, "await", place)
	}
}

func (l *linter) newestOf(file, function string, place template.Place) {
	if beside := l.kind.Beside(file); beside != "" {
		l.add(typecheck.ArgumentType, place,
			fmt.Sprintf("%s.yaml makes %s and others, and %s gives the newest of them all, whatever its kind: put what is read into a file of its own",
				file, beside, function))
	}
}
