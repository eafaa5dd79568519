package ownership_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzManagedFields: whatever stands in managedFields, what an entry covers is
// not missing and what it does not is, nothing is changed by looking, and what
// is given to another entry can be read again. Where there are choices, they
// make the entries and the object of the words of the texts.
func FuzzManagedFields(f *testing.F) {
	for _, fields := range []string{
		`{}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`, `{"f:spec":{".":{},"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}`,
		`{"f:spec":{"f:list":{"v:\"x\"":{},"i:0":{}}}}`, `{"f:":{}}`, `{"x":{}}`, `[`,
	} {
		for _, object := range []string{`{}`,
			`{"metadata":{"labels":{"a":"b"}},"spec":{"ports":[{"port":80},{"port":81}],"list":["x",1],"m":{}}}`, `{"spec":null,"":{"a":[]}}`} {
			f.Add(fields, object, `{"f:spec":{}}`, []byte{})
		}
	}
	for _, choices := range []string{"\x02\x01\x00\x03\x02\x01", "\x04\x01\x01\x03\x02\x00\x05\x03\x01\x02",
		"\x03\x00\x02\x03\x01\x02\x06\x02\x01"} {
		f.Add("metadata labels a", "spec b", "ports", []byte(choices))
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, fields, object, others string, choices []byte) {
		if len(choices) > 0 {
			c := fuzzed.Choose(choices, fields+" "+object+" "+others)
			fields, others = fuzzed.JSON(t, madeFields(c, 3)), fuzzed.JSON(t, madeFields(c, 2))
			object = fuzzed.JSON(t, c.Map(4))
		}
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
		nothing, _, err := ownership.Ours([]metav1.ManagedFieldsEntry{managed[0], entry(us, "Apply", "", "{}"), managed[2]}, us)
		if err != nil {
			t.Fatal(err)
		}
		missing, all := e.Missing(desired), nothing.Missing(desired)
		for _, path := range missing {
			if !slices.ContainsFunc(all, func(whole string) bool { return strings.HasPrefix(path, whole) }) {
				t.Fatalf("%s misses %q of %s, and nothing misses only %q", fields, path, object, all)
			}
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

// madeFields is a list of fields, as managedFields has it, with at most so many
// levels.
func madeFields(c *fuzzed.Choices, depth int) map[string]any {
	fields := map[string]any{}
	for range c.N(5) {
		key := "f:" + c.Word()
		switch c.N(8) {
		case 0:
			key = "."
		case 1:
			key = "i:" + strconv.Itoa(c.N(9))
		case 2:
			value, _ := json.Marshal(c.Value(1))
			key = "v:" + string(value)
		case 3:
			item, _ := json.Marshal(map[string]any{c.Word(): c.Value(0)})
			key = "k:" + string(item)
		}
		fields[key] = map[string]any{}
		if depth > 1 && key != "." {
			fields[key] = madeFields(c, depth-1)
		}
	}
	return fields
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
