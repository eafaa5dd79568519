package diff

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHidden: no value of a Secret is in a diff, wherever it stands in it.
func TestHidden(t *testing.T) {
	const old, now = "old-password", "new-password"
	secret := func(data map[string]any, annotations map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": data, "stringData": map[string]any{"more": now},
			"metadata": map[string]any{"name": "s", "annotations": annotations, "labels": map[string]any{"copy": old}},
		}
	}
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	before := secret(map[string]any{"password": encoded(old), "same": encoded(old), "gone": encoded(old), "bytes": "////"},
		map[string]any{"kubectl.kubernetes.io/last-applied-configuration": `{"data":"` + encoded(old) + `"}`, "note": "it is " + old})
	after := secret(map[string]any{"password": encoded(now), "same": encoded(old), "new": encoded(now), "bytes": "AAAA"},
		map[string]any{"note": "it is " + encoded(now)})
	for name, pair := range map[string][2]map[string]any{"changed": {before, after}, "created": {nil, after}, "deleted": {before, nil}} {
		got, err := diffStates(pair[0], pair[1], false)
		if err != nil {
			t.Fatal(err)
		}
		for _, no := range []string{old, now, encoded(old), encoded(now), "////", "AAAA"} {
			if strings.Contains(got, no) {
				t.Errorf("%s: %q is shown:\n%s", name, no, got)
			}
		}
		if !strings.Contains(got, hidden) {
			t.Errorf("%s: nothing is hidden:\n%s", name, got)
		}
	}
	got, _ := diffStates(before, after, false)
	for _, want := range []string{"-  gone: (hidden)", "+  new: (hidden)", "-  password: " + hiddenBefore, "+  password: " + hiddenAfter,
		"   same: (hidden)"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

// TestControlCharacters: a value that YAML must escape is shown as such.
func TestControlCharacters(t *testing.T) {
	data := func(text string) map[string]any {
		return map[string]any{"data": map[string]any{"a": text, "merge": "<<"}}
	}
	got, err := diffStates(data("x\u0085"), data("x\u0092"), false)
	if want := "-  a: \"x\\N\"\n+  a: \"x\\x92\"\n   merge: \"<<\"\n"; err != nil || !strings.Contains(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestHiddenCopies: what tools keep of a whole Secret in an annotation, as JSON
// or packed, is not shown either.
func TestHiddenCopies(t *testing.T) {
	const key = "-----BEGIN KEY-----\nMIIE<\"x\">\n-----END KEY-----\n"
	copied, err := json.Marshal(map[string]any{"stringData": map[string]any{"key": key}})
	if err != nil {
		t.Fatal(err)
	}
	for name, note := range map[string]string{
		"json":   string(copied),
		"plain":  strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(copied)),
		"packed": "H4sIAAAAAAAA/6tWyk6tVLJSMjRSqgUAWs6RqQ0AAAA=",
	} {
		secret := map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"key": base64.StdEncoding.EncodeToString([]byte(key))},
			"metadata": map[string]any{"name": "s", "annotations": map[string]any{"note": note}},
		}
		got, err := diffStates(nil, secret, false)
		if err != nil || strings.Contains(got, "MIIE") || strings.Contains(got, "H4sI") {
			t.Errorf("%s: a copy of the Secret is shown: %v\n%s", name, err, got)
		}
	}
}

// TestBetween: only what says something else is a difference.
func TestBetween(t *testing.T) {
	live := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "1"}, "status": map[string]any{"x": "y"},
		"metadata": map[string]any{
			"name": "c", "uid": "u", "resourceVersion": "7", "generation": int64(2), "managedFields": []any{map[string]any{"manager": "jacquard"}},
			"annotations": map[string]any{"jacquard.dev/desired": "v1:aa", "jacquard.dev/owner": "webs.example.com/n/a",
				"jacquard.dev/written-by": "1-aa"},
		},
	}
	next := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "1"},
		"metadata": map[string]any{
			"name": "c", "uid": "u", "resourceVersion": "8",
			"annotations": map[string]any{"jacquard.dev/desired": "v1:bb", "jacquard.dev/owner": "webs.example.com/n/a"},
		},
	}
	if got, err := diffStates(live, next, false); got != "" || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	next["data"] = map[string]any{"a": "2"}
	got, err := diffStates(live, next, false)
	if err != nil || !strings.Contains(got, "-  a: \"1\"\n+  a: \"2\"\n") {
		t.Errorf("%v\n%s", err, got)
	}
	created, err := diffStates(nil, next, false)
	want := "--- live\n+++ planned\n@@ -0,0 +1,6 @@\n+apiVersion: v1\n+data:\n+  a: \"2\"\n+kind: ConfigMap\n+metadata:\n+  name: c\n"
	if d := cmp.Diff(want, created); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestCounts(t *testing.T) {
	for want, c := range map[string]Counts{
		"nothing":             {},
		"3 kept":              {Kept: 3},
		"1 created, 2 pruned": {Created: 1, Pruned: 2, Kept: 5},
	} {
		if got := c.String(); got != want {
			t.Errorf("%v: %q, want %q", map[Verb]int(c), got, want)
		}
	}
}

// TestTextMasks: a Secret is shown without its values, also where an annotation has them.
func TestTextMasks(t *testing.T) {
	got, err := Text(map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata":   map[string]any{"name": "a", "annotations": map[string]any{"tool": "password is hunter2"}},
		"data":       map[string]any{"password": "aHVudGVyMg=="},
		"stringData": map[string]any{"other": "swordfish"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"hunter2", "aHVudGVyMg", "swordfish"} {
		if strings.Contains(got, value) {
			t.Errorf("%s is shown:\n%s", value, got)
		}
	}
	if !strings.Contains(got, "password: (hidden)") {
		t.Error(got)
	}
}
