package rollout

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzRecord: whatever stands in a CRD's annotation, its record can be told of,
// and is the same once it was written and read again. Where there are choices,
// they make it of the text's words.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", `{"revisions":["1-a"],"state":"Stopped","reason":"Deletes","message":"m","deletionNames":["x"],"deletionCount":3,"stop":"w","total":2,"began":"2026-01-02T03:04:05Z"}`,
		`{"notReady":2,"passed":["a/b","c"],"total":-1}`, `{"notReady":1}`, `{"allWaves":["NotReady"],"approved":"AAAA","state":"Running"}`,
	} {
		f.Add(text, []byte{})
	}
	f.Add("Stopped Deletes NotReady a/b AAAA", []byte("\x01\x00\x01\x01\x01\x02\x01\x03\x01\x02\x04\x01"))
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string, choices []byte) {
		if len(choices) > 0 {
			text = fuzzed.JSON(t, madeRecord(fuzzed.Choose(choices, text)))
		}
		r := ParseRecord(text)
		again := ParseRecord(r.String())
		if r.String() != again.String() || !r.EqualIgnoringProgress(again) {
			t.Fatalf("%q is read as %s, and that as %s", text, r, again)
		}
		if r.Text("webs.example.com") != again.Text("webs.example.com") || r.Why() != again.Why() || len(r.PassedNames()) != len(r.Passed) {
			t.Fatalf("%q is told in two ways", text)
		}
		if read, kept := parseApprovals(r.Approved, nil), parseApprovals(again.Approved, nil); len(read.keys) != len(kept.keys) {
			t.Fatalf("%q approves %d and %d", text, len(read.keys), len(kept.keys))
		}
		if r.String() != (Record{}).String() {
			parsed()
		}
	})
}

// madeRecord is a record whose fields are all known.
func madeRecord(c *fuzzed.Choices) map[string]any {
	r := map[string]any{}
	for _, field := range []string{"state", "reason", "message", "stop", "approved"} {
		c.Maybe(r, field, c.Word())
	}
	for _, field := range []string{"deletionNames", "passed", "allWaves"} {
		c.Maybe(r, field, c.Words())
	}
	for _, field := range []string{"deletionCount", "wave", "moved", "ready", "total", "notReady"} {
		c.Maybe(r, field, c.N(256)-9)
	}
	c.Maybe(r, "began", fmt.Sprintf("2026-01-02T03:04:%02dZ", c.N(60)))
	return r
}

// FuzzApproval: an approval is for the stop that it names, and for none else.
func FuzzApproval(f *testing.F) {
	for _, text := range []string{"", "d/NotReady", "d/NotReady all-waves", "d/Deletes/w", " all-waves", "a b c", "d/NotReady all-waves ",
		"d/Deletes/w only a/b c/d"} {
		f.Add(text)
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		a := ParseApproval(text)
		if a.Stop == "" {
			return
		}
		parsed()
		if again := ParseApproval(a.String()); !reflect.DeepEqual(again, a) || strings.Join(strings.Fields(text), " ") != a.String() {
			t.Fatalf("%q is read as %q", text, a)
		}
	})
}
