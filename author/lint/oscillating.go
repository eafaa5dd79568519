package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// oscillating finds files that put into themselves what changes each time that
// they are written.
func (l *linter) oscillating() {
	for _, file := range slices.Sorted(maps.Keys(l.flow.Paths)) {
		for _, way := range l.flow.Paths[file] {
			for _, made := range way.Documents {
				if way.Ends == "" {
					l.puts(file, made.Root, "status")
				}
			}
		}
	}
}

// puts looks at a node of what a file makes; at is its path in the resource,
// where the file is status.yaml.
func (l *linter) puts(file string, n *typecheck.Node, at string) {
	if n == nil {
		return
	}
	values := append(slices.Concat(n.Text, n.Beside), n.Value)
	for _, v := range values {
		switch part := ""; {
		case v == nil:
		case file == statusFile && slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool {
			return s.Read == "" && (s.Made || len(n.Text) > 1) && (s.Path == at || s.Path != "" && within(at, s.Path))
		}):
			l.add(Oscillating, n.Place, fmt.Sprintf(
				"%s is made of what it was before, so each write of the status brings about the next: make it of what the children or the spec say",
				at))
		case file != statusFile && slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool {
			part = s.Path
			return s.File == file && !s.Trait && turns(s.Path)
		}):
			l.add(Oscillating, n.Place, fmt.Sprintf(
				"%s.yaml puts %s into that child, so each write of it brings about the next: put in only what it must keep, such as a field of its spec or data, or a checksum of what it is made of",
				file, cmp.Or(part, "the whole")+" of its own child"))
		}
	}
	for _, e := range n.Keys {
		l.puts(file, e.Key, at)
		l.puts(file, e.Node, at+"."+e.Name)
	}
	for _, item := range n.Items {
		l.puts(file, item, at+"[]")
	}
}

// turns reports whether what stands at a path of a child changes whenever the child
// is written.
func turns(path string) bool {
	whole := []string{"", "metadata", "metadata.annotations", "metadata.resourceVersion", "metadata.generation", "metadata.managedFields"}
	return slices.Contains(whole, path) || strings.HasPrefix(path, "metadata.managedFields[")
}
