//go:build !operator

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/jacquard-operator/jacquard/admin/tree"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// printTree writes the tree as text; ages are as of now.
func printTree(w io.Writer, t *tree.Tree, now time.Time) {
	fmt.Fprintf(w, "%s (%s)  %s\n", t.Resource, t.Kind, formatAge(t.Created, now))
	if t.Deleting {
		fmt.Fprintln(w, "  is being deleted")
	}
	if t.Revision != "" {
		fmt.Fprintf(w, "  served by revision %s of the folder\n", t.Revision)
	}
	if t.Server != nil {
		fmt.Fprintf(w, "  %s\n", t.Server.Text)
	}
	for _, c := range t.Conditions {
		line := fmt.Sprintf("  %s: %s", c.Type, c.Status)
		if c.Reason != "" {
			line += "  " + c.Reason
		}
		if c.Message != "" {
			line += ": " + c.Message
		}
		if c.Old {
			line += "  (of an earlier generation)"
		}
		fmt.Fprintln(w, line)
	}
	if len(t.Conditions) == 0 {
		fmt.Fprintln(w, "  no conditions yet")
	}
	(&treePrinter{w, t.Namespace, now}).printBranches(t.Children, "")
	for _, note := range t.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

// A treePrinter writes nodes; now is what ages are as of.
type treePrinter struct {
	io.Writer
	namespace string
	now       time.Time
}

// printBranches writes objects and, below each, those that it owns. lead is what every line begins
// with.
func (p *treePrinter) printBranches(nodes []*tree.Node, lead string) {
	for i, n := range nodes {
		fork, next := "├─ ", "│  "
		if i == len(nodes)-1 {
			fork, next = "└─ ", "   "
		}
		fmt.Fprintln(p, lead+fork+p.formatLine(n))
		p.printBranches(n.Owns, lead+next)
	}
}

// formatLine returns the line of one object. It has the namespace where that is not the resource's.
func (p *treePrinter) formatLine(n *tree.Node) string {
	name := n.Name
	if n.Namespace != p.namespace && n.Namespace != "" {
		name = n.Namespace + "/" + name
	}
	parts := []string{marks[n.Verdict] + n.Kind + " " + name}
	if n.File != "" {
		parts = append(parts, n.File+".yaml")
	}
	if n.Patched {
		parts = append(parts, "(patched)")
	}
	parts = append(parts, formatAge(n.Created, p.now))
	if n.Message != "" {
		parts = append(parts, n.Message)
	}
	if len(n.Beside) > 0 {
		parts = append(parts, "added by others: "+plan.Brief(n.Beside))
	}
	return strings.Join(parts, "  ")
}

// formatAge returns how long ago something was, for people.
func formatAge(since, now time.Time) string { return duration.HumanDuration(now.Sub(since)) }
