package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// checkOscillation finds files whose output contains what changes with each write of it.
func (l *linter) checkOscillation() {
	for _, file := range slices.Sorted(maps.Keys(l.flow.Paths)) {
		for _, way := range l.flow.Paths[file] {
			for _, made := range way.Documents {
				if way.Ends == "" {
					l.checkOscillationAt(file, made.Root, "status")
				}
			}
		}
	}
}

// checkOscillationAt checks a node of what a file makes. For status.yaml, at is the path of the
// node in the resource.
func (l *linter) checkOscillationAt(file string, n *typecheck.Node, at string) {
	if n == nil {
		return
	}
	values := append(slices.Concat(n.Text, n.Beside), n.Value)
	for _, v := range values {
		switch part := ""; {
		case v == nil:
		case file == statusFile && slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool {
			return s.Read == "" && (s.Made || len(n.Text) > 1) && (s.Path == at || s.Path != "" && isBelow(at, s.Path))
		}):
			l.add(Oscillating, n.Place, fmt.Sprintf(
				"%s is made of what it was before, so each write of the status brings about the next: make it of what the children or the spec say",
				at))
		case file != statusFile && slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool {
			part = s.Path
			return s.File == file && !s.Trait && changesOnWrite(s.Path)
		}):
			l.add(Oscillating, n.Place, fmt.Sprintf(
				"%s.yaml puts %s into that child, so each write of it brings about the next: put in only what it must keep, such as a field of its spec or data, or a checksum of what it is made of",
				file, cmp.Or(part, "the whole")+" of its own child"))
		}
	}
	for _, e := range n.Keys {
		l.checkOscillationAt(file, e.Key, at)
		l.checkOscillationAt(file, e.Node, at+"."+e.Name)
	}
	for _, item := range n.Items {
		l.checkOscillationAt(file, item, at+"[]")
	}
}

// changesOnWrite reports whether the value at a path of a child changes whenever the child is
// written.
func changesOnWrite(path string) bool {
	whole := []string{"", "metadata", "metadata.annotations", "metadata.resourceVersion", "metadata.generation", "metadata.managedFields"}
	return slices.Contains(whole, path) || strings.HasPrefix(path, "metadata.managedFields[")
}
