package heartbeat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestRoundTrip: what is written is read.
func TestRoundTrip(t *testing.T) {
	r := Report{Version: Format, Program: "v1.2.3", Identity: "jacquard/jacquard", Pod: "jacquard-0", Since: time.Unix(1, 0).UTC(),
		Kinds: []Kind{{Name: "webs.example.com", State: verdict.FolderInvalid, Message: "no", Folder: "root 1", Unused: []string{"root 2"}}}}
	got, err := Read(r.String())
	if diff := cmp.Diff(&r, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestBounds: a report of any size fits, and says what was cut.
func TestBounds(t *testing.T) {
	for _, kinds := range []int{10, 100, 1000, 5000} {
		var r Report
		for i := range kinds {
			r.Kinds = append(r.Kinds, Kind{Name: fmt.Sprintf("kind%d.example.com", i), Folder: "root /kinds", State: verdict.FolderInvalid,
				Message: strings.Repeat("é", 1500)})
		}
		text := r.String()
		got, err := Read(text)
		if err != nil || len(text) > most {
			t.Fatalf("%d kinds: %d bytes, %v", kinds, len(text), err)
		}
		if len(got.Kinds)+got.Cut != kinds || len(r.Kinds) != kinds || kinds == 10 && got.Cut != 0 {
			t.Errorf("%d kinds: %d left and %d cut", kinds, len(got.Kinds), got.Cut)
		}
	}
}

// TestUnknown: another form is refused.
func TestUnknown(t *testing.T) {
	for text, part := range map[string]string{"": "none yet", "{": "unexpected end", `{"version":"v2"}`: `version "v2"`} {
		if _, err := Read(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
