package helmcompat

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fewest keeps a mislaid file of testdata from going unnoticed.
const fewest = 500

// TestFragments renders every fragment with both engines.
func TestFragments(t *testing.T) {
	differences := loadDifferences(t)
	fragments := loadFragments(t)
	if len(fragments) < fewest {
		t.Fatalf("testdata holds %d fragments, want at least %d", len(fragments), fewest)
	}
	for _, f := range fragments {
		d, differs := differences[f.name]
		delete(differences, f.name)
		t.Run(f.name, func(t *testing.T) {
			helms, helmErr := renderHelm(f)
			ours, ourErr := renderOurs(f)
			if differs {
				checkDifference(t, d, ours, ourErr)
				if helmErr == nil && ourErr == nil && cmp.Equal(helms, ours) {
					t.Errorf("Helm makes the same of it: remove the entry from differences.yaml")
				}
				return
			}
			if err := errors.Join(helmErr, ourErr); err != nil {
				t.Fatalf("rendering\n%s\n: %v", f.template, err)
			}
			if diff := cmp.Diff(helms, ours); diff != "" {
				t.Errorf("rendering\n%s\n(-Helm +ours):\n%s", f.template, diff)
			}
		})
	}
	for name := range differences {
		t.Errorf("differences.yaml names a fragment %s that does not exist", name)
	}
}

// checkDifference compares what ours makes with what differences.yaml says.
func checkDifference(t *testing.T, d difference, ours []any, err error) {
	t.Helper()
	if d.Reason == "" {
		t.Error("differences.yaml gives no reason")
	}
	if d.Error != "" {
		if err == nil || !strings.Contains(err.Error(), d.Error) {
			t.Errorf("got %v and error %v, want an error with %q", ours, err, d.Error)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := documents(d.Want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
