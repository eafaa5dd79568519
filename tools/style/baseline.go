package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// baselineFile lists the findings that were there when the checks began.
const baselineFile = "tools/style/baseline.txt"

// An entry names a finding. It has no line, so that it outlives changes elsewhere in the file.
type entry struct {
	file, check, identifier string
}

// String returns the entry as a line of the baseline.
func (e entry) String() string { return e.file + " " + e.check + " " + e.identifier }

// withoutFile returns what stays the same if the file is moved.
func (e entry) withoutFile() entry { return entry{"", e.check, e.identifier} }

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.check, b.check), cmp.Compare(a.identifier, b.identifier))
}

// parseBaseline parses a baseline.
func parseBaseline(text string) ([]entry, error) {
	var entries []entry
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %q is not FILE CHECK IDENTIFIER", baselineFile, len(entries)+1, strings.TrimSpace(line))
		}
		entries = append(entries, entry{fields[0], fields[1], fields[2]})
	}
	return entries, nil
}

// compareBaseline returns the findings that are not in the baseline, and what is wrong with the
// baseline. If update is true, it writes the baseline again first.
func compareBaseline(found *findings, update bool) ([]string, error) {
	entries, err := readBaseline()
	if update && errors.Is(err, fs.ErrNotExist) {
		return nil, writeBaseline(slices.Collect(maps.Keys(found.places)))
	}
	if err != nil {
		return nil, err
	}
	if update {
		entries = updateEntries(entries, found)
		if err := writeBaseline(entries); err != nil {
			return nil, err
		}
	}
	return slices.Concat(found.compareTo(entries), findAdded(entries, readFirstBaseline())), nil
}

// readBaseline reads the baseline.
func readBaseline() ([]entry, error) {
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		return nil, err
	}
	return parseBaseline(string(text))
}

func writeBaseline(entries []entry) error {
	slices.SortFunc(entries, compareEntries)
	return os.WriteFile(baselineFile, []byte(formatEntries(entries)), 0o644)
}

// formatEntries returns the text of a baseline.
func formatEntries(entries []entry) string {
	var text strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&text, e)
	}
	return text.String()
}

// hasGone reports whether an entry of the baseline no longer occurs. The entries of a file that
// this run did not read stay as long as the file exists: it may be for another platform.
func (f *findings) hasGone(e entry) bool {
	if f.places[e] != "" {
		return false
	}
	_, err := os.Stat(e.file)
	return f.files[e.file] || errors.Is(err, fs.ErrNotExist)
}

// compareTo returns the findings that are not in a baseline, and its entries that have gone or are not in order.
func (f *findings) compareTo(entries []entry) []string {
	var problems []string
	listed := map[entry]bool{}
	for _, e := range entries {
		listed[e] = true
	}
	for _, e := range slices.SortedFunc(maps.Keys(f.places), compareEntries) {
		if !listed[e] {
			problems = append(problems, f.places[e])
		}
	}
	for i, e := range entries {
		at := fmt.Sprintf("%s:%d:1", baselineFile, i+1)
		switch {
		case f.hasGone(e):
			problems = append(problems, fmt.Sprintf("%s: %q no longer occurs; take it out, or run make style-update", at, e))
		case i > 0 && compareEntries(entries[i-1], e) >= 0:
			problems = append(problems, fmt.Sprintf("%s: %q is not in order; sort the lines, or run make style-update", at, e))
		}
	}
	return problems
}

// updateEntries returns the entries of a baseline that still occur. An entry whose finding is in
// another file now follows it.
func updateEntries(entries []entry, found *findings) []entry {
	var kept []entry
	moved := map[entry]int{}
	listed := map[entry]bool{}
	for _, e := range entries {
		switch {
		case listed[e]:
		case found.hasGone(e):
			moved[e.withoutFile()]++
		default:
			kept = append(kept, e)
		}
		listed[e] = true
	}
	for _, e := range slices.SortedFunc(maps.Keys(found.places), compareEntries) {
		if key := e.withoutFile(); !listed[e] && moved[key] > 0 {
			moved[key]--
			kept = append(kept, e)
		}
	}
	return kept
}

// findAdded returns the entries of a baseline that were not in the first one, in whatever file.
func findAdded(entries, first []entry) []string {
	if first == nil {
		return nil
	}
	var problems []string
	left := map[entry]int{}
	for _, e := range first {
		left[e.withoutFile()]++
	}
	for i, e := range entries {
		if left[e.withoutFile()]--; left[e.withoutFile()] < 0 {
			problems = append(problems, fmt.Sprintf("%s:%d:1: %q was added, and the baseline may only shrink; mend what it names", baselineFile, i+1, e))
		}
	}
	return problems
}

// readFirstBaseline returns the baseline as it was committed at first, or nil if Git does not know it.
func readFirstBaseline() []entry {
	commit, err := exec.Command("git", "log", "-1", "--diff-filter=A", "--format=%H", "--", baselineFile).Output()
	if err != nil || len(commit) == 0 {
		return nil
	}
	text, err := exec.Command("git", "show", strings.TrimSpace(string(commit))+":"+baselineFile).Output()
	if err != nil {
		return nil
	}
	entries, err := parseBaseline(string(text))
	if err != nil {
		return nil
	}
	return entries
}
