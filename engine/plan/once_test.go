package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestWithSucceeded: the record of Jobs that have succeeded is bounded, keeps what
// is rendered now, and takes up no text that is no hash.
func TestWithSucceeded(t *testing.T) {
	hash := func(n int) string { return fmt.Sprintf("v1:%064x", n) }
	record := ""
	for n := range 300 {
		now := []succeededJob{{fmt.Sprint("migrate-", n), hash(n)}, {"forged", "x,migrate-999=" + hash(999)}}
		record = withSucceeded(record, now, func(name string) bool { return name == "migrate-7" })
	}
	all := parseSucceeded(record)
	if len(all) != maxSucceeded {
		t.Errorf("%d are on record, want %d", len(all), maxSucceeded)
	}
	for name, want := range map[string]bool{"migrate-7": true, "migrate-8": false, "migrate-299": true, "migrate-999": false, "forged": false} {
		if got := strings.Contains(record, name+"="); got != want {
			t.Errorf("%s is on record: %v, want %v", name, got, want)
		}
	}
	if again := withSucceeded(record, []succeededJob{{"migrate-299", hash(300)}}, func(string) bool { return true }); !strings.HasSuffix(again,
		"migrate-299="+hash(300)) || strings.Contains(again, hash(299)) {
		t.Errorf("another content is recorded as %s", again)
	}
}
