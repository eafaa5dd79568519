package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadJSON: JSON is read as JSON, with the escapes that YAML lacks, and keeps its places.
func TestReadJSON(t *testing.T) {
	text := "{\n\t\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n\t\"metadata\": {\"annotations\": {\"a\\/b\": \"https:\\/\\/x\\/\", \"face\": \"\\ud83d\\ude00\\u00e9\\\"\\\\\", \"half\": \"\\ud83d\", \"last\": null}}}\n" +
		"{\"apiVersion\": \"v1\", \"kind\": \"Node\"} {\"apiVersion\": \"v1\", \"kind\": \"Secret\"}\n"
	f, err := Read("x.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Objects) != 3 {
		t.Fatalf("%d objects, want 3", len(f.Objects))
	}
	want := map[string]any{"a/b": "https://x/", "face": "\U0001F600é\"\\", "half": "\uFFFD", "last": nil}
	if diff := cmp.Diff(want, f.Objects[0].Object["metadata"].(map[string]any)["annotations"]); diff != "" {
		t.Error(diff)
	}
	if got := f.Objects[0].Place("metadata.annotations.last"); got != "x.json:3:108" {
		t.Errorf("the last key is at %s", got)
	}
	if got := f.Objects[2].Place(""); got != "x.json:4:38" {
		t.Errorf("the third object is at %s", got)
	}
}
