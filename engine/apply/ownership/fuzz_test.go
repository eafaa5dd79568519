package ownership_test

import (
	"bytes"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzManagedFields: whatever stands in managedFields, what an entry covers is
// not missing and what it does not is, nothing is changed by looking, and what
// is given to another entry can be read again.
func FuzzManagedFields(f *testing.F) {
	for _, fields := range []string{
		`{}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`, `{"f:spec":{".":{},"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}`,
		`{"f:spec":{"f:list":{"v:\"x\"":{},"i:0":{}}}}`, `{"f:":{}}`, `{"x":{}}`, `[`,
	} {
		for _, object := range []string{`{}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"ports":[{"port":80},{"port":81}],"list":["x",1],"m":{}}}`, `{"spec":null,"":{"a":[]}}`} {
			f.Add(fields, object, `{"f:spec":{}}`)
		}
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, fields, object, others string) {
		var desired map[string]any
		if json.Unmarshal([]byte(object), &desired) != nil || !json.Valid([]byte(fields)) || !json.Valid([]byte(others)) {
			return
		}
		managed := []metav1.ManagedFieldsEntry{
			entry(them, "Update", "", others), entry(us, "Apply", "", fields), entry("before-first-apply", "Update", "", fields),
		}
		e, ok, err := ownership.Ours(managed, us)
		if err != nil {
			return
		}
		if !ok {
			t.Fatal("our entry is not found")
		}
		parsed()
		before, _ := json.Marshal(desired)
		missing := e.Missing(desired)
		if gone := (ownership.Entry{}).Missing(desired); len(missing) > len(gone) && len(desired) > 0 && len(gone) == 0 {
			t.Fatalf("%s misses %q of %s, and nothing misses none", fields, missing, object)
		}
		e.Extra(desired)
		e.Takers(desired)
		e.Owns("metadata", "labels", "a")
		e.Reaches("spec")
		_, _ = ownership.Owners(managed) // what is another's may be no list of fields
		if ownership.CoOwner(managed, us) != 2 {
			t.Fatal("the entry beside ours is not found")
		}
		rest, err := e.Rest(managed[2])
		if err != nil {
			t.Fatal(err)
		}
		left, ok, err := ownership.Ours([]metav1.ManagedFieldsEntry{{Manager: us, Operation: "Apply", FieldsV1: rest}}, us)
		if err != nil || !ok || !left.Fields.Empty() {
			t.Fatalf("beside its own fields %s has %s left (%v)", fields, rest.GetRawBytes(), err)
		}
		if after, _ := json.Marshal(desired); !bytes.Equal(before, after) {
			t.Fatalf("%s became %s", before, after)
		}
		checkHash(t, desired)
	})
}

// checkHash: the hash of an object is that of what JSON makes of it.
func checkHash(t *testing.T, o map[string]any) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	one, err := ownership.Hash(o)
	other, err2 := ownership.Hash(again)
	if err != nil || err2 != nil || one != other {
		t.Fatalf("%s has the hashes %s and %s (%v, %v)", text, one, other, err, err2)
	}
	if d := ownership.Differences(o, again); len(d) > 0 {
		t.Fatalf("%s differs from itself: %v", text, d)
	}
}
