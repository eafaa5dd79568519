package golden

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/typecheck"
)

// A Coverage is which outcomes of the branches of a kind's templates some case
// came to. Each if and with has two, taken and not taken, and each range, with
// items and without; one whose condition is literal has the one that it always
// comes to. An outcome that the schema or a branch around makes impossible, such
// as none of a list that has an item at least, does not count.
type Coverage struct {
	// Kind is the kind's name.
	Kind  string        `json:"kind"`
	Files []FileCovered `json:"files"`
}

// A FileCovered is how much of one file is covered. Partials count for each
// kind that calls them, as far as it does.
type FileCovered struct {
	File    string `json:"file"`
	Covered int    `json:"covered"`
	Total   int    `json:"total"`
	// Missing are the outcomes that no case came to.
	Missing []Missing `json:"missing,omitempty"`
}

// A Missing is one outcome of a branch that no case came to.
type Missing struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Text is the branch as its author wrote it.
	Text string `json:"text"`
	// Outcome says what never happens: "taken", "not taken", "with items",
	// "without items".
	Outcome string `json:"outcome"`
}

// Cover finds out what these runs of a kind's files cover.
func Cover(k *kind.Kind, runs []*template.Run) *Coverage {
	took, left := map[*template.Branch]bool{}, map[*template.Branch]bool{}
	for _, run := range runs {
		for _, s := range run.Steps {
			took[s.Branch] = took[s.Branch] || s.Took > 0
			left[s.Branch] = left[s.Branch] || s.Left > 0
		}
	}
	c := &Coverage{Kind: k.Name}
	for _, name := range k.Files {
		c.file(k.Templates.Tree(name).ParseName)
	}
	if k.HasStatus {
		c.file(k.Templates.Tree("status").ParseName)
	}
	in := k.FlowInput()
	in.Quick, in.Live = true, schema.BuiltInType
	never := typecheck.Follow(in).Never
	for _, b := range k.Templates.Branches() {
		f := c.file(b.Place.File)
		if b.Constant {
			f.count(b, true, took[b] || left[b])
			continue
		}
		for taken, covered := range map[bool]bool{true: took[b], false: left[b]} {
			if covered || !never[typecheck.Outcome{Place: b.Place, Taken: taken}] {
				f.count(b, taken, covered)
			}
		}
	}
	for _, f := range c.Files {
		slices.SortStableFunc(f.Missing, func(a, b Missing) int {
			return cmp.Or(a.Line-b.Line, a.Column-b.Column, -strings.Compare(a.Outcome, b.Outcome))
		})
	}
	slices.SortFunc(c.Files, func(a, b FileCovered) int { return strings.Compare(a.File, b.File) })
	return c
}

// file is the entry of a file.
func (c *Coverage) file(name string) *FileCovered {
	i := slices.IndexFunc(c.Files, func(f FileCovered) bool { return f.File == name })
	if i < 0 {
		i = len(c.Files)
		c.Files = append(c.Files, FileCovered{File: name})
	}
	return &c.Files[i]
}

func (f *FileCovered) count(b *template.Branch, taken, covered bool) {
	f.Total++
	if covered {
		f.Covered++
		return
	}
	f.Missing = append(f.Missing, Missing{File: b.Place.File, Line: b.Place.Line, Column: b.Place.Column, Text: b.Text,
		Outcome: b.Outcome(taken)})
}

// Count is how many outcomes some case came to, and how many there are.
func (c *Coverage) Count() (covered, total int) {
	for _, f := range c.Files {
		covered, total = covered+f.Covered, total+f.Total
	}
	return covered, total
}

// Percent is the share of outcomes that are covered, from 0 to 100; 100 if
// there are none. It is rounded down, so that 100 means all.
func Percent(covered, total int) int {
	if total == 0 {
		return 100
	}
	return covered * 100 / total
}
