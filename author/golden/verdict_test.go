package golden

import (
	"errors"
	"testing"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// TestWantedError: each line that want-error.txt wants must be in what is said.
func TestWantedError(t *testing.T) {
	const wants = catalog.FileWantError
	said := []string{"app.yaml:3:1: no image", "app.yaml:4:1: no port"}
	for name, c := range map[string]struct {
		wanted string
		finds  bool
	}{
		"all":                {"no image\nno port\n", false},
		"some":               {"no port\n", false},
		"not the first line": {"no name\nno port\n", true},
		"not the last line":  {"no image\nno name\n", true},
		"nothing":            {"\n", true},
	} {
		v, err := Judge(&catalog.Case{Wants: map[string]string{wants: c.wanted}}, &catalog.Outcome{Err: errors.New("it fails")}, said)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.Findings) > 0; got != c.finds {
			t.Errorf("%s: finds %v, want %v: %v", name, got, c.finds, v.Findings)
		}
		if c.finds && (len(v.Writes) != 1 || v.Writes[0].Text != "no image\nno port\n") {
			t.Errorf("%s: an update would write %v", name, v.Writes)
		}
	}
}
