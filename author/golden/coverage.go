package golden

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/trace"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Coverage is which outcomes of a kind's templates some case came to. A file that
// can wait has two, waiting and rendered. Each if and with has two, taken and not taken, and each range, with
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
	// "without items"; of a file that can wait "waiting", "rendered".
	Outcome string `json:"outcome"`
}

// Cover finds out what these runs of a kind's files cover.
func Cover(k *kind.Kind, runs []*trace.Run) *Coverage {
	took, left := map[template.Place]bool{}, map[template.Place]bool{}
	for _, run := range runs {
		for _, s := range run.Steps {
			took[s.Branch.Place] = took[s.Branch.Place] || s.Took > 0
			left[s.Branch.Place] = left[s.Branch.Place] || s.Left > 0
		}
	}
	c := &Coverage{Kind: k.Name}
	for _, name := range k.Files {
		c.fileEntry(k.Templates.Tree(name).ParseName)
	}
	if k.HasStatus {
		c.fileEntry(k.Templates.Tree("status").ParseName)
	}
	in := typecheck.InputOf(k)
	in.Quick, in.Live = true, schema.BuiltInType
	never := typecheck.Follow(in).Never
	for _, b := range trace.Branches(k.Templates, trace.FilesOf(k)) {
		f := c.fileEntry(b.Place.File)
		if b.Constant {
			f.countOutcome(b, true, took[b.Place] || left[b.Place])
			continue
		}
		for taken, covered := range map[bool]bool{true: took[b.Place], false: left[b.Place]} {
			if covered || !never[typecheck.Outcome{Place: b.Place, Taken: taken}] {
				f.countOutcome(b, taken, covered)
			}
		}
	}
	for _, name := range k.Files {
		c.countWaits(k, name, runs)
	}
	for _, f := range c.Files {
		slices.SortStableFunc(f.Missing, func(a, b Missing) int {
			return cmp.Or(a.Line-b.Line, a.Column-b.Column, -strings.Compare(a.Outcome, b.Outcome))
		})
	}
	slices.SortFunc(c.Files, func(a, b FileCovered) int { return strings.Compare(a.File, b.File) })
	return c
}

// fileEntry returns the entry of a file. It adds one if there is none.
func (c *Coverage) fileEntry(name string) *FileCovered {
	i := slices.IndexFunc(c.Files, func(f FileCovered) bool { return f.File == name })
	if i < 0 {
		i = len(c.Files)
		c.Files = append(c.Files, FileCovered{File: name})
	}
	return &c.Files[i]
}

// countOutcome counts one outcome of a branch.
func (f *FileCovered) countOutcome(b *trace.Branch, taken, covered bool) {
	f.Total++
	if covered {
		f.Covered++
		return
	}
	f.Missing = append(f.Missing, Missing{File: b.Place.File, Line: b.Place.Line, Column: b.Place.Column, Text: b.Text,
		Outcome: b.Outcome(taken)})
}

// countWaits counts the two outcomes of a file that can wait: that it waits, and that it is
// rendered.
func (c *Coverage) countWaits(k *kind.Kind, name string, runs []*trace.Run) {
	waited, rendered := false, false
	for _, r := range runs {
		var wait *template.Wait
		if r.File == name {
			waited, rendered = waited || errors.As(r.Err, &wait), rendered || r.Err == nil
		}
	}
	tree := k.Templates.Tree(name)
	call := firstWait(tree.Root)
	if call == nil && !waited {
		return
	}
	place, text := template.Place{File: tree.ParseName, Line: 1, Column: 1}, name+".yaml"
	if call != nil {
		place, text = k.Templates.Place(tree, call), call.String()
	}
	f := c.fileEntry(tree.ParseName)
	for outcome, covered := range map[string]bool{"waiting": waited, "rendered": rendered} {
		if f.Total++; covered {
			f.Covered++
			continue
		}
		f.Missing = append(f.Missing, Missing{File: f.File, Line: place.Line, Column: place.Column, Text: text, Outcome: outcome})
	}
}

// firstWait returns the first command of a node that calls wait or await; nil if none
// does.
func firstWait(n parse.Node) parse.Node {
	var below []parse.Node
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			below = n.Nodes
		}
	case *parse.ActionNode:
		below = []parse.Node{n.Pipe}
	case *parse.TemplateNode:
		below = []parse.Node{n.Pipe}
	case *parse.IfNode:
		below = []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.WithNode:
		below = []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.RangeNode:
		below = []parse.Node{n.Pipe, n.List, n.ElseList}
	case *parse.PipeNode:
		if n != nil {
			for _, cmd := range n.Cmds {
				below = append(below, cmd)
			}
		}
	case *parse.CommandNode:
		if fn, is := n.Args[0].(*parse.IdentifierNode); is && (fn.Ident == "wait" || fn.Ident == "await") {
			return n
		}
		below = n.Args
	}
	for _, b := range below {
		if found := firstWait(b); found != nil {
			return found
		}
	}
	return nil
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
