//go:build !operator

package cli

import (
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/admin/tree"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestTreeNamesForeignEntries: what others added to a child is named, and makes nothing
// unready.
func TestTreeNamesForeignEntries(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := &treePrinter{now: now, namespace: "default"}
	got := p.formatLine(&tree.Node{Kind: "Deployment", Namespace: "default", Name: "web", File: "web", Created: now.Add(-time.Minute), Ready: true, Meaning: verdict.Ready.Meaning(),
		Beside: []string{"spec.template.spec.containers[name=proxy] of kubectl-edit"}})
	const want = "✓ Deployment web  web.yaml  60s  added by others: spec.template.spec.containers[name=proxy] of kubectl-edit"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
