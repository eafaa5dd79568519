//go:build !operator

package cli

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/diff"
)

// TestPrintUnready: diff names the resources that become not ready although none of their
// children changes, and counts them.
func TestPrintUnready(t *testing.T) {
	const why = "Database a/x: it reports Ready=False"
	healthy := &diff.Resource{Kind: "webs.example.com", Called: "Web a/y", Namespace: "a", Name: "y", Counts: diff.Counts{diff.Kept: 2}}
	unready := &diff.Resource{Kind: "webs.example.com", Called: "Web a/x", Namespace: "a", Name: "x", Counts: diff.Counts{diff.Kept: 2}, Unready: []string{why}}
	if got := unready.Outcome(); got != diff.Changes {
		t.Errorf("the outcome is %v, want %v", got, diff.Changes)
	}
	impact := &diff.Impact{Kind: "webs.example.com", Resources: []*diff.Resource{healthy, unready}, Counts: diff.Counts{diff.Kept: 4}, Unready: 1}
	const line = "Web a/x (webs.example.com): children: 2 kept; it becomes not ready\n  not ready   " + why + "\n"
	for name, c := range map[string]struct {
		print func(*strings.Builder)
		want  string
	}{
		"one resource": {func(b *strings.Builder) { printDiff(b, unready, false) }, line},
		"all": {func(b *strings.Builder) { printImpact(b, impact, false) },
			line + "webs.example.com: 1 of 2 resources; 4 kept\n  --full shows the differences of each\n  1 resource becomes not ready\n"},
		"several": {func(b *strings.Builder) { b.WriteString(unreadySummary(12)) }, "12 resources become not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if c.print(&b); b.String() != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", b.String(), c.want)
			}
		})
	}
	var b strings.Builder
	o := &diffOptions{impacts: []*diff.Impact{impact}, outcome: diff.Changes}
	if err := o.formatMarkdown().write(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"**1 resource becomes not ready.**", "It becomes not ready:", why} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the comment does not have %q:\n%s", part, b.String())
		}
	}
}
