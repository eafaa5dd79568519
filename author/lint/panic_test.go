package lint

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestPanicOfOneKind: a kind whose check panics has a finding that says so, and
// the process goes on.
func TestPanicOfOneKind(t *testing.T) {
	c := &catalog.Catalog{Kinds: map[string]*kind.Kind{"things.example.com": {}}} // whoever follows it panics
	found := Check(t.Context(), c, "things.example.com")
	if len(found) != 1 || !strings.Contains(found[0].Text, "checking things.example.com: panic: ") {
		t.Errorf("found %v", found)
	}
}
