package kind

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzSettings: kind.yaml is read the same each time, an error of it has a
// place, and a folder with it compiles or is refused.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"", "apiVersion: jacquard.dev/v1\nkind: Kind\n", "version: v1\nchildren: [{apiVersion: v1, kind: Secret, namespaces: rendered}]\n",
		"reads:\n- {apiVersion: v1, kind: Secret, namespaces: [a], names: [b]}\n", "rollout: {waves: [\"1\", 5%], progressDeadline: 10m}\nresyncInterval: 1h\n",
		"retired: [{apiVersion: v1, kind: Pod, ownership: patch, subresource: status}, {apiVersion: v1, kind: ConfigMap, namespaces: [a]}]\n",
		"deleteOrder: [x]\nserviceAccountName: a\nallowEmpty: true\n", "resyncInterval: -1s", "rollout: {waves: [0, 200%]}", "a: &a [*a]", "children: {}", "? [a]\n: b",
		"resyncInterval: 90m\n", "allowEmpty: false", "{allowEmpty: true}", "rollout:\n  waves: [2, \"10%\"]\n", "rollout: {progressDeadline: 45s}\n", "serviceAccountName: web-1\n",
		"retired:\n- {apiVersion: batch/v1, kind: Job}\n", "retired: [{apiVersion: v1, kind: Pod}]\nresyncInterval: 3h", "version: v1\nrollout: {waves: [1]}\nallowEmpty: true\n",
	} {
		f.Add(text)
	}
	crd, err := schema.Parse("crd.yaml", []byte(definition))
	if err != nil {
		f.Fatal(err)
	}
	read := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		file := &folder.File{Name: "kind.yaml", Shown: "kind.yaml", Data: []byte(text)}
		one, places, err := readSettings(file)
		other, _, err2 := readSettings(file)
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(one, other) {
			t.Fatalf("%q is read in two ways", text)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without text")
			}
			return
		}
		read()
		for path, place := range places {
			if place.Line < 1 || place.Column < 1 {
				t.Fatalf("%q stands at %v of %q", path, place, text)
			}
		}
		if _, err := json.Marshal(one); err != nil {
			t.Fatal(err)
		}
		in, err := folder.FromMap(crd.Name, "", map[string][]byte{"kind.yaml": []byte(text), "x.yaml": []byte(head)})
		if err != nil {
			t.Fatal(err)
		}
		k, err := Compile(in, crd)
		again, err2 := Compile(in, crd)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() || err == nil && k.Digest != again.Digest {
			t.Fatalf("%q compiles in two ways: %v, %v", text, err, err2)
		}
	})
}

// FuzzConfig: settings are values of JSON, read the same each time and again
// from what they are written as.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "apps.example.com: {a: 1, b: [x, {c: null}]}\n", "apps.example.com:\n  a: 1e400\n", "x: 1", "apps.example.com: {1: 2}", "apps.example.com: {a: .nan}", "a: {b: &x y, c: *x}", "apps.example.com: {a: 2024-01-01, b: 0o7, c: !!binary aGk=}"} {
		f.Add(text)
	}
	read := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadConfig("config", []byte(text))
		again, err2 := ReadConfig("config", []byte(text))
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(c, again) {
			t.Fatalf("%q is read in two ways", text)
		}
		if err != nil {
			return
		}
		read()
		written, err := json.Marshal(c.values)
		if err != nil {
			t.Fatalf("%q holds what JSON has not: %v", text, err)
		}
		copied, err := ReadConfig("config", written)
		if err != nil {
			t.Fatalf("%s of %q cannot be read: %v", written, text, err)
		}
		if rewritten, err := json.Marshal(copied.values); err != nil || string(rewritten) != string(written) {
			t.Fatalf("%q is read as %s and that as %s (%v)", text, written, rewritten, err)
		}
		_ = c.Check([]string{"apps.example.com"})
	})
}
