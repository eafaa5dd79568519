package schema

import "strings"

// Suggest returns the name in among that a misspelt name most likely means, or
// "" if none is near: at most one edit for every three letters, letter case
// aside. Of equally near names it returns the first.
func Suggest(name string, among []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, candidate := range among {
		if candidate == name {
			continue
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// editDistance returns the optimal string alignment distance: insertions, deletions, substitutions
// and swaps of neighbours that turn a into b, in bytes.
func editDistance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
