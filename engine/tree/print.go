package tree

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Print writes the tree as text; ages are as of now.
func (t *Tree) Print(w io.Writer, now time.Time) {
	fmt.Fprintf(w, "%s %s  %s\n", t.Kind, strings.TrimPrefix(t.Namespace+"/"+t.Name, "/"), age(t.Created, now))
	if t.Deleting {
		fmt.Fprintln(w, "  is being deleted")
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
	branches(w, t.Children, "", t.Namespace, now)
	for _, note := range t.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

func branches(w io.Writer, nodes []*Node, lead, namespace string, now time.Time) {
	for i, n := range nodes {
		fork, next := "├─ ", "│  "
		if i == len(nodes)-1 {
			fork, next = "└─ ", "   "
		}
		fmt.Fprintln(w, lead+fork+n.line(namespace, now))
		branches(w, n.Owns, lead+next, namespace, now)
	}
}

// line is one object; its namespace is said where it is not the resource's.
func (n *Node) line(namespace string, now time.Time) string {
	mark, name := "✓", n.Name
	if !n.Ready {
		mark = "✗"
	}
	if n.Namespace != namespace && n.Namespace != "" {
		name = n.Namespace + "/" + name
	}
	parts := []string{mark + " " + n.Kind + " " + name}
	if n.File != "" {
		parts = append(parts, n.File+".yaml")
	}
	if n.Patched {
		parts = append(parts, "(patched)")
	}
	parts = append(parts, age(n.Created, now))
	if n.Message != "" {
		parts = append(parts, n.Message)
	}
	return strings.Join(parts, "  ")
}

func age(since, now time.Time) string { return duration.HumanDuration(now.Sub(since)) }
