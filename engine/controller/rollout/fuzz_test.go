package rollout

import (
	"reflect"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzRecord: whatever stands in a CRD's annotation, its record can be told of,
// and is the same once it was written and read again.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", `{"digest":"a","state":"Stopped","reason":"Deletes","message":"m","deletes":["x"],"deleted":3,"wanted":"w","of":2,"began":"2026-01-02T03:04:05Z"}`,
		`{"notReady":2,"forced":["a/b","c"],"of":-1}`, `{"notReady":1}`, `{"approved":["NotReady"],"approvedSet":"AAAA","state":"Running"}`,
	} {
		f.Add(text)
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := Read(text)
		again := Read(r.String())
		if r.String() != again.String() || !r.Same(again) {
			t.Fatalf("%q is read as %s, and that as %s", text, r, again)
		}
		if r.Text("webs.example.com") != again.Text("webs.example.com") || r.Why() != again.Why() || len(r.ForcedNames()) != len(r.Forced) {
			t.Fatalf("%q is told in two ways", text)
		}
		if read, set := readSet(r.Set), readSet(again.Set); len(read) != len(set) {
			t.Fatalf("%q approves %d and %d", text, len(read), len(set))
		}
		if r.String() != (Record{}).String() {
			parsed()
		}
	})
}

// FuzzApproval: an approval is for the stop that it names, and for none else.
func FuzzApproval(f *testing.F) {
	for _, text := range []string{"", "d/NotReady", "d/NotReady all-waves", "d/Deletes/w", " all-waves", "a b c", "d/NotReady all-waves ", "d/Deletes/w only a/b c/d"} {
		f.Add(text)
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		a := ReadApproval(text)
		if a.Stop == "" {
			return
		}
		parsed()
		if again := ReadApproval(a.String()); !reflect.DeepEqual(again, a) || strings.Join(strings.Fields(text), " ") != a.String() {
			t.Fatalf("%q is read as %q", text, a)
		}
	})
}
