package kind

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfig(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "config.yaml": "image: a:1\nreplicas: 2\nlist: [1, a]\nmap: {a: {b: 1.5}}\nempty:\n"})
	want := map[string]any{"image": "a:1", "replicas": int64(2), "list": []any{int64(1), "a"},
		"map": map[string]any{"a": map[string]any{"b": 1.5}}, "empty": nil}
	if diff := cmp.Diff(want, k.Config); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"a-b: 1\n":          "config.yaml:1:1: a-b is no key of a setting: a letter, then letters, digits and _",
		"- a\n":             "config.yaml:1:1: it must be a map of settings by key",
		"a: 1\na: 2\n":      "config.yaml:2:1: a occurs twice: it stands at config.yaml:1:1 already",
		"a: {b: 1, b: 2}\n": "config.yaml:1:11: b occurs twice: it stands at config.yaml:1:5 already",
		"a: &x 1\nb: *x\n":  "config.yaml:1:4: anchors and aliases are not allowed: write the value where it is needed\nconfig.yaml:2:4: anchors and aliases are not allowed: write the value where it is needed",
		"a: [\n":            "config.yaml:1:1: did not find expected node content",
		"# nothing\n":       "",
	} {
		var lines []string
		if want != "" {
			lines = strings.Split(want, "\n")
		}
		refuses(t, map[string]string{"a.yaml": head, "config.yaml": text}, lines...)
	}
	refuses(t, map[string]string{"a.yaml": head + "data: {a: {{ config \"imgae\" }}}\n", "config.yaml": "image: a\n"},
		"a.yaml:5:14: {{ config \"imgae\" }}: config.yaml has no key \"imgae\"; did you mean image?")
}

func TestWithConfig(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "config.yaml": "image: a\nreplicas: 2\n"})
	with, err := k.withConfig(map[string]any{"image": "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"image": "b", "replicas": int64(2)}, with.Config); diff != "" {
		t.Error(diff)
	}
	if with.Digest == k.Digest || k.Config["image"] != "a" {
		t.Errorf("digests %s and %s, before it was %v", with.Digest, k.Digest, k.Config)
	}
	_, err = k.withConfig(map[string]any{"imgae": "b"})
	saysLines(t, err, "config of apps.example.com: there is no setting imgae; did you mean image?")
	bare := compile(t, map[string]string{"a.yaml": head})
	_, err = bare.withConfig(map[string]any{"image": "b"})
	saysLines(t, err, "config of apps.example.com: there is no setting image; its folder has no config.yaml")
}

func TestReadConfig(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "config.yaml": "image: a\n"})
	for text, want := range map[string]string{
		"apps.example.com: {image: b}\n":  "",
		"":                                "",
		"things.io: {image: b}\n":         "c.yaml:1:1: there is no kind things.io; there are apps.example.com",
		"aps.example.com: {image: b}\n":   "c.yaml:1:1: there is no kind aps.example.com; did you mean apps.example.com?",
		"apps.example.com:\n  imgae: b\n": "c.yaml:2:3: apps.example.com has no setting imgae; did you mean image?",
		"apps.example.com: [a]\n":         "c.yaml:1:19: it must be a map of settings by key",
		"- a\n":                           "c.yaml:1:1: it must be a map of kinds' names, such as apps.example.com, to their settings",
		"apps.example.com: {a: 1}\napps.example.com: {}\n": "c.yaml:2:1: apps.example.com occurs twice: it stands at c.yaml:1:1 already",
	} {
		c, err := ReadConfig("c.yaml", []byte(text))
		with := k
		if err == nil {
			err = c.Check([]string{k.Name})
		}
		if err == nil {
			with, err = c.Apply(k)
		}
		if want != "" {
			saysLines(t, err, want)
			continue
		}
		saysLines(t, err)
		if image := with.Config["image"]; text != "" && image != "b" {
			t.Errorf("image is %v", image)
		}
	}
}
