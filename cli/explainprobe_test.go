//go:build !operator

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/author/trace"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// TestNamesEveryBranch: for every shipped folder and golden case, what explain
// says of each arm of each branch is true, and told with its line. It is found
// out in another way: from the parse tree, by writing `fail` into one arm after
// the other and looking whether the file then fails.
func TestNamesEveryBranch(t *testing.T) {
	loaded, err := catalog.Load([]string{".."})
	if err != nil || len(loaded.Kinds) == 0 {
		t.Fatalf("got %d kinds, %v", len(loaded.Kinds), err)
	}
	for name, k := range loaded.Kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := explained(t, loaded, name)
			compared := 0
			for _, a := range arms(t, k) {
				set := a.probe(t, k)
				for _, c := range cases {
					for _, f := range c.report.Files {
						compared++
						c.compare(t, set, f, a)
					}
				}
			}
			t.Logf("%d times an arm was compared", compared)
			if compared == 0 && len(trace.Branches(k.Templates, trace.FilesOf(k))) > 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// A told is a golden case and what explain says of it.
type told struct {
	name   string
	out    *catalog.Outcome
	report *explain.Report
	text   string
}

func explained(t *testing.T, loaded *catalog.Catalog, name string) []told {
	t.Helper()
	cases, err := loaded.Cases(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []told
	for _, one := range cases {
		out, err := loaded.Run(context.Background(), one)
		if err != nil {
			t.Fatal(err)
		}
		if out.Traced == nil { // the API server would refuse the resource
			continue
		}
		c := told{name: one.Name, out: out}
		c.report = explain.Of(explain.Input{Kind: out.Resource.Kind, Resource: out.Resource.Object, Traced: out.Traced})
		var text bytes.Buffer
		if err := explain.Write(&text, c.report, false); err != nil {
			t.Fatal(err)
		}
		c.text = text.String()
		all = append(all, c)
	}
	return all
}

// An arm is one arm of a branch of a kind's parse trees.
type arm struct {
	place string
	node  *parse.BranchNode
	taken bool
}

func arms(t *testing.T, k *kind.Kind) []arm {
	t.Helper()
	var all []arm
	for _, tree := range trees(k) {
		var walk func(n parse.Node)
		both := func(n *parse.BranchNode) {
			place := placeOf(t, tree.ParseName, int(n.Pipe.Pos))
			all = append(all, arm{place, n, true}, arm{place, n, false})
			walk(n.List)
			if n.ElseList != nil {
				walk(n.ElseList)
			}
		}
		walk = func(n parse.Node) {
			switch n := n.(type) {
			case *parse.ListNode:
				for _, below := range n.Nodes {
					walk(below)
				}
			case *parse.IfNode:
				both(&n.BranchNode)
			case *parse.WithNode:
				both(&n.BranchNode)
			case *parse.RangeNode:
				both(&n.BranchNode)
			}
		}
		walk(tree.Root)
	}
	return all
}

// trees are those of a kind's files and defines; defines are called
// "define NAME".
func trees(k *kind.Kind) map[string]*parse.Tree {
	all := map[string]*parse.Tree{}
	for _, name := range files(k) {
		all[name] = k.Templates.Tree(name)
	}
	for name, tree := range k.Templates.Defines() {
		all["define "+name] = tree
	}
	return all
}

func files(k *kind.Kind) []string {
	if k.HasStatus {
		return append(slices.Clone(k.Files), "status")
	}
	return k.Files
}

func placeOf(t *testing.T, file string, off int) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := string(text[:off])
	line := before[strings.LastIndex(before, "\n")+1:]
	return fmt.Sprintf("%s:%d:%d", file, strings.Count(before, "\n")+1, utf8.RuneCountInString(line)+1)
}

const alarm = "this arm was taken"

// probe compiles the folder with `fail` at the beginning of the arm.
func (a arm) probe(t *testing.T, k *kind.Kind) *template.Set {
	t.Helper()
	tree := parse.New("probe")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(`{{ fail "`+alarm+`" }}`, "", "", map[string]*parse.Tree{}); err != nil {
		t.Fatal(err)
	}
	list := &a.node.List
	if !a.taken {
		list = &a.node.ElseList
	}
	before := *list
	with := &parse.ListNode{NodeType: parse.NodeList, Nodes: slices.Clone(tree.Root.Nodes)}
	if before != nil {
		with.Nodes = append(with.Nodes, before.Nodes...)
	}
	*list = with
	defer func() { *list = before }()
	var sources []template.Source
	for name, tree := range trees(k) {
		text := tree.Root.String()
		if define, ok := strings.CutPrefix(name, "define "); ok {
			text = fmt.Sprintf("{{ define %q }}%s{{ end }}", define, text)
		}
		sources = append(sources, template.Source{Name: name, File: name, Text: text})
	}
	set, err := template.Compile(template.Input{Sources: sources, Config: k.Config})
	if err != nil {
		t.Fatalf("%s: %v", a.place, err)
	}
	return set
}

// compare runs one file of a case with the probe and compares with what was
// told of it.
func (c told) compare(t *testing.T, set *template.Set, f explain.File, a arm) {
	t.Helper()
	name := strings.TrimSuffix(f.File[strings.LastIndex(f.File, "/")+1:], ".yaml")
	_, err := set.Execute(context.Background(), name, render.Dot(c.out.Resource.Object), c.out.World)
	var failure *template.Failure
	went := errors.As(err, &failure) && failure.Message == alarm
	said := says(f.Branches, a)
	if went != said {
		t.Errorf("%s: %s: %s: taken %v: the probe says %v, explain %v", c.name, name, a.place, a.taken, went, said)
	}
	if said && !strings.Contains(c.text, a.place+": ") {
		t.Errorf("%s: the text does not name %s", c.name, a.place)
	}
}

// says reports whether an arm was taken, as the branches of a report tell.
func says(branches []*explain.Branch, a arm) bool {
	return slices.ContainsFunc(branches, func(b *explain.Branch) bool {
		here := b.Place.String() == a.place && (a.taken && b.Took > 0 || !a.taken && b.Left > 0)
		return here || says(b.Taken, a) || says(b.NotTaken, a)
	})
}

// TestNamesOnlyBranches: explain names no place that is no branch.
func TestNamesOnlyBranches(t *testing.T) {
	loaded, err := catalog.Load([]string{".."})
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range loaded.Kinds {
		places := map[string]bool{}
		for _, a := range arms(t, k) {
			places[a.place] = true
		}
		for _, c := range explained(t, loaded, name) {
			var check func([]*explain.Branch)
			check = func(branches []*explain.Branch) {
				for _, b := range branches {
					if !places[b.Place.String()] {
						t.Errorf("%s/%s: %s is no branch; there are %v", name, c.name, b.Place, slices.Sorted(maps.Keys(places)))
					}
					check(b.Taken)
					check(b.NotTaken)
				}
			}
			for _, f := range c.report.Files {
				check(f.Branches)
			}
		}
	}
}
