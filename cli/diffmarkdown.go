//go:build !operator

package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/admin/diff"
)

// formatMarkdown returns what would change in the cluster, for a comment on a pull request. What is
// deleted and what stops comes first, then the differences. They are those of the other forms, so
// the same values are masked.
func (o *diffOptions) formatMarkdown() *markdown {
	m := &markdown{}
	wrong := errors.Join(o.errs...)
	if wrong != nil {
		o.outcome = diff.Wrong
	}
	m.addText("### Cluster: %s", map[diff.Outcome]string{
		diff.Nothing: "nothing would change", diff.Changes: "something would change", diff.Wrong: "something is refused or not known",
	}[o.outcome])
	if errs := listMessages(wrong); len(errs) > 0 {
		m.addText("Errors:")
		m.addFence("text", strings.Join(errs, "\n"))
	}
	for _, i := range o.impacts {
		impactMarkdown(m, i)
	}
	for _, i := range o.impacts {
		for _, r := range i.Sorted() {
			if r.Outcome() != diff.Nothing || r.Counts[diff.Blocked] > 0 || len(r.Waiting) > 0 {
				resourceMarkdown(m, r, o.full)
			}
		}
	}
	for _, r := range o.results {
		resourceMarkdown(m, r, true)
	}
	return m
}

// impactMarkdown is what a folder does to all resources of its kind.
func impactMarkdown(m *markdown, i *diff.Impact) {
	changed := slices.DeleteFunc(slices.Clone(i.Resources), func(r *diff.Resource) bool { return r.Outcome() == diff.Nothing })
	m.addText("Of %s: %d of %d resources; %s", inCode(i.Kind), len(changed), len(i.Resources), i.Counts)
	if len(i.Deletes) > 0 {
		m.addText("**It deletes %d:**", len(i.Deletes))
		m.addFence("text", strings.Join(slices.Sorted(slices.Values(i.Deletes)), "\n"))
	}
	if i.Unready > 0 {
		m.addText("**%s.**", unreadySummary(i.Unready))
	}
	if i.Stops != "" {
		m.addText("**A rollout of this folder stops before it begins:**")
		m.addFence("text", i.Stops)
	}
	addRemarks(m, i.Troubles, i.Notes)
}

// addRemarks adds what is not known, and what to know besides.
func addRemarks(m *markdown, troubles, notes []string) {
	if len(troubles) > 0 {
		m.addText("Not known:")
		m.addFence("text", strings.Join(troubles, "\n"))
	}
	if len(notes) > 0 {
		m.addText("To note:")
		m.addFence("text", strings.Join(notes, "\n"))
	}
}

// resourceMarkdown is what becomes of one resource; full shows the differences too.
func resourceMarkdown(m *markdown, r *diff.Resource, full bool) {
	m.addText("Resource %s: %s", inCode(diffNamed(r)), inCode(diffSummary(r)))
	changes := slices.Clone(r.Changes)
	if r.Self != nil {
		changes = slices.Insert(changes, 0, *r.Self)
	}
	for i := range changes {
		c := &changes[i]
		if c.Verb == diff.Kept || !full && !c.Verb.Wrong() {
			continue
		}
		line := "- " + string(c.Verb) + " " + inCode(c.Named())
		if c.Place != "" {
			line += " at " + inCode(c.Place)
		}
		if c.Why != "" {
			line += ": " + inCode(c.Why)
		}
		m.addText("%s", line)
		if full {
			m.addFence("diff", c.Diff)
		}
	}
	if len(r.Unready) > 0 {
		m.addText("It becomes not ready:")
		m.addFence("text", strings.Join(r.Unready, "\n"))
	}
	if len(r.Waiting) > 0 {
		m.addText("It waits:")
		m.addFence("text", strings.Join(r.Waiting, "\n"))
	}
	addRemarks(m, r.Troubles, r.Notes)
}
