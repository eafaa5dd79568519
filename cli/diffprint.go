//go:build !operator

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/admin/diff"
)

// printDiff writes what would become of a resource; full shows what is kept too.
func printDiff(w io.Writer, r *diff.Resource, full bool) {
	fmt.Fprintf(w, "%s: %s\n", diffNamed(r), diffSummary(r))
	if r.Self != nil && r.Self.Verb != diff.Kept {
		printChange(w, r.Self, "resource")
	}
	for i := range r.Changes {
		if c := &r.Changes[i]; full || c.Verb != diff.Kept {
			printChange(w, c, "")
		}
	}
	printUnready(w, r)
	for _, text := range r.Waiting {
		fmt.Fprintf(w, "  waits       %s\n", text)
	}
	for _, text := range r.Troubles {
		fmt.Fprintf(w, "  not known   %s\n", text)
	}
	for _, text := range r.Notes {
		fmt.Fprintf(w, "  note        %s\n", text)
	}
}

// diffNamed is "Web default/a (webs.example.com)".
func diffNamed(r *diff.Resource) string { return r.Called + " (" + r.Kind + ")" }

func diffSummary(r *diff.Resource) string {
	switch {
	case r.Self != nil && r.Self.Verb.Wrong():
		return "the resource itself is " + string(r.Self.Verb) + ": " + r.Self.Why
	case r.Error != "":
		return r.Error
	}
	summary := childrenSummary(r)
	if len(r.Unready) > 0 {
		summary += "; it becomes not ready"
	}
	return summary
}

func childrenSummary(r *diff.Resource) string {
	if r.Outcome() == diff.Nothing && len(r.Waiting) == 0 && r.Counts[diff.Blocked] == 0 {
		return "nothing would change"
	}
	children := "children: " + r.Counts.String()
	if r.Self != nil && r.Self.Verb != diff.Kept {
		return "itself " + string(r.Self.Verb) + "; " + children
	}
	return children
}

// printChange writes one line about an object, and its diff below it.
func printChange(w io.Writer, c *diff.Change, what string) {
	line := fmt.Sprintf("  %-11s %s", c.Verb, c.Named())
	if what != "" {
		line += " (the " + what + " itself)"
	}
	if c.Place != "" {
		line += "  " + c.Place
	}
	if c.Why != "" {
		line += "  # " + c.Why
	}
	fmt.Fprintln(w, line)
	for text := range strings.Lines(c.Diff) {
		fmt.Fprint(w, "      "+text)
	}
}

// shownDeletes is how many deletions are named unless all are asked for.
const shownDeletes = 50

// printImpact writes one line for each resource that something would become of, or
// with full everything, and the totals.
func printImpact(w io.Writer, i *diff.Impact, full bool) {
	for _, r := range i.Sorted() {
		switch {
		case full:
			printDiff(w, r, false)
		case r.Outcome() != diff.Nothing || r.Counts[diff.Blocked] > 0 || len(r.Waiting) > 0:
			fmt.Fprintf(w, "%s: %s\n", diffNamed(r), diffSummary(r))
			printWrong(w, r)
			printUnready(w, r)
		}
	}
	changed := slices.DeleteFunc(slices.Clone(i.Resources), func(r *diff.Resource) bool { return r.Outcome() == diff.Nothing })
	fmt.Fprintf(w, "%s: %d of %d resources; %s\n", i.Kind, len(changed), len(i.Resources), i.Counts)
	if len(changed) > 0 && !full {
		fmt.Fprintln(w, "  --full shows the differences of each")
	}
	if len(i.Deletes) > 0 {
		fmt.Fprintf(w, "  deletes %d:\n", len(i.Deletes))
	}
	for n, name := range slices.Sorted(slices.Values(i.Deletes)) {
		if n == shownDeletes && !full {
			fmt.Fprintf(w, "    and %d more; --full names them\n", len(i.Deletes)-n)
			break
		}
		fmt.Fprintf(w, "    %s\n", name)
	}
	if i.Unready > 0 {
		fmt.Fprintf(w, "  %s\n", unreadySummary(i.Unready))
	}
	if i.Stops != "" {
		fmt.Fprintf(w, "  a rollout of this folder stops before it begins: %s\n", i.Stops)
	}
	for _, text := range i.Troubles {
		fmt.Fprintf(w, "  not known: %s\n", text)
	}
	for _, text := range i.Notes {
		fmt.Fprintf(w, "  note: %s\n", text)
	}
}

// unreadySummary is "12 resources become not ready".
func unreadySummary(n int) string {
	if n == 1 {
		return "1 resource becomes not ready"
	}
	return fmt.Sprintf("%d resources become not ready", n)
}

// printUnready names the children by which a resource becomes not ready.
func printUnready(w io.Writer, r *diff.Resource) {
	for _, text := range r.Unready {
		fmt.Fprintf(w, "  not ready   %s\n", text)
	}
}

// printWrong names what is refused or not known.
func printWrong(w io.Writer, r *diff.Resource) {
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Verb.Wrong() {
			short := *c
			short.Diff = ""
			printChange(w, &short, "")
		}
	}
}
