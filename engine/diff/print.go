package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Print writes what would become of a resource; full shows what is kept too.
func (r *Resource) Print(w io.Writer, full bool) {
	fmt.Fprintf(w, "%s: %s\n", r.named(), r.summary())
	if r.Self != nil && r.Self.Verb != Kept {
		r.Self.print(w, "resource")
	}
	for i := range r.Changes {
		if c := &r.Changes[i]; full || c.Verb != Kept {
			c.print(w, "")
		}
	}
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

// named is "Web default/a (webs.example.com)".
func (r *Resource) named() string { return r.Called + " (" + r.Kind + ")" }

func (r *Resource) summary() string {
	switch {
	case r.Self != nil && r.Self.Verb.wrong():
		return "the resource itself is " + string(r.Self.Verb) + ": " + r.Self.Why
	case r.Error != "":
		return r.Error
	}
	if r.Outcome() == Nothing && len(r.Waiting) == 0 && r.Counts[Held] == 0 {
		return "nothing would change"
	}
	children := "children: " + r.Counts.String()
	if r.Self != nil && r.Self.Verb != Kept {
		return "itself " + string(r.Self.Verb) + "; " + children
	}
	return children
}

// print writes one line about an object, and its diff below it.
func (c *Change) print(w io.Writer, what string) {
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

// shown is how many deletions are named unless all are asked for.
const shown = 50

// Print writes one line for each resource that something would become of, or
// with full everything, and the totals.
func (i *Impact) Print(w io.Writer, full bool) {
	for _, r := range i.sorted() {
		switch {
		case full:
			r.Print(w, false)
		case r.Outcome() != Nothing || r.Counts[Held] > 0 || len(r.Waiting) > 0:
			fmt.Fprintf(w, "%s: %s\n", r.named(), r.summary())
			r.printWrong(w)
		}
	}
	changed := slices.DeleteFunc(slices.Clone(i.Resources), func(r *Resource) bool { return r.Outcome() == Nothing })
	fmt.Fprintf(w, "%s: %d of %d resources; %s\n", i.Kind, len(changed), len(i.Resources), i.Counts)
	if len(i.Deletes) > 0 {
		fmt.Fprintf(w, "  deletes %d:\n", len(i.Deletes))
	}
	for n, name := range slices.Sorted(slices.Values(i.Deletes)) {
		if n == shown && !full {
			fmt.Fprintf(w, "    and %d more; --full names them\n", len(i.Deletes)-n)
			break
		}
		fmt.Fprintf(w, "    %s\n", name)
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

// printWrong names what is refused or not known.
func (r *Resource) printWrong(w io.Writer) {
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Verb.wrong() {
			short := *c
			short.Diff = ""
			short.print(w, "")
		}
	}
}
