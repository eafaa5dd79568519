package laws

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/test/docs"
)

// TestGeneratedDocs: the generated parts of the documents are what make docs writes.
func TestGeneratedDocs(t *testing.T) {
	pages, err := docs.Pages(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if diff := cmp.Diff(page.Old, page.Want); diff != "" {
			t.Errorf("%s is stale: run make docs (-is +wanted)\n%s", page.Path, diff)
		}
	}
}
