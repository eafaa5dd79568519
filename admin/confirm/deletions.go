package confirm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Deletions lists children that would be deleted, given as "Kind namespace/name" or
// "Kind name", each on a line of its own below its kind. It returns "" for none.
func Deletions(children []string) string {
	byKind := map[string][]string{}
	for _, child := range children {
		kind, name, _ := strings.Cut(child, " ")
		byKind[kind] = append(byKind[kind], name)
	}
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		names := byKind[kind]
		slices.Sort(names)
		fmt.Fprintf(&text, "deletes %d %s:\n", len(names), kind)
		for _, name := range names {
			fmt.Fprintf(&text, "  %s\n", name)
		}
	}
	return text.String()
}
