package kind

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzSettings: kind.yaml is read the same each time, an error of it has a
// place, and a folder with it compiles or is refused. Where there are choices,
// they make it of the text's words.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"", "apiVersion: jacquard.dev/v1\nkind: Kind\n", "version: v1\nchildren: [{apiVersion: v1, kind: Secret, namespaces: rendered}]\n",
		"reads:\n- {apiVersion: v1, kind: Secret, namespaces: [a], names: [b]}\n",
		"rollout: {waves: [\"1\", 5%], progressDeadline: 10m}\nresyncInterval: 1h\n",
		"retired: [{apiVersion: v1, kind: Pod, ownership: patch, subresource: status}, {apiVersion: v1, kind: ConfigMap, namespaces: [a]}]\n",
		"deletionOrder: [x]\nserviceAccountName: a\nallowEmpty: true\n", "resyncInterval: -1s", "rollout: {waves: [0, 200%]}", "a: &a [*a]",
		"children: {}", "? [a]\n: b",
		"resyncInterval: 90m\n", "allowEmpty: false", "{allowEmpty: true}", "rollout:\n  waves: [2, \"10%\"]\n",
		"rollout: {progressDeadline: 45s}\n", "serviceAccountName: web-1\n",
		"retired:\n- {apiVersion: batch/v1, kind: Job}\n", "retired: [{apiVersion: v1, kind: Pod}]\nresyncInterval: 3h",
		"version: v1\nrollout: {waves: [1]}\nallowEmpty: true\n",
	} {
		f.Add(text, []byte{})
	}
	for _, choices := range []string{"\x01\x01\x02\x01\x01\x01\x00\x02", "\x00\x01\x01\x00\x01\x02\x01\x01\x03",
		"\x01\x00\x01\x01\x01\x02\x03\x01\x01\x00\x01"} {
		f.Add("v1 Secret Pod apps/v1 a 5% 10m 90s x", []byte(choices))
	}
	crd, err := crdfile.Parse("crd.yaml", []byte(definition))
	if err != nil {
		f.Fatal(err)
	}
	read := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string, choices []byte) {
		if len(choices) > 0 {
			text = fuzzed.JSON(t, madeSettings(fuzzed.Choose(choices, text)))
		}
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
		if strings.TrimSpace(text) == "" { // no folder holds an empty file
			return
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

// madeSettings is a kind.yaml whose fields are all known.
func madeSettings(c *fuzzed.Choices) map[string]any {
	rules := func(more func(rule map[string]any)) []any {
		list := []any{}
		for range c.N(3) {
			rule := map[string]any{"apiVersion": c.Word(), "kind": c.Word()}
			more(rule)
			list = append(list, rule)
		}
		return list
	}
	namespaces := func(rule map[string]any) {
		c.Maybe(rule, "namespaces", []any{"own", "rendered", c.Words()}[c.N(3)])
	}
	s := map[string]any{}
	c.Maybe(s, "children", rules(namespaces))
	c.Maybe(s, "reads", rules(func(rule map[string]any) {
		c.Maybe(rule, "namespaces", c.Words())
		c.Maybe(rule, "names", c.Words())
	}))
	c.Maybe(s, "retired", rules(func(rule map[string]any) {
		namespaces(rule)
		c.Maybe(rule, "ownership", "patch")
		c.Maybe(rule, "subresource", c.Word())
	}))
	c.Maybe(s, "rollout", map[string]any{"waves": []any{c.N(9), fmt.Sprintf("%d%%", c.N(101))},
		"progressDeadline": fmt.Sprintf("%ds", c.N(256))})
	for _, field := range []string{"version", "serviceAccountName"} {
		c.Maybe(s, field, c.Word())
	}
	c.Maybe(s, "deletionOrder", c.Words())
	c.Maybe(s, "allowEmpty", c.N(2) == 1)
	c.Maybe(s, "resyncInterval", fmt.Sprintf("%dm", c.N(256)-9))
	return s
}

// FuzzConfig: settings are values of JSON, read the same each time and again
// from what they are written as. Where there are choices, they make them of the
// text's words.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "apps.example.com: {a: 1, b: [x, {c: null}]}\n", "apps.example.com:\n  a: 1e400\n", "x: 1",
		"apps.example.com: {1: 2}", "apps.example.com: {a: .nan}", "a: {b: &x y, c: *x}",
		"apps.example.com: {a: 2024-01-01, b: 0o7, c: !!binary aGk=}"} {
		f.Add(text, []byte{})
	}
	f.Add("apps.example.com a b c", []byte("\x02\x00\x03\x01\x05\x02\x01\x06\x01\x02\x00\x01"))
	read := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, text string, choices []byte) {
		if len(choices) > 0 {
			c, kinds := fuzzed.Choose(choices, text), map[string]any{}
			for range c.N(4) {
				kinds[c.Word()] = c.Map(3)
			}
			text = fuzzed.JSON(t, kinds)
		}
		c, err := ReadConfig("config", []byte(text))
		again, err2 := ReadConfig("config", []byte(text))
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(c, again) {
			t.Fatalf("%q is read in two ways", text)
		}
		if err != nil {
			return
		}
		read()
		written, err := json.Marshal(settingsByKind(c))
		if err != nil {
			t.Fatalf("%q holds what JSON has not: %v", text, err)
		}
		copied, err := ReadConfig("config", written)
		if err != nil {
			t.Fatalf("%s of %q cannot be read: %v", written, text, err)
		}
		if rewritten, err := json.Marshal(settingsByKind(copied)); err != nil || string(rewritten) != string(written) {
			t.Fatalf("%q is read as %s and that as %s (%v)", text, written, rewritten, err)
		}
		_ = c.Check([]string{"apps.example.com"})
	})
}

// settingsByKind returns the settings of a file by kind and key.
func settingsByKind(c *Config) map[string]map[string]any {
	all := map[string]map[string]any{}
	for name, o := range c.kinds {
		all[name] = o.values
	}
	return all
}
