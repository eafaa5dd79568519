package crdfile

import (
	"regexp"
	"strconv"
)

var oneStep = regexp.MustCompile(`[^.\[\]]+`)

// SplitPath takes a path as findings spell it, such as items[0].name, apart: names
// of fields as string, numbers of list items as int.
func SplitPath(path string) []any {
	var all []any
	for _, part := range oneStep.FindAllString(path, -1) {
		if n, err := strconv.Atoi(part); err == nil {
			all = append(all, n)
		} else {
			all = append(all, part)
		}
	}
	return all
}
