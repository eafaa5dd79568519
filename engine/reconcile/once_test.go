package reconcile

import (
	"fmt"
	"strings"
	"testing"
)

// TestRecordDone: the record of Jobs that have succeeded is bounded, keeps what
// is rendered now, and takes up no text that is no hash.
func TestRecordDone(t *testing.T) {
	hash := func(n int) string { return fmt.Sprintf("v1:%064x", n) }
	record := ""
	for n := range 300 {
		now := []done{{fmt.Sprint("migrate-", n), hash(n)}, {"forged", "x,migrate-999=" + hash(999)}}
		record = recordDone(record, now, func(job string) bool { return job == "migrate-7" })
	}
	all := doneIn(record)
	if len(all) != mostDone {
		t.Errorf("%d are on record, want %d", len(all), mostDone)
	}
	for job, want := range map[string]bool{"migrate-7": true, "migrate-8": false, "migrate-299": true, "migrate-999": false, "forged": false} {
		if got := strings.Contains(record, job+"="); got != want {
			t.Errorf("%s is on record: %v, want %v", job, got, want)
		}
	}
	if again := recordDone(record, []done{{"migrate-299", hash(300)}}, func(string) bool { return true }); !strings.HasSuffix(again,
		"migrate-299="+hash(300)) || strings.Contains(again, hash(299)) {
		t.Errorf("another content is recorded as %s", again)
	}
}
